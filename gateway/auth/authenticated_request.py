"""An authenticated caller, with the revisions that its answer must reach."""

from dataclasses import dataclass

from cache.protocol import Revisions
from gateway.auth.freshness import STRONG, DatedRevisions, Freshness, kept_promise
from index.tenants.principals import Principal


@dataclass(frozen=True, slots=True)
class AuthenticatedRequest:
    """A principal, and the revisions that its request is answered from, all of one history.

    revisions: read after the request arrived, or `age_s` before.
    oldest: a cached answer must be correct up to these revisions to be served.
    freshness: what the request asks for.
    """

    principal: Principal
    revisions: Revisions
    oldest: Revisions
    freshness: Freshness = STRONG
    age_s: float = 0.0
    oldest_age_s: float = 0.0

    def kept_promise(self, valid_until: Revisions) -> bytes:
        """The promise of an answer that is correct up to these revisions."""
        if self.age_s == self.oldest_age_s == 0:
            return b"strong"
        newest = DatedRevisions(self.revisions, self.age_s)
        oldest = DatedRevisions(self.oldest, self.oldest_age_s)
        return kept_promise(self.freshness, (newest, oldest), valid_until)
