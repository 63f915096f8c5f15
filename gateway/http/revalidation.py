"""Confirms, before a response is sent, that its caller may still be shown what it shows.

Rights and documents are read first; then a service ranks hits, a model writes, or the request waits
for a thread. Meanwhile a key may be revoked, a member removed, or a document deleted, edited or
shared with fewer. So whatever is sent more than `CONFIRMED_S_MAX` after its request began, or after
the last confirmation, is confirmed:
  1. The caller and the tenant's revisions are read again. If nothing has moved, that is all.
  2. If the rights differ from those that the hits and documents were read with, the response ends.
  3. If a revision has risen, one statement counts the shown chunks and documents that the caller
     may see. The response ends unless it counts all of them.
"""

import asyncio
import time
from typing import Any

from pydantic import BaseModel

from gateway import problems
from gateway.auth.authenticated_request import AuthenticatedRequest
from gateway.document_address import parse_address
from gateway.http.request_context import RequestContext, full_scope_of
from gateway.recording import shown
from gateway.recording.shown import Shown
from index.tenants.principals import Principal

# Starting values, not measured.
CONFIRMED_S_MAX = 0.25  # since what is sent was confirmed
_CHECK_S_MAX = 1.0


class _ShownDocument(BaseModel):
    document_id: str
    tenant: str | None = None


class _ShownHit(BaseModel):
    chunk_id: int
    relations: list[_ShownDocument] = []


class _ShownAnswer(BaseModel):
    hits: list[_ShownHit]


class Revalidation:
    """Of one response. shown: what it shows so far."""

    def __init__(
        self, context: RequestContext[Any], shown: Shown, *, check_s_max: float = _CHECK_S_MAX
    ) -> None:
        self._context = context
        self._shown = shown
        self._admitted = context.trace.admitted
        self._confirmed_at_s = context.trace.started_s
        self._check_s_max = check_s_max

    @classmethod
    def of_shown(cls, context: RequestContext[Any]) -> "Revalidation":
        """Of what the request has read so far."""
        return cls(context, shown.CURRENT.get() or Shown())

    async def require_valid(self) -> None:
        """As `confirm`, unless that was done within `CONFIRMED_S_MAX`."""
        if time.perf_counter() - self._confirmed_at_s > CONFIRMED_S_MAX:
            await self.confirm()

    async def confirm(self) -> None:
        """Require that the caller may be shown all of it now.

        Raises a 401 or 403 `Problem` if it may not call the route any more, a 409 if it may not be
        shown all, `DatabaseUnavailable`, and `TimeoutError` if that is not known in time.
        """
        begun_at_s, before = time.perf_counter(), self._admitted
        async with asyncio.timeout(self._check_s_max):
            now = await self._context.authenticate(
                freshness=None if before is None else before.freshness
            )
            self._require_same_rights(now.principal)
            if not now.age_s and _has_moved(before, now):
                await self._require_visible()
        self._admitted, self._confirmed_at_s = now, begun_at_s

    def _require_same_rights(self, now: Principal) -> None:
        """Of all that the response was read as; if it shows nothing, of the caller."""
        admitted = self._context.principal if self._admitted is None else self._admitted.principal
        for reader in self._shown.readers() or [admitted]:
            if reader is not now and _rights(reader) != _rights(now):
                raise problems.answer_outdated()

    async def _require_visible(self) -> None:
        """Require that no chunk and no document has gone. All readers have the same rights."""
        readers = self._shown.readers()
        if not readers:
            return
        principal = readers[0]
        bodies = [body for _, body in self._shown.answers]
        answers = await self._context.threads.map(_ShownAnswer.model_validate_json, bodies)
        hits = [hit for answer in answers for hit in answer.hits]
        chunks = {hit.chunk_id for hit in hits}
        documents = {
            (document.tenant or principal.tenant, document.document_id)
            for hit in hits
            for document in hit.relations
        }
        for _, addresses in self._shown.documents:
            documents |= {parse_address(principal.tenant, address) for address in addresses}
        for _, chunk_ids in self._shown.chunks:
            chunks.update(chunk_ids)
        visible = await self._context.http.visible_documents.count(
            full_scope_of(principal),
            principal.filter,
            sorted(documents),
            sorted(chunks),
            sees_inactive="admin" in principal.roles,
        )
        if visible < len(chunks) + len(documents):
            raise problems.answer_outdated()


def _has_moved(before: AuthenticatedRequest | None, now: AuthenticatedRequest) -> bool:
    """Whether a document may have changed between; none may if it was read after both."""
    if before is None:
        return True
    return before.revisions.without_audiences() != now.revisions.without_audiences()


def _rights(principal: Principal) -> tuple[object, ...]:
    return principal.history, full_scope_of(principal), principal.filter, principal.roles
