"""Confirms, before a response is sent, that its caller may still be shown what it shows.

Rights and documents are read first; then a service ranks hits, a model writes, or the request waits
for a thread. Meanwhile a key may be revoked, a member removed, or a document deleted or shared with
fewer. So a response is confirmed if it is sent more than `CONFIRMED_S_MAX` after the rights of its
caller were read or last confirmed:
  1. The caller and the tenant's revisions are read again. If nothing has moved, that is all.
  2. If the rights differ from those that the hits and documents were read with, it is not valid.
  3. If a revision has risen, one statement counts the shown documents that the caller may see. The
     response is not valid unless it counts all of them. Facets are read again: it is not valid
     if one shows a value that the documents of now do not have.
An edit takes no right away: an answer shows each document as it was after the request had arrived.
A text that goes on for seconds ends with an edit too, of any chunk that it is from.
"""

import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pydantic import BaseModel

from gateway.auth.authenticated_request import AuthenticatedRequest
from gateway.bodies.document_address import parse_address
from gateway.http.request.request_context import RequestContext, full_scope_of
from gateway.problems import problems
from gateway.recording import shown
from gateway.recording.shown import Shown
from index.tenants.principals import Principal

T = TypeVar("T")

# Starting values, not measured.
CONFIRMED_S_MAX = 0.25  # since what is sent was confirmed
_CHECK_S_MAX = 1.0
_ROUNDS_MAX = 3  # each but the first follows a revocation during the one before


class _ShownDocument(BaseModel):
    document_id: str
    tenant: str | None = None


class _ShownHit(_ShownDocument):
    chunk_id: int
    relations: list[_ShownDocument] = []


class _ShownAnswer(BaseModel):
    hits: list[_ShownHit]


class Revalidation:
    """Of one response. shows: all that it shows, by the time that it is confirmed.

    begun_at_s: before its rights were read, on the clock of `time.perf_counter`.
    is_of_text: whether a text is written from the hits.
    """

    def __init__(
        self,
        context: RequestContext[Any],
        shows: Shown,
        begun_at_s: float,
        *,
        is_of_text: bool = False,
        check_s_max: float = _CHECK_S_MAX,
    ) -> None:
        self._context = context
        self._shows = shows
        self._confirmed_at_s = begun_at_s
        self._is_of_text = is_of_text
        self._check_s_max = check_s_max

    @classmethod
    def of_text(cls, context: RequestContext[Any]) -> "Revalidation":
        """Of a text that is written from what the request has read so far."""
        shows = shown.CURRENT.get() or Shown()
        return cls(context, shows, context.trace.started_s, is_of_text=True)

    async def require_valid(self, *, now: bool = False) -> None:
        """A 409 `Problem` unless the response is valid, now or as `is_valid`."""
        is_valid = await (self.is_valid_now() if now else self.is_valid())
        if not is_valid:
            raise problems.answer_outdated()

    async def is_valid(self) -> bool:
        """As `is_valid_now`, unless that was found within `CONFIRMED_S_MAX`."""
        is_young = time.perf_counter() - self._confirmed_at_s <= CONFIRMED_S_MAX
        return is_young or await self.is_valid_now()

    async def is_valid_now(self) -> bool:
        """Whether the caller may be shown all of it now.

        Raises a 401 or 403 `Problem` if it may not call the route any more, `DatabaseUnavailable`,
        and `TimeoutError` if the answer is not known in time.
        """
        begun_at_s, shows, before = time.perf_counter(), self._shows, self._shows.admitted
        with self._context.http.deadlines.timeout(self._check_s_max):
            freshness = None if before is None else before.freshness
            now = await self._context.authenticate(freshness=freshness)
            admitted = self._context.principal if before is None else before.principal
            reads = now.principal if shows.read_as is None else await shows.read_as(now.principal)
            for reader in shows.readers() or [admitted]:
                if reader is not reads and _rights(reader) != _rights(reads):
                    return False
            # An older answer, which the caller accepts, is not compared with the documents of now.
            if not now.age_s and _has_moved(before, now) and not await self._are_visible():
                return False
        shows.admitted, self._confirmed_at_s = now, begun_at_s
        return True

    async def _are_visible(self) -> bool:
        """Whether nothing that is shown has gone. All readers have the same rights."""
        shows, readers = self._shows, self._shows.readers()
        if not readers:
            return True
        principal = readers[0]
        bodies = [body for _, body in shows.answers]
        answers = await self._context.threads.map(_ShownAnswer.model_validate_json, bodies)
        hits = [hit for answer in answers for hit in answer.hits]
        documents = {
            (document.tenant or principal.tenant, document.document_id)
            for hit in hits
            for document in (hit, *hit.relations)
        }
        for _, addresses in shows.documents:
            documents |= {parse_address(principal.tenant, address) for address in addresses}
        chunks = {chunk_id for _, chunk_ids in shows.chunks for chunk_id in chunk_ids}
        if self._is_of_text:
            chunks |= {hit.chunk_id for hit in hits}
        visible = await self._context.http.visible_documents.count(
            full_scope_of(principal),
            principal.filter,
            sorted(documents),
            sorted(chunks),
            sees_inactive="admin" in principal.roles,
        )
        if visible != len(chunks) + len(documents):
            return False
        return all([await check() for check in shows.checks])


async def make_confirmed(
    context: RequestContext[Any],
    make: Callable[[], Awaitable[T]],
    needs_confirmation: Callable[[Shown], bool] = lambda _: True,
) -> T:
    """What `make` makes; made again if its caller may not be shown it any more.

    What it shows is recorded once it is confirmed. If recording takes long, it is confirmed again,
    but not made again: it has one record. Raises a 409 `Problem` if it can't be confirmed.
    """
    slot, held_bytes = context.slot, context.slot.held_bytes
    for _ in range(_ROUNDS_MAX):
        with shown.recording() as shows:
            revalidation = Revalidation(context, shows, time.perf_counter())
            made = await make()
            is_needed = needs_confirmation(shows)
            if not is_needed or await revalidation.is_valid():
                if await shows.record() and is_needed:
                    await revalidation.require_valid()
                return made
        if slot.held_bytes > held_bytes:  # by the response
            slot.release(slot.held_bytes - held_bytes)
    raise problems.answer_outdated()


def _has_moved(before: AuthenticatedRequest | None, now: AuthenticatedRequest) -> bool:
    """Whether a document may have changed between; none may if it was read after both."""
    if before is None:
        return True
    return before.revisions.without_audiences() != now.revisions.without_audiences()


def _rights(principal: Principal) -> tuple[object, ...]:
    return principal.history, full_scope_of(principal), principal.filter, principal.roles
