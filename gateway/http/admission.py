"""How often each may ask, and how much a worker does at once: so that nobody starves the others."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cachetools import LRUCache

from cache.rate_limit import LocalTokens, RateLimiter
from gateway import problems
from index.tenants.principals import Principal

# Keys and subjects whose tokens are at hand; about 20 MB. Those that asked last are kept: a bucket
# that nobody has asked for while as many others came is full again, and may begin anew.
_KNOWN_MAX = 20_000


@dataclass(frozen=True, slots=True)
class RequestCounter:
    """What requests are counted by: the bucket of a `key` or a `tenant`."""

    name: str
    local_tokens: LocalTokens
    size: int
    per_s: float


Counters: TypeAlias = Sequence[RequestCounter]


class AdmissionControl:
    """Of one worker, but for the allowances, which all workers share.

    allowances: of each `key` and `tenant`, if they are limited.
    requests_max, tenant_requests_max: at once. body_bytes_max, tenant_body_bytes_max: of bodies
    that are held at once.
    """

    def __init__(
        self,
        allowances: Mapping[str, RateLimiter],
        *,
        requests_max: int,
        tenant_requests_max: int,
        body_bytes_max: int,
        tenant_body_bytes_max: int,
    ) -> None:
        self._allowances = allowances
        self._requests_max = requests_max
        self._tenant_requests_max = tenant_requests_max
        self._body_bytes_max = body_bytes_max
        self._tenant_body_bytes_max = tenant_body_bytes_max
        self._requests = self._body_bytes = 0
        self._body_bytes_of: dict[str, int] = {}
        self._of_tenant: dict[str, int] = {}
        self._counters: LRUCache[tuple[str, str], Counters] = LRUCache(_KNOWN_MAX)

    def begin(self, tenant: str) -> None:
        """One more request; a 503 `Problem` if there are too many, a 429 if of this tenant."""
        if self._requests >= self._requests_max:
            raise problems.overloaded()
        if tenant:
            already = self._of_tenant.get(tenant, 0)
            if already >= self._tenant_requests_max:
                raise problems.rate_limited("of the tenant's requests at once", 1)
            self._of_tenant[tenant] = already + 1
        self._requests += 1

    def end(self, tenant: str) -> None:
        self._requests -= 1
        if tenant:
            _take(self._of_tenant, tenant, 1)

    def hold(self, tenant: str, size_bytes: int) -> None:
        """So many more bytes of a body; a 503 `Problem` if there are too many, a 429 if of this
        tenant.
        """
        if self._body_bytes + size_bytes > self._body_bytes_max:
            raise problems.overloaded()
        held = self._body_bytes_of.get(tenant, 0) + size_bytes
        if held > self._tenant_body_bytes_max:
            raise problems.rate_limited("bytes of the tenant's bodies at once", 1)
        self._body_bytes += size_bytes
        self._body_bytes_of[tenant] = held

    def release(self, tenant: str, size_bytes: int) -> None:
        self._body_bytes -= size_bytes
        _take(self._body_bytes_of, tenant, size_bytes)

    def counters(self, principal: Principal) -> Counters:
        """What the principal's requests are counted by: one bucket, whatever it comes with."""
        # Tokens count for whom they act: else whoever makes many has many buckets.
        own = principal.key_id
        if own is None or principal.is_token:
            own = f"subject:{principal.subject}"
        known = self._counters.get((principal.tenant, own))
        return known or self._new_counters(principal.tenant, own)

    def spend_at_hand(self, counters: Counters) -> Counters:
        """A token of each bucket in turn, as far as this worker has them; returns the others."""
        for place, counter in enumerate(counters):
            if not counter.local_tokens.spend():
                return counters[place:]
        return ()

    async def spend(self, counters: Counters, times: int = 1) -> None:
        """A token of each bucket, so many times; a 429 `Problem` if one is empty.

        Of those after it none is spent: who asks too often takes nothing from others of its tenant.
        """
        for counter in counters:
            for _ in range(times):
                if not (counter.local_tokens.spend() or await counter.local_tokens.wait()):
                    wait_s = math.ceil(counter.local_tokens.wait_s)
                    raise problems.rate_limited(f"requests of this {counter.name}", wait_s)

    def ratelimit_header(self, counters: Counters) -> bytes:
        """RateLimit (draft-ietf-httpapi-ratelimit-headers-10) of whichever bucket is emptier."""
        fewest = math.inf
        for each in counters:
            left = each.local_tokens.tokens + each.local_tokens.left
            if left < fewest:
                fewest, emptier = left, each
        full_s = (emptier.size - fewest) / emptier.per_s
        return b'"%b";r=%d;t=%d' % (emptier.name.encode(), fewest, full_s + 1)

    def _new_counters(self, tenant: str, own: str) -> Counters:
        names = {"key": f"rate:{own}", "tenant": "rate"}
        made = tuple(
            RequestCounter(
                name,
                allowances.local_tokens(tenant, names[name]),
                allowances.rate.size,
                allowances.rate.per_s,
            )
            for name, allowances in self._allowances.items()
        )
        self._counters[tenant, own] = made
        return made


class Slot:
    """What one request holds of its worker: bytes of its body, then its place among others.

    tenant: of which it is; empty for none.
    """

    __slots__ = ("_body_bytes", "_has_begun", "_load", "tenant")

    def __init__(self, load: AdmissionControl) -> None:
        self._load = load
        self.tenant = ""
        self._body_bytes = 0
        self._has_begun = False

    def hold(self, size_bytes: int) -> None:
        self._load.hold(self.tenant, size_bytes)
        self._body_bytes += size_bytes

    def begin(self) -> None:
        self._load.begin(self.tenant)
        self._has_begun = True

    def end(self) -> None:
        if self._body_bytes:
            self._load.release(self.tenant, self._body_bytes)
        if self._has_begun:
            self._load.end(self.tenant)


def _take(counts: dict[str, int], tenant: str, amount: int) -> None:
    counts[tenant] -= amount
    if not counts[tenant]:
        del counts[tenant]
