"""How old the revisions may be that a request is answered from, and which revisions these are."""

import math
from collections.abc import Mapping
from dataclasses import replace

from cache.protocol import Revisions
from cache.revision_reader import RevisionReader
from gateway.auth.freshness import DatedRevisions, Freshness
from gateway.auth.tenant_counters import document_revisions
from index.model.scope import PUBLIC
from index.tenants.principals import Principal
from index.tenants.tenant_store import TenantRevisions

AGE_S_MIN = 1e-6  # of an earlier reading, however coarse the clock is


class Staleness:
    """staleness_s_max: upper bound on a caller's limit while PostgreSQL is available."""

    def __init__(self, revisions: RevisionReader[TenantRevisions], staleness_s_max: float) -> None:
        self._revisions = revisions
        self._staleness_s_max = staleness_s_max

    def age_s_max(self, principal: Principal, freshness: Freshness) -> float:
        """How old the revisions may be that the principal's request is answered from."""
        own = min(freshness.max_staleness_s, staleness_s_max(principal))
        return min(own, self._staleness_s_max)

    def has_older(
        self, principal: Principal, freshness: Freshness, read: Mapping[str, TenantRevisions]
    ) -> bool:
        """Whether the request may be answered from other revisions than these, which were read."""
        age_s_max = self.age_s_max(principal, freshness)
        return not all(
            self._revisions.is_only(partition, read.get(partition), age_s_max)
            for partition in (principal.tenant, PUBLIC)
        )

    def oldest(
        self, principal: Principal, current: Revisions, freshness: Freshness, age_s: float
    ) -> DatedRevisions:
        """The oldest revisions that a cached answer may be correct at, of the current history."""
        age_s_max = self.age_s_max(principal, freshness)
        oldest = None
        if freshness.consistency == "bounded" and age_s_max > 0:
            oldest = self.read_within(principal, age_s_max, current, freshness)
        return oldest or DatedRevisions(current, age_s)

    def read_within(
        self, principal: Principal, age_s_max: float, current: Revisions, freshness: Freshness
    ) -> DatedRevisions | None:
        """The oldest revisions, read within the age, that the caller accepts.

        current: gives the history, and the audience revisions, by which keys are made.
        """
        history = current.history
        tenant, min_revision = principal.tenant, freshness.min_revision
        if min_revision is not None and not min_revision.is_of(tenant, history):
            return None
        required = {} if min_revision is None else min_revision.by_partition(tenant)

        def is_usable(partition: str, counters: TenantRevisions) -> bool:
            is_reached = counters.revision >= required.get(partition, 0)
            return counters.history == history and is_reached

        earlier = self._revisions.oldest((tenant, PUBLIC), age_s_max, is_usable)
        if earlier is None:
            return None
        revisions = replace(document_revisions(earlier.values), audiences=current.audiences)
        return DatedRevisions(revisions, max(earlier.age_s, AGE_S_MIN))


def staleness_s_max(principal: Principal) -> float:
    """The limit that an admin of the principal's tenant has set."""
    max_staleness_ms = principal.max_staleness_ms
    return math.inf if max_staleness_ms is None else max_staleness_ms / 1000
