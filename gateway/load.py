"""How often each may ask, and how much a worker does at once: so that nobody starves the others."""

import math
from collections import Counter
from collections.abc import Mapping

from cache.allowances import Allowances, Hand
from gateway import problems
from index.principals import Principal

_KNOWN_MAX = 20_000  # callers whose tokens are at hand; about 20 MB

Hands = Mapping[str, Hand]  # by what they are counted for: `key`, `tenant`


class Load:
    """Of one worker, but for the allowances, which all workers share.

    allowances: of each `key` and `tenant`, if they are limited.
    requests_max, tenant_requests_max: at once.
    """

    def __init__(
        self,
        allowances: Mapping[str, Allowances],
        *,
        requests_max: int,
        tenant_requests_max: int,
    ) -> None:
        self._allowances = allowances
        self._requests_max = requests_max
        self._tenant_requests_max = tenant_requests_max
        self._requests = 0
        self._of_tenant: Counter[str] = Counter()
        self._hands: dict[bytes, Hands] = {}

    def begin(self) -> None:
        """One more request; a 503 `Problem` if there are too many."""
        if self._requests >= self._requests_max:
            raise problems.overloaded()
        self._requests += 1

    def begin_of(self, tenant: str) -> None:
        """It is of this tenant; a 429 `Problem` if there are too many of these."""
        if self._of_tenant[tenant] >= self._tenant_requests_max:
            raise problems.too_many("of the tenant's requests at once", 1)
        self._of_tenant[tenant] += 1

    def end(self, tenant: str) -> None:
        """tenant: of which it was said to be; empty if it was of none."""
        self._requests -= 1
        if tenant:
            self._of_tenant[tenant] -= 1
            if not self._of_tenant[tenant]:
                del self._of_tenant[tenant]

    def hands(self, principal: Principal) -> Hands:
        """What the principal's requests are counted by."""
        return self._hands.get(principal.digest) or self._new_hands(principal)

    async def spend(self, hands: Hands) -> None:
        """A token of each bucket; a 429 `Problem` if one is empty."""
        for name, hand in hands.items():
            if not (hand.spend() or await hand.wait()):
                raise problems.too_many(f"requests of this {name}", math.ceil(hand.wait_s))

    def standing(self, hands: Hands) -> bytes:
        """RateLimit (draft-ietf-httpapi-ratelimit-headers-10) of whichever bucket is emptier."""
        name = min(hands, key=lambda name: hands[name].tokens + hands[name].left)
        hand, rate = hands[name], self._allowances[name].rate
        left = hand.tokens + hand.left
        return b'"%b";r=%d;t=%d' % (name.encode(), left, math.ceil((rate.size - left) / rate.per_s))

    def _new_hands(self, principal: Principal) -> Hands:
        if len(self._hands) >= _KNOWN_MAX:
            self._hands.clear()
        # Tokens count for whom they act: else whoever makes many has many buckets.
        own = f"subject:{principal.subject}"
        if principal.key_id is not None and not principal.is_token:
            own = principal.key_id
        names = {"key": f"rate:{own}", "tenant": "rate"}
        made = {
            name: allowances.hand(principal.tenant, names[name])
            for name, allowances in self._allowances.items()
        }
        self._hands[principal.digest] = made
        return made
