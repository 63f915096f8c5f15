"""Rate limits of keys and tenants, and the limits on a worker's concurrent requests and bodies."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cache.rate_limit import LocalTokens, RateLimiter
from common.shares.budget import FairBudget, Refusal
from common.shares.cache import FairCache
from common.shares.turns import FairTurns
from gateway.problems import problems
from index.tenants.principals import Principal

# Keys and subjects whose tokens a worker holds; about 20 MB. The least recently used of the
# tenant with the most is dropped: its bucket is full again by the time that so many others asked.
_CALLERS_MAX = 20_000


@dataclass(frozen=True, slots=True)
class RequestCounter:
    """A token bucket that counts requests. name: `key` or `tenant`."""

    name: str
    local_tokens: LocalTokens
    size: int
    per_s: float


Counters: TypeAlias = Sequence[RequestCounter]


class AdmissionControl:
    """The limits of one worker, and the rate limits, which all workers share.

    rate_limiters: of `key` and `tenant`, as far as they are limited.
    requests: answered at once. streams: of events, which last as long as their clients.
    body_bytes: of the bodies that are in memory, and of answers that wait for others.
    """

    def __init__(
        self,
        rate_limiters: Mapping[str, RateLimiter],
        *,
        requests: FairBudget,
        streams: FairBudget,
        body_bytes: FairBudget,
    ) -> None:
        self.turns = FairTurns()
        self._rate_limiters = rate_limiters
        self.requests = requests
        self.streams = streams
        self.body_bytes = body_bytes
        self._counters: FairCache[tuple[str, str], Counters] = FairCache(_CALLERS_MAX)

    def begin(self, tenant: str) -> None:
        """Count a request; a 503 `Problem` if there are too many, a 429 if of the tenant."""
        refusal = self.requests.take(tenant)
        if refusal is not None:
            raise _refused(refusal, "of the tenant's requests at once")

    def counters(self, principal: Principal) -> Counters:
        """The counters of the principal's requests."""
        # All tokens of a subject share its bucket, so that more tokens give no higher rate.
        name = principal.key_id
        if name is None or principal.is_token:
            name = f"subject:{principal.subject}"
        counters = self._counters.get((principal.tenant, name))
        return self._new_counters(principal.tenant, name) if counters is None else counters

    def spend_all_local(self, counters: Counters) -> bool:
        """Spend a local token of each bucket; none, and False, if a bucket has none."""
        for counter in counters:
            if not counter.local_tokens.has_token:
                return False
        for counter in counters:
            counter.local_tokens.spend()
        return True

    def spend_local(self, counters: Counters) -> Counters:
        """Spend local tokens of the buckets in turn; return the counters that have none."""
        for number, counter in enumerate(counters):
            if not counter.local_tokens.spend():
                return counters[number:]
        return ()

    def unspend_local(self, counters: Counters) -> None:
        """Put back what `spend_all_local` has spent."""
        for counter in counters:
            counter.local_tokens.unspend()

    async def spend(self, counters: Counters, times: int = 1) -> None:
        """Spend a token of each bucket, so many times; a 429 `Problem` if a bucket is empty.

        A key over its limit does not consume its tenant's quota.
        """
        for counter in counters:
            for _ in range(times):
                if not (counter.local_tokens.spend() or await counter.local_tokens.wait()):
                    wait_s = math.ceil(counter.local_tokens.wait_s)
                    raise problems.rate_limited(f"requests of this {counter.name}", wait_s)

    def ratelimit_header(self, counters: Counters) -> bytes:
        """The emptiest bucket as RateLimit (draft-ietf-httpapi-ratelimit-headers-10)."""
        fewest = math.inf
        for candidate in counters:
            tokens = candidate.local_tokens.tokens + candidate.local_tokens.left
            if tokens < fewest:
                fewest, counter = tokens, candidate
        full_s = (counter.size - fewest) / counter.per_s
        return b'"%b";r=%d;t=%d' % (counter.name.encode(), fewest, full_s + 1)

    def _new_counters(self, tenant: str, caller: str) -> Counters:
        buckets = {"key": f"rate:{caller}", "tenant": "rate"}
        counters = tuple(
            RequestCounter(
                name,
                limiter.local_tokens(tenant, buckets[name]),
                limiter.rate.size,
                limiter.rate.per_s,
            )
            for name, limiter in self._rate_limiters.items()
        )
        self._counters.put(tenant, (tenant, caller), counters)
        return counters


class Slot:
    """One request's share of its worker: its turns at the event loop, the bytes of its body, then a
    place among the concurrent requests or streams.

    tenant: of the caller; empty for none. Until it is known, that of the connection.
    client: the address at the other end of the connection.
    held_bytes: of the body, and of answers.
    """

    __slots__ = ("_admission", "_counted_by", "client", "held_bytes", "tenant", "turns")

    def __init__(self, admission: AdmissionControl, tenant: str, client: str) -> None:
        self._admission = admission
        self.turns = admission.turns
        self.tenant = tenant
        self.client = client
        self.held_bytes = 0
        self._counted_by: FairBudget | None = None

    def hold(self, size_bytes: int) -> None:
        """Count bytes of the body, or of an answer; raises as `begin`."""
        refusal = self._admission.body_bytes.take(self.tenant, size_bytes)
        if refusal is not None:
            raise _refused(refusal, "bytes of the tenant's bodies and answers at once")
        self.held_bytes += size_bytes

    def release(self, size_bytes: int) -> None:
        self._admission.body_bytes.give_back(self.tenant, size_bytes)
        self.held_bytes -= size_bytes

    def begin(self) -> None:
        """Count a request; a 503 `Problem` if there are too many, a 429 if of the tenant."""
        self._admission.begin(self.tenant)
        self._counted_by = self._admission.requests

    def begin_stream(self) -> None:
        """Count the request as a stream from now on; raises as `begin`."""
        refusal = self._admission.streams.take(self.tenant)
        if refusal is not None:
            raise _refused(refusal, "streams of the tenant at once")
        self.end()
        self._counted_by = self._admission.streams

    def end(self) -> None:
        """Release what is held; a second call releases nothing."""
        if self.held_bytes:
            self._admission.body_bytes.give_back(self.tenant, self.held_bytes)
            self.held_bytes = 0
        if self._counted_by is not None:
            self._counted_by.give_back(self.tenant)
            self._counted_by = None


def _refused(refusal: Refusal, subject: str) -> problems.Problem:
    return problems.overloaded() if refusal == "all" else problems.rate_limited(subject, 1)
