"""Who saw which documents: noted as answers are given, kept in the audit log each second.

What was seen within FLUSH_S before a process is killed may be missing. Noting an answer of before
to the same principal costs it one look into a dict; what an answer shows is read off it later.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain, starmap
from typing import Any, NamedTuple, Protocol

import orjson
import structlog

from gateway.background_flush import BackgroundFlush
from index.audit.audit_log import ReadEvent, parts
from index.model.audit_actor import SYSTEM, AuditActor
from index.tenants.principals import Principal

FLUSH_S = 1.0
NOTES_MAX = 10_000  # answers; at half of it what they show is read off them before the time
BODIES_BYTES_MAX = 67_108_864  # of these; the same
SEEN_MAX = 200_000  # documents that are to be kept, each as often as somebody saw it; 25 MB
_ROWS_MAX = 100  # a transaction, for it holds up who changes something of these tenants; 10 ms
_READ_MAX = 100  # bodies between two turns of the event loop; 1 ms

log = structlog.get_logger()


class Reader(NamedTuple):
    """A reader of a tenant's documents, as `index.model.audit_actor` has it; a principal is one."""

    tenant: str
    subject: str | None
    key_id: str | None


class ReadStore(Protocol):
    async def append_reads(self, sightings: Sequence[ReadEvent], /) -> None: ...


@dataclass(slots=True)
class _PendingView:
    """An answer that was given, as often as it was; times in seconds since 1970."""

    viewer: Reader
    body: bytes
    first_s: float
    last_s: float
    answers: int = 1


@dataclass(slots=True)
class _ViewCounts:
    """What a viewer saw that is not kept yet."""

    first_s: float
    last_s: float
    answers: int = 0
    documents: set[str] = field(default_factory=set)


class ReadLog:
    """now_s: since 1970. is_on: whether anything is noted at all. every_s: how often it is kept."""

    def __init__(
        self, kept: ReadStore, now_s: Callable[[], float], *, is_on: bool, every_s: float = FLUSH_S
    ) -> None:
        self._log = kept
        self._now_s = now_s
        self._is_on = is_on
        self._notes: dict[tuple[bytes, str], _PendingView] = {}
        self._bodies_bytes = 0
        self._sights: dict[Reader, _ViewCounts] = {}
        self._size = 0  # of the sights, with one for each viewer
        self._lost: Counter[str] = Counter()  # answers, by tenant
        self._flushes = BackgroundFlush("seen", self.flush, every_s=every_s)

    def answer(self, principal: Principal, key: str, body: bytes) -> None:
        """The principal gets this body, the answer of this key."""
        note = self._notes.get((principal.digest, key))
        if note is not None and note.body is body:
            note.answers += 1
            note.last_s = self._now_s()
        elif self._is_on:
            self._note(principal, key, body, note)

    def documents(self, who: Principal | Reader, documents: Iterable[str]) -> None:
        """They get to see these, in another way."""
        if self._is_on:
            now_s = self._now_s()
            viewer = Reader(who.tenant, who.subject, who.key_id)
            self._add(viewer, _ViewCounts(now_s, now_s, 1, set(documents)))

    async def flush(self) -> None:
        """Store what was noted. Raises `DatabaseUnavailable`; what is not stored yet stays.

        One call at a time, and not to be cancelled: it has in its hands what it is about to keep.
        Rows that were committed without the database's saying so are there twice.
        """
        await self._read_all()
        await self._keep()

    @asynccontextmanager
    async def background_flush(self) -> AsyncIterator[None]:
        """Store what is noted again and again, and the rest at the end."""
        try:
            async with self._flushes.running():
                yield
        finally:
            if lost := sum(sight.answers for sight in self._sights.values()) + self._lost.total():
                log.error("seen", state="lost", answers=lost)

    def _note(
        self, principal: Principal, key: str, body: bytes, before: _PendingView | None
    ) -> None:
        viewer = Reader(principal.tenant, principal.subject, principal.key_id)
        now_s = self._now_s()
        if before is not None and before.body == body:  # from Redis, again
            before.answers += 1
            before.last_s = now_s
            return
        if len(self._notes) >= NOTES_MAX or self._bodies_bytes + len(body) > BODIES_BYTES_MAX:
            self._lost[principal.tenant] += 1
            return
        if before is not None:  # another answer by now, and the one before was seen too
            self._notes[principal.digest, f"{key} {len(self._notes)}"] = before
        self._notes[principal.digest, key] = _PendingView(viewer, body, now_s, now_s)
        self._bodies_bytes += len(body)
        if len(self._notes) > NOTES_MAX // 2 or self._bodies_bytes > BODIES_BYTES_MAX // 2:
            self._flushes.hurry()

    async def _read_all(self) -> None:
        """Read off the noted answers what they show; the same body once, whoever got it."""
        notes, self._notes, self._bodies_bytes = self._notes, {}, 0
        shown: dict[int, set[str]] = {}
        for number, note in enumerate(notes.values(), start=1):
            documents = shown.get(id(note.body))
            if documents is None:
                documents = shown[id(note.body)] = _shown(note.body)
            self._add(note.viewer, _ViewCounts(note.first_s, note.last_s, note.answers, documents))
            if not number % _READ_MAX:
                await asyncio.sleep(0)

    def _add(self, viewer: Reader, more: _ViewCounts) -> None:
        sight = self._sights.get(viewer)
        new = len(more.documents if sight is None else more.documents - sight.documents)
        new += sight is None
        if self._size + new > SEEN_MAX:
            self._lost[viewer.tenant] += more.answers
            return
        self._size += new
        if sight is None:
            sight = self._sights[viewer] = _ViewCounts(more.first_s, more.last_s)
        sight.first_s = min(sight.first_s, more.first_s)
        sight.last_s = max(sight.last_s, more.last_s)
        sight.answers += more.answers
        sight.documents |= more.documents

    async def _keep(self) -> None:
        """Each transaction's rows are forgotten once they are there."""
        for viewers in _portions(sorted(self._sights, key=lambda viewer: viewer.tenant)):
            portion = {viewer: self._sights.pop(viewer) for viewer in viewers}
            self._size -= sum(len(sight.documents) + 1 for sight in portion.values())
            try:
                rows = chain.from_iterable(starmap(_sightings, portion.items()))
                await self._log.append_reads(list(rows))
            except BaseException:
                for viewer, sight in portion.items():
                    self._add(viewer, sight)
                raise
        lost, self._lost = self._lost, Counter()
        try:
            if lost:
                await self._log.append_reads(
                    [
                        ReadEvent(tenant, SYSTEM, {"lost": answers})
                        for tenant, answers in lost.items()
                    ]
                )
        except BaseException:
            self._lost += lost
            raise


def _shown(body: bytes) -> set[str]:
    return {hit["document_id"] for hit in orjson.loads(body)["hits"]}


def _portions(viewers: Sequence[Reader]) -> Iterator[Sequence[Reader]]:
    for start in range(0, len(viewers), _ROWS_MAX):
        yield viewers[start : start + _ROWS_MAX]


def _sightings(viewer: Reader, sight: _ViewCounts) -> Iterator[ReadEvent]:
    """One row, or more if there are too many documents for one, each with the same counts."""
    told: dict[str, Any] = {
        "answers": sight.answers,
        "first": datetime.fromtimestamp(sight.first_s, UTC),
        "last": datetime.fromtimestamp(sight.last_s, UTC),
    }
    for documents in parts(sorted(sight.documents)) if sight.documents else [()]:
        who = AuditActor(viewer.subject, viewer.key_id)
        yield ReadEvent(viewer.tenant, who, told | {"documents": list(documents)})
