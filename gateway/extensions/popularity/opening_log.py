"""Records which documents were opened, and stores it every second.

A process that is killed loses the openings of its last FLUSH_S seconds.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Protocol

from common.shares.cache import FairCache
from gateway.extension import FlushBuffer
from gateway.extensions.popularity.popularity_store import Opening, opening
from index.model.query import Filter
from index.model.scope import Scope
from index.tenants.principals import Principal

FLUSH_S = 1.0
OPENINGS_MAX = 20_000  # pending openings; further ones are dropped
SUBJECT_DAY_MAX = 1_000  # openings of a subject on a day that a process counts
_SUBJECTS_MAX = 10_000  # whose openings of today a process remembers to have counted


class Documents(Protocol):
    async def openable(
        self,
        scope: Scope,
        document_filter: Filter,
        documents: Sequence[tuple[str, str]],
        chunk_ids: Sequence[int],
        /,
    ) -> Sequence[int]: ...


class OpeningStore(Protocol):
    async def add(self, openings: Collection[Opening], /) -> None: ...


class OpeningLog:
    """now_s: seconds since 1970. every_s: time between flushes."""

    def __init__(
        self,
        documents: Documents,
        store: OpeningStore,
        now_s: Callable[[], float],
        *,
        every_s: float = FLUSH_S,
    ) -> None:
        self._documents = documents
        self._store = store
        self._now_s = now_s
        self._counts: FairCache[tuple[str, str, date], int] = FairCache(_SUBJECTS_MAX)
        self.pending: FlushBuffer[Opening, None] = FlushBuffer(
            "document_openings",
            self._add,
            lambda _earlier, _later: None,
            every_s=every_s,
            items_max=OPENINGS_MAX,
        )

    async def add(
        self,
        principal: Principal,
        scope: Scope,
        documents: Sequence[tuple[str, str]],
        chunk_ids: Sequence[int] = (),
    ) -> int:
        """Record that the principal opened those that it may read, and return their number.

        documents: tenant and identifier of each. 0 if the principal's tenant counts no openings.
        Raises `DatabaseUnavailable` and `Saturated`.
        """
        if principal.counted_openings == "nothing":
            return 0
        keys = await self._documents.openable(scope, principal.filter, documents, chunk_ids)
        today = datetime.fromtimestamp(self._now_s(), UTC).date()
        subject = (principal.tenant, principal.subject, today)
        counted = self._counts.get(subject) or 0
        keys = keys[: SUBJECT_DAY_MAX - counted]
        self._counts.put(principal.tenant, subject, counted + len(keys))
        for key in keys:
            item = opening(principal.tenant, principal.subject, key, today)
            self.pending.add(principal.tenant, item, None)
        return len(keys)

    async def add_reading(
        self, principal: Principal, scope: Scope, tenant: str, document_id: str
    ) -> None:
        """Record a reading of a document as an opening, if the principal's tenant counts these."""
        if principal.counted_openings == "all":
            await self.add(principal, scope, [(tenant, document_id)])

    async def _add(self, openings: Mapping[Opening, None]) -> None:
        await self._store.add(openings)
