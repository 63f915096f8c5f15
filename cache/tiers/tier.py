"""What tiers have in common: the two calls, and the run of one lookup through them."""

from dataclasses import dataclass
from typing import Any, Protocol

from cache.lookup import CacheLookup, Compute, ComputedAnswer, ServedAnswer
from cache.protocol import Revisions
from cache.redis.store import CacheSnapshot


@dataclass(eq=False, slots=True)
class LookupRun:
    """One lookup, and what the tiers that it has passed have found for those that follow.

    revisions:  at which the answer has to be correct; they name all that it depends on.
    snapshot:   of Redis; None if it was not asked, or is unavailable.
    lock_token: by which Redis knows this run; empty while it has not asked for the fill lock.
    found:      what a tier of an extension has found, for its `keep` to compare.
    is_sampled: whether the answer of that tier is served, and computed in the background too.
    compute:    None if the answer is computed already.
    computed:   None until the answer has been computed.
    is_stored:  whether Redis has taken the answer, and thereby released the lock.
    """

    lookup: CacheLookup
    revisions: Revisions
    compute: Compute | None = None
    snapshot: CacheSnapshot | None = None
    lock_token: str = ""
    found: Any = None
    is_sampled: bool = False
    computed: ComputedAnswer | None = None
    is_stored: bool = False

    @property
    def keepable(self) -> ComputedAnswer | None:
        """The computed answer, if it is complete and belongs to the key of the lookup.

        One that was computed at other audience revisions than the key's is kept nowhere.
        """
        answer = self.computed
        is_kept = answer is not None and answer.is_complete and answer.as_of.fit(self.revisions)
        return answer if is_kept else None


class Tier(Protocol):
    async def look(self, run: LookupRun, /) -> ServedAnswer | None:
        """The answer, if this tier has one that is correct at the run's revisions."""

    async def keep(self, run: LookupRun, served: ServedAnswer, /) -> ServedAnswer:
        """Keep what a later tier has found, for the next lookup; return it, perhaps as stored."""
