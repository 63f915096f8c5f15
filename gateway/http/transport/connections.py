"""Limits a worker's connections, those of one client address, and how long one may be silent.

A connection is unproven until a request on it had a valid key; then it belongs to the tenant of the
last such key. At a limit a connection gives way to the new one:

1. the oldest unproven connection, if more than an eighth of the limit are unproven
2. of the tenant that has the most connections: one between two requests, those last that were used
   since they were considered before; else one that receives a body or whose client does not take
   its answer
3. the same of the tenant that has the next most, and so on
4. the oldest unproven connection

A connection whose request is being answered never gives way. Limits on the requests and streams of
a tenant bound their number. If no connection gives way, the new one gets a place in the
reserve, where only the probes of a balancer are answered.
"""

import asyncio
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from common.shares.cache import FairCache
from gateway.http.request.address import ClientAddresses, client_network

# Connections above the limit, for probes; the oldest of the address that has the most gives way.
RESERVE_MAX = 64
# Starting values, not measured.
HEAD_BYTES_MAX = 32_768  # also of the framing of a chunked body beyond a quarter of its bytes
HEADERS_DEADLINE_S = 10.0  # from their first byte or, on a new connection, from the start
SEND_DEADLINE_S = 30.0  # in which a client reads no byte of a response that waits
_UNPROVEN_PART = 8  # a starting value, not measured
_TICK_S = 0.25  # by which a connection may be closed late


