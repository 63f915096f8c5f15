"""Limits a worker's connections, those of one client address, and how long one may be silent.

A connection is unproven until a request on it had a valid key. At a limit the oldest unproven
connection is closed for the new one, so that silent connections lock no client out.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from gateway.http.address import ClientAddresses, client_network
from gateway.http.transport.head import HeadLimits

_TICK_S = 0.25  # by which a connection may be closed late


class Waiting(Protocol):
    """A connection that waits for the head of a request."""

    def end_late(self) -> None:
        """Close it, as the head has not arrived in time."""

    def abort(self) -> None:
        """Close it at once, in favour of another connection."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    head: HeadLimits
    headers_deadline_s: float
    send_deadline_s: float
    connections_max: int
    address_connections_max: int


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
        self._open: dict[Waiting, str] = {}
        self._unproven: dict[Waiting, None] = {}
        self._of_address: dict[str, dict[Waiting, None]] = {}
        self._waiting: dict[Waiting, float] = {}
        self._is_ticking = False

    def add(self, connection: Waiting, peer: str) -> bool:
        """Add the connection, perhaps in place of an unproven one; False if there is no room."""
        address = "" if self._addresses.is_trusted(peer) else client_network(peer)
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
        """Record that a request on the connection had a valid key."""
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
        """Start the deadline for the head of a request."""
        loop = asyncio.get_running_loop()
        self._waiting[connection] = loop.time() + self.limits.headers_deadline_s
        if not self._is_ticking:
            self._is_ticking = True
            loop.call_later(_TICK_S, self._tick, loop)

    def has_head(self, connection: Waiting) -> None:
        self._waiting.pop(connection, None)

    def _end_one(self, among: dict[Waiting, None]) -> bool:
        victim = next((candidate for candidate in among if candidate in self._unproven), None)
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
