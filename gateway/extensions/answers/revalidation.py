"""Confirms, while a text is written, that its caller may still be shown it.

A model writes for seconds, in which the caller's key may be revoked, or a hit be deleted, edited or
shared with fewer. So each piece of a text is confirmed before it is sent:
  1. Every `CONFIRMED_S_MAX` the caller and the tenant's revisions are read again. If nothing has
     moved, that is all.
  2. If the caller's grants differ from those of the search, the text ends.
  3. If the revision has risen, the changes since the search are read. The text ends if one of them
     concerns a hit, or if they are too many to tell.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from cache.errors import ChangeFeedUnavailable
from cache.protocol import Revisions
from gateway.extension import (
    AnsweredSearch,
    AuthenticatedRequest,
    RequestContext,
    SearchRequest,
    freshness_of,
    problems,
)
from gateway.extensions.answers.answer_services import AnswerServices
from index.errors import DatabaseUnavailable
from index.invalidation.changes import ChangeSet

# Starting values, not measured.
CONFIRMED_S_MAX = 0.25  # since what is sent was confirmed
_CHECK_S_MAX = 1.0


class Revalidation:
    """Of one text and its caller.

    hits: those of the answered search.
    confirmed_at_s: before the search read its caller, on the monotonic clock.
    """

    def __init__(
        self,
        context: RequestContext[AnswerServices],
        answered: AnsweredSearch,
        hits: Sequence[Mapping[str, Any]],
        confirmed_at_s: float,
        *,
        check_s_max: float = _CHECK_S_MAX,
    ) -> None:
        self._context = context
        self._request: SearchRequest = answered.request
        self._principal = answered.request.principal
        self._valid_until = answered.answer.valid_until.without_audiences()
        self._chunk_ids = frozenset(hit["chunk_id"] for hit in hits)
        self._confirmed_at_s = confirmed_at_s
        self._check_s_max = check_s_max

    async def require_valid(self) -> None:
        """As `confirm`, unless that was done within `CONFIRMED_S_MAX`."""
        if time.monotonic() - self._confirmed_at_s > CONFIRMED_S_MAX:
            await self.confirm()

    async def confirm(self) -> None:
        """Require that the caller may be shown the hits as they were.

        Raises a 401 or 403 `Problem` if it may not ask any more, a 409 if it may not be shown them,
        `DatabaseUnavailable`, and `TimeoutError` if that is not known in time.
        """
        begun_at_s = time.monotonic()
        async with asyncio.timeout(self._check_s_max):
            freshness = freshness_of(self._request.body, self._context.min_revision)
            admitted = await self._context.authenticate(self._principal, freshness)
            self._require_same_grants(admitted)
            await self._require_unchanged(admitted.oldest)
        self._confirmed_at_s = begun_at_s

    def _require_same_grants(self, admitted: AuthenticatedRequest) -> None:
        if admitted.principal is self._principal:
            return
        request = self._context.services.search.request_of(admitted.principal, self._request.body)
        if request.own_key != self._request.own_key:
            raise problems.answer_outdated()
        self._principal = admitted.principal

    async def _require_unchanged(self, revisions: Revisions) -> None:
        """Require that the hits are the same at the revisions as they were."""
        valid_until = self._valid_until
        if valid_until.history != revisions.history:
            raise problems.answer_outdated()
        numbers = dict(valid_until.by_partition)
        for name, number in valid_until.by_partition.items():
            if number < revisions.by_partition[name]:
                changes = await self._changes_after(name, number, revisions)
                if changes is None or await self._concern_hits(changes):
                    raise problems.answer_outdated()
                numbers[name] = changes.revision
        self._valid_until = Revisions(valid_until.history, numbers)

    async def _changes_after(
        self, partition: str, revision: int, required: Revisions
    ) -> ChangeSet | None:
        """None if they are no longer stored, too many, or of another history."""
        try:
            changes = await self._context.services.feed.changes_after(
                self._principal.tenant,
                partition,
                revision,
                required.of([partition]).without_audiences(),
            )
        except ChangeFeedUnavailable as error:
            raise DatabaseUnavailable("the change log cannot be read") from error
        return None if changes is None or changes.history != required.history else changes

    async def _concern_hits(self, changes: ChangeSet) -> bool:
        """Whether they are of a hit's chunk, or of its document, of which a hit may show more."""
        if not self._chunk_ids.isdisjoint(changes.outdated):
            return True
        if not changes.documents:
            return False
        query = self._request.query
        if query.relations:  # a hit shows other documents, too
            return True
        documents = await self._context.services.search.stores.visible_documents.openable(
            self._request.scope, query.filter, chunk_ids=sorted(self._chunk_ids)
        )
        return not changes.documents.isdisjoint(documents)