class ClientConnection(Hashable, Protocol):
    @property
    def is_idle(self) -> bool:
        """Whether it is between two requests, and the client has taken the last answer."""

    @property
    def is_answering(self) -> bool:
        """Whether a request has arrived whole and its answer is not complete."""

    was_used: bool
    """By a request with a valid key, since the connection was considered to give way."""

    def end_late(self) -> None:
        """Close it, as the head has not arrived in time."""

    def abort(self) -> None:
        """Close it at once, in favour of another connection."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """unsent_bytes_max: of all answers that clients have not taken yet."""

    head_bytes_max: int
    headers_deadline_s: float
    send_deadline_s: float
    connections_max: int
    address_connections_max: int
    unsent_bytes_max: int


class _Group:
    """The connections under one limit."""

    def __init__(self, size_max: int) -> None:
        self._size_max = size_max
        self.unproven: dict[ClientConnection, None] = {}  # the oldest first
        self.proven: FairCache[ClientConnection, None] = FairCache(size_max)

    def __len__(self) -> int:
        return len(self.unproven) + len(self.proven)

    @property
    def is_full(self) -> bool:
        return len(self) >= self._size_max

    def giving_way(self) -> ClientConnection | None:
        """The connection that gives way to a new one; None if all requests are being answered."""
        oldest = next(iter(self.unproven), None)
        if len(self.unproven) > self._size_max // _UNPROVEN_PART:
            return oldest
        for connections in self.proven.by_tenant():
            waiting = (each for each in connections if not each.is_answering)
            victim = self._least_used(connections) or next(waiting, None)
            if victim is not None:
                return victim
        return oldest

    def _least_used(self, connections: Iterable[ClientConnection]) -> ClientConnection | None:
        """Of the idle ones the first that was not used, else the first: each has a second chance.

        So a request sets a flag, and nothing is sorted.
        """
        first = None
        for connection in list(connections):
            if connection.is_idle:
                if not connection.was_used:
                    return connection
                first = first or connection
                connection.was_used = False
                self.proven.get(connection)  # it is the last one now
        return first


@dataclass(slots=True)
class _Place:
    """The groups of a connection. tenant: of the last valid key; None if there was none.

    address: of the client; empty for a trusted proxy, which has no limit of its own.
    """

    groups: Sequence[_Group]
    address: str
    tenant: str | None = None


class Connections:
    """on_refusal: receives the status of each request that is refused before it is parsed."""

    def __init__(
        self,
        limits: ConnectionLimits,
        addresses: ClientAddresses,
        on_refusal: Callable[[int], None],
    ) -> None:
        self.limits = limits
        self.on_refusal = on_refusal
        self._addresses = addresses
        self._places: dict[ClientConnection, _Place] = {}
        self._all = _Group(limits.connections_max)
        self._of_address: dict[str, _Group] = {}
        self._reserve: FairCache[ClientConnection, None] = FairCache(RESERVE_MAX)
        self._unsent: FairCache[ClientConnection, int] = FairCache(
            limits.unsent_bytes_max, lambda size_bytes: size_bytes
        )
        self._waiting: dict[ClientConnection, float] = {}
        self._is_ticking = False

    def add(self, connection: ClientConnection, peer: str) -> bool:
        """Add the connection, perhaps in place of another; False if it is in the reserve."""
        address = "" if self._addresses.is_trusted(peer) else client_network(peer)
        groups = [self._all]
        if address:
            own = _Group(self.limits.address_connections_max)
            groups.insert(0, self._of_address.get(address, own))
        if not all(self._make_room(group) for group in groups):
            self._add_to_reserve(connection, address or peer)
            return False
        if address:  # its group may have become empty
            self._of_address[address] = groups[0]
        for group in groups:
            group.unproven[connection] = None
        self._places[connection] = _Place(groups, address)
        return True

    def prove(self, connection: ClientConnection, tenant: str) -> None:
        """Record that a request on the connection had a valid key of the tenant."""
        connection.was_used = True
        place = self._places.get(connection)
        if place is None or place.tenant == tenant:
            return
        for group in place.groups:
            group.unproven.pop(connection, None)
            group.proven.put(tenant, connection, None)
        place.tenant = tenant

    def remove(self, connection: ClientConnection) -> None:
        self._waiting.pop(connection, None)
        self._reserve.pop(connection)
        self._unsent.pop(connection)
        place = self._places.pop(connection, None)
        if place is None:
            return
        for group in place.groups:
            group.unproven.pop(connection, None)
            group.proven.pop(connection)
        if place.address and not place.groups[0]:
            del self._of_address[place.address]

    def hold_unsent(self, connection: ClientConnection, size_bytes: int) -> None:
        """Count the bytes of an answer that its client has not taken, until `release_unsent`.

        Beyond the limit, the longest waiting of the tenant that holds the most are closed.
        """
        place = self._places.get(connection)
        owner = "" if place is None else place.address if place.tenant is None else place.tenant
        for deaf in self._unsent.put(owner, connection, size_bytes):
            deaf.abort()

    def release_unsent(self, connection: ClientConnection) -> None:
        self._unsent.pop(connection)

    def wait_for_head(self, connection: ClientConnection) -> None:
        """Start the deadline for the head of a request."""
        loop = asyncio.get_running_loop()
        self._waiting[connection] = loop.time() + self.limits.headers_deadline_s
        if not self._is_ticking:
            self._is_ticking = True
            loop.call_later(_TICK_S, self._tick, loop)

    def has_head(self, connection: ClientConnection) -> None:
        self._waiting.pop(connection, None)

    def _add_to_reserve(self, connection: ClientConnection, address: str) -> None:
        if len(self._reserve) >= RESERVE_MAX:
            oldest = next(iter(next(self._reserve.by_tenant())))
            self._reserve.pop(oldest)
            oldest.abort()
        self._reserve.put(address, connection, None)

    def _make_room(self, group: _Group) -> bool:
        if not group.is_full:
            return True
        connection = group.giving_way()
        if connection is None:
            return False
        self.remove(connection)
        connection.abort()
        return True

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        now_s = loop.time()
        while self._waiting:
            connection, ends_s = next(iter(self._waiting.items()))  # the first ends first
            if ends_s > now_s:
                break
            del self._waiting[connection]
            connection.end_late()
        self._is_ticking = bool(self._waiting)
        if self._is_ticking:
            loop.call_later(_TICK_S, self._tick, loop)
