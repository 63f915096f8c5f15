"""Records who read which documents and chunks, and appends it to the audit log every second.

A process that is killed may lose the reads of its last FLUSH_S seconds. The documents of an answer
are parsed from its body later.
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain, starmap
from typing import Any, Protocol

import structlog
from pydantic import BaseModel

from common.audit_actor import SYSTEM, AuditActor
from common.shares.budget import FairBudget
from common.shares.turns import map_in_steps
from gateway.extension import (
    BackgroundFlush,
    LoggedAnswer,
    Reader,
    ShownChunks,
    address_of,
    split_answer,
)
from gateway.extensions.access_log.access_log_store import ReadEvent
from index.audit.audit_log import parts
from index.tenants.principals import Principal

FLUSH_S = 1.0
# One tenant has half of each at most; at a quarter of the first two a flush starts early.
PENDING_ANSWERS_MAX = 10_000
BODIES_BYTES_MAX = 67_108_864  # of these answers
PENDING_DOCUMENTS_MAX = 200_000  # pending pairs of a reader and a document or a chunk; 25 MB
_READERS_MAX = 100  # readers per transaction, which blocks changes of their tenants for 10 ms

log = structlog.get_logger()


class ReadStore(Protocol):
    async def append_reads(self, reads: Sequence[ReadEvent], /) -> None: ...


class _ReadHit(BaseModel):
    chunk_id: int
    document_id: str
    tenant: str | None = None


class _ReadAnswer(BaseModel):
    """What is read of an answer: all else, such as metadata of 40 KB a hit, makes no objects."""

    hits: list[_ReadHit]


@dataclass(slots=True)
class _PendingView:
    """An answer that a reader got `answers` times; times in seconds since 1970.

    shows_more: than the chunks of its hits.
    """

    reader: Reader
    body: bytes
    shows_more: bool
    first_s: float
    last_s: float
    answers: int


@dataclass(slots=True)
class _ViewCounts:
    """What a reader was shown and is not stored yet; times in seconds since 1970.

    size: that was taken of the budget.
    """

    first_s: float
    last_s: float
    answers: int = 0
    shown: ShownChunks = field(default_factory=dict)
    size: int = 0


class StoredReadLog:
    """now_s: seconds since 1970. every_s: time between flushes.

    collect: as in `FlushBuffer`.
    """

    def __init__(
        self,
        store: ReadStore,
        now_s: Callable[[], float],
        *,
        every_s: float = FLUSH_S,
        collect: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._now_s = now_s
        self._collect = collect
        self._pending: dict[tuple[bytes, str], _PendingView] = {}
        self._bodies_bytes = 0
        self._answers, self._bodies = _shares(PENDING_ANSWERS_MAX), _shares(BODIES_BYTES_MAX)
        self._counts: dict[Reader, _ViewCounts] = {}
        self._documents = _shares(PENDING_DOCUMENTS_MAX)  # of _counts, plus one per reader
        self._lost: Counter[str] = Counter()  # number of answers, by tenant
        self._flushes = BackgroundFlush("read_log", self.flush, every_s=every_s)

    def answer(
        self, principal: Principal, key: str, body: bytes, *, shows_more: bool = False
    ) -> None:
        """Record that the principal gets this body, the answer of this cache key.

        shows_more: than the chunks of its hits, such as those around them.
        """
        now_s = self._now_s()
        self._add_view(principal, key, body, now_s, now_s, 1, shows_more=shows_more)

    def watch(self, answer: LoggedAnswer) -> None:
        """As `answer`, as often as the principal got it."""
        served = answer.served
        self._add_view(
            answer.principal,
            served.key,
            served.body,
            answer.first_s,
            answer.last_s,
            len(answer.durations_s),
            shows_more=answer.query.expand or answer.query.summaries,
        )

    def passages(self, reader: Reader, passages: ShownChunks) -> None:
        """Record that the reader gets these other than by a search answer."""
        now_s = self._now_s()
        self._add_counts(reader, _ViewCounts(now_s, now_s, 1, passages))

    async def flush(self) -> None:
        """Store the pending reads. Raises `DatabaseUnavailable`; the reads stay for the next.

        Run one flush at a time and do not cancel it, because it holds the rows it is storing.
        If a commit succeeds but its confirmation is lost, the rows are stored twice.
        """
        self._collect()
        await self._parse_pending()
        await self._store_counts()

    @asynccontextmanager
    async def background_flush(self) -> AsyncIterator[None]:
        """Flush regularly during the block, and once at its end."""
        try:
            async with self._flushes.running():
                yield
        finally:
            lost = sum(counts.answers for counts in self._counts.values()) + self._lost.total()
            if lost:
                log.error("read_log", state="lost", answers=lost)

    def _add_view(
        self,
        principal: Principal,
        key: str,
        body: bytes,
        first_s: float,
        last_s: float,
        answers: int,
        *,
        shows_more: bool,
    ) -> None:
        previous = self._pending.get((principal.digest, key))
        if previous is not None and previous.body == body:
            previous.answers += answers
            previous.last_s = last_s
            return
        if not self._has_room(principal.tenant, len(body)):
            self._lost[principal.tenant] += answers
            return
        reader = Reader(principal.tenant, principal.subject, principal.key_id)
        if previous is not None:  # the answer has changed; the previous one was read too
            self._pending[principal.digest, f"{key} {len(self._pending)}"] = previous
        view = _PendingView(reader, body, shows_more, first_s, last_s, answers)
        self._pending[principal.digest, key] = view
        self._bodies_bytes += len(body)
        if (
            len(self._pending) > PENDING_ANSWERS_MAX // 4
            or self._bodies_bytes > BODIES_BYTES_MAX // 4
        ):
            self._flushes.hurry()

    def _has_room(self, tenant: str, size_bytes: int) -> bool:
        """Whether one more answer was counted."""
        if self._answers.take(tenant) is not None:
            return False
        if self._bodies.take(tenant, size_bytes) is not None:
            self._answers.give_back(tenant)
            return False
        return True

    async def _parse_pending(self) -> None:
        """Parse what the pending answers show, each body once for all its readers."""
        views, self._pending, self._bodies_bytes = self._pending, {}, 0
        self._answers, self._bodies = _shares(PENDING_ANSWERS_MAX), _shares(BODIES_BYTES_MAX)
        shown_by_body: dict[int, ShownChunks] = {}

        def count(view: _PendingView) -> None:
            passages = shown_by_body.get(id(view.body))
            if passages is None:
                passages = shown_by_body[id(view.body)] = _shown(view.reader.tenant, view.body)
            if view.shows_more:
                passages = dict.fromkeys(passages)
            counts = _ViewCounts(view.first_s, view.last_s, view.answers, passages)
            self._add_counts(view.reader, counts)

        await map_in_steps(count, views.values())

    def _add_counts(self, reader: Reader, more: _ViewCounts) -> None:
        counts = self._counts.get(reader)
        growth = _growth({} if counts is None else counts.shown, more.shown) + (counts is None)
        if self._documents.take(reader.tenant, growth) is not None:
            self._lost[reader.tenant] += more.answers
            return
        if counts is None:
            counts = self._counts[reader] = _ViewCounts(more.first_s, more.last_s)
        counts.first_s = min(counts.first_s, more.first_s)
        counts.last_s = max(counts.last_s, more.last_s)
        counts.answers += more.answers
        counts.size += growth
        for document, chunks in more.shown.items():
            before = counts.shown.get(document, set())
            both = None if before is None or chunks is None else before | chunks
            counts.shown[document] = both

    async def _store_counts(self) -> None:
        """Store the counts in batches; a batch that fails is put back."""
        for readers in _batches(sorted(self._counts, key=lambda reader: reader.tenant)):
            batch = {reader: self._counts.pop(reader) for reader in readers}
            for reader, counts in batch.items():
                self._documents.give_back(reader.tenant, counts.size)
            try:
                rows = chain.from_iterable(starmap(_read_events, batch.items()))
                await self._store.append_reads(list(rows))
            except BaseException:
                for reader, counts in batch.items():
                    self._add_counts(reader, counts)
                raise
        lost, self._lost = self._lost, Counter()
        try:
            if lost:
                await self._store.append_reads(
                    [
                        ReadEvent(tenant, SYSTEM, {"answers_lost": answers})
                        for tenant, answers in lost.items()
                    ]
                )
        except BaseException:
            self._lost += lost
            raise


def _shares(total_max: int) -> FairBudget:
    return FairBudget(total_max=total_max, tenant_max=total_max // 2)


def _shown(tenant: str, body: bytes) -> ShownChunks:
    """What an answer to a caller of the tenant shows."""
    passages: dict[str, set[int] | None] = {}
    for part in map(_ReadAnswer.model_validate_json, split_answer(body)):
        for hit in part.hits:
            address = address_of(tenant, hit.tenant or tenant, hit.document_id)
            chunks = passages.setdefault(address, set())
            assert chunks is not None
            chunks.add(hit.chunk_id)
    return passages


def _growth(before: ShownChunks, more: ShownChunks) -> int:
    """The number of documents and chunks in `more` that are not in `before`."""
    growth = 0
    for document, chunks in more.items():
        chunks_before = before.get(document, set())
        growth += document not in before
        if chunks_before is not None and chunks is not None:
            growth += len(chunks - chunks_before)
    return growth


def _batches(readers: Sequence[Reader]) -> Iterator[Sequence[Reader]]:
    for start in range(0, len(readers), _READERS_MAX):
        yield readers[start : start + _READERS_MAX]


def _read_events(reader: Reader, counts: _ViewCounts) -> Iterator[ReadEvent]:
    """One row, or several with equal counts if the documents do not fit into one."""
    details: dict[str, Any] = {
        "answers": counts.answers,
        "first": datetime.fromtimestamp(counts.first_s, UTC),
        "last": datetime.fromtimestamp(counts.last_s, UTC),
    }
    for documents in parts(sorted(counts.shown)) if counts.shown else [()]:
        actor = AuditActor(reader.subject, reader.key_id)
        chunks = {name: sorted(ids) for name in documents if (ids := counts.shown[name])}
        of_chunks = {"chunks": chunks} if chunks else {}
        yield ReadEvent(reader.tenant, actor, details | {"documents": list(documents)} | of_chunks)
