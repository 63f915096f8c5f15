"""Resolves the name of a host to addresses that may be asked, within a time and a number.

The caller connects to these addresses and does not ask for the name again: an answer that changes
between the check and the connection (DNS rebinding) gains nothing.
"""

import queue
import socket
import threading
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any, TypeAlias

from common.shares.budget import FairBudget
from gateway.extensions._web.addresses import AddressPolicy
from gateway.extensions._web.errors import Unfetchable

# Starting values, not measured.
RESOLVE_S_MAX = 10.0
RESOLVED_MAX = 64  # addresses of a host that are checked; a host with more is refused
TRIED_MAX = 4
LOOKUPS_MAX = 16  # at once in a process: one that nobody waits for any more may still run
TENANT_LOOKUPS_MAX = 4

Lookup: TypeAlias = Callable[[str, int], list[Any]]


def system_lookup(host: str, port: int) -> list[Any]:
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)


class _LookupSlots:
    """Slots that threads wait for. The lookups of one tenant take `TENANT_LOOKUPS_MAX` at most."""

    def __init__(self) -> None:
        self._budget = FairBudget(total_max=LOOKUPS_MAX, tenant_max=TENANT_LOOKUPS_MAX)
        self._released = threading.Condition()

    def acquire(self, tenant: str, timeout_s: float) -> bool:
        """Take a slot, which `release` returns; False if there is none in time."""
        with self._released:
            return self._released.wait_for(lambda: not self._budget.take(tenant), timeout_s)

    def release(self, tenant: str) -> None:
        with self._released:
            self._budget.give_back(tenant)
            self._released.notify_all()


class Resolver:
    """tenant: that the lookups are for; empty for none.

    lookup: answers as `socket.getaddrinfo`, or raises `OSError`. seconds_max: of one lookup.
    """

    def __init__(
        self,
        policy: AddressPolicy,
        lookup: Lookup = system_lookup,
        *,
        tenant: str = "",
        seconds_max: float = RESOLVE_S_MAX,
    ) -> None:
        self._policy = policy
        self._lookup = lookup
        self.tenant = tenant
        self._seconds_max = seconds_max

    def resolve(self, host: str, port: int) -> list[str]:
        """The first addresses of a host, in the resolver's order.

        Raises `Unfetchable` if there are none, or if one of them may not be asked: a host that has
        public and other addresses is an attempt to reach the others.
        """
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in self._found(host, port)))
        if not addresses:
            raise Unfetchable(f"the host {host} has no address")
        if len(addresses) > RESOLVED_MAX:
            raise Unfetchable(f"the host {host} has more than {RESOLVED_MAX} addresses")
        for address in addresses:
            if "%" in address or not self._policy.allows(ip_address(address)):
                raise Unfetchable(
                    f"the host {host} has an address that is {self._refusal(address)}"
                )
        return addresses[:TRIED_MAX]

    def _refusal(self, address: str) -> str:
        is_public = "%" not in address and AddressPolicy().allows(ip_address(address))
        return "public: use https" if is_public else "not public"

    def _found(self, host: str, port: int) -> list[Any]:
        """The lookup runs in a thread of its own, because nothing can end it."""
        answers: queue.SimpleQueue[list[Any] | None] = queue.SimpleQueue()

        def look_up() -> None:
            try:
                answers.put(self._lookup(host, port))
            except (OSError, UnicodeError):
                answers.put(None)
            finally:
                _SLOTS.release(self.tenant)

        too_slow = Unfetchable(f"the address of the host {host} is not found in time")
        if not _SLOTS.acquire(self.tenant, self._seconds_max):
            raise too_slow
        threading.Thread(target=look_up, name="web-lookup", daemon=True).start()
        try:
            found = answers.get(timeout=self._seconds_max)
        except queue.Empty:
            raise too_slow from None
        return found or []


_SLOTS = _LookupSlots()
