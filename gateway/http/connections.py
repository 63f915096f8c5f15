"""A worker's connections: how many, how many of one client address, and how long one may be silent.

A connection is unproven until a request on it had a valid key. Where there are too many, the
oldest unproven one gives way, so that silent connections keep nobody out.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from gateway.http.address import ClientAddresses, counted
from gateway.http.head import HeadLimits

_TICK_S = 0.25  # how much later than it should a connection may be closed


class Waiting(Protocol):
    """A connection, as it is limited here."""

    def end_late(self) -> None:
        """Its head has not come in time."""

    def abort(self) -> None:
        """It gives way to another one."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    head: HeadLimits
    headers_deadline_s: float
    send_deadline_s: float
    connections_max: int
    address_connections_max: int


class Connections:
    """on_refusal: is told the status of each request that is refused before it is one."""

    def __init__(
        self,
        limits: ConnectionLimits,
        addresses: ClientAddresses,
        on_refusal: Callable[[int], None],
    ) -> None:
        self.limits = limits
        self.on_refusal = on_refusal
        self._addresses = addresses
        self._open: dict[Waiting, str] = {}
        self._unproven: dict[Waiting, None] = {}
        self._of_address: dict[str, dict[Waiting, None]] = {}
        self._waiting: dict[Waiting, float] = {}
        self._is_ticking = False

    def add(self, connection: Waiting, peer: str) -> bool:
        """Whether there is room for it, once another one has given way if one can."""
        address = "" if self._addresses.is_trusted(peer) else counted(peer)
        same = self._of_address.get(address, {})
        if address and len(same) >= self.limits.address_connections_max and not self._end_one(same):
            return False
        if len(self._open) >= self.limits.connections_max and not self._end_one(self._unproven):
            return False
        self._open[connection] = address
        self._unproven[connection] = None
        self._of_address.setdefault(address, {})[connection] = None
        return True

    def prove(self, connection: Waiting) -> None:
        """A request on it had a valid key."""
        self._unproven.pop(connection, None)

    def remove(self, connection: Waiting) -> None:
        self._waiting.pop(connection, None)
        self._unproven.pop(connection, None)
        address = self._open.pop(connection, None)
        if address is not None:
            same = self._of_address[address]
            del same[connection]
            if not same:
                del self._of_address[address]

    def wait_for_head(self, connection: Waiting) -> None:
        """From now on it has so long for the head of a request."""
        loop = asyncio.get_running_loop()
        self._waiting[connection] = loop.time() + self.limits.headers_deadline_s
        if not self._is_ticking:
            self._is_ticking = True
            loop.call_later(_TICK_S, self._tick, loop)

    def has_head(self, connection: Waiting) -> None:
        self._waiting.pop(connection, None)

    def _end_one(self, among: dict[Waiting, None]) -> bool:
        victim = next((each for each in among if each in self._unproven), None)
        if victim is None:
            return False
        self.remove(victim)
        victim.abort()
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
