"""Follows one store of OpenFGA: reads its changes, and all its tuples where that is not enough.

1. The position in the changes moves in the transaction that applies them: each counts once.
2. All tuples are read together with the changes made meanwhile, and applied in one transaction: a
   tuple that was deleted while they were read gives nothing, not even for a moment.
3. Documents follow after that; `as_of` moves when they have.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

from gateway.extensions.openfga.collected_tuples import CollectedTuples
from gateway.extensions.openfga.errors import OpenfgaUnavailable, PositionLost
from gateway.extensions.openfga.openfga_client import OpenfgaClient
from gateway.extensions.openfga.openfga_schemas import ChangeAnswer, TupleKeyAnswer
from gateway.extensions.openfga.tuple_mapping import (
    IgnoredReason,
    TupleInterpreter,
    TupleMapping,
    is_storable,
)
from gateway.extensions.openfga.tuple_store import (
    StorePosition,
    TupleChanges,
    TupleKey,
    TupleMeaning,
    TupleStore,
)
from index.model.document import Document
from index.model.identifiers import READERS_MAX
from index.model.write_order import NO_PARTS
from ingest.errors import DocumentContended
from ingest.write.authorship import intended
from ingest.write.writer import Writer

# Starting values, not measured.
_PAGES_MAX = 100_000
_DOCUMENTS_PAGE = 100
_CHANGED_MAX = 10_000  # documents; of more of them, all documents are compared with the tuples
_BATCH_MAX = 10_000  # changes
BATCH_EVERY = timedelta(seconds=1)  # of a store that answers slowly
# Changes may have a time before the read began although they were made after it: clocks differ.
_OVERLAP = timedelta(minutes=2)
# OpenFGA sorts changes by time. One that is older than this comes from another history.
_DISORDER_MAX = timedelta(minutes=1)
_COMPARE_EVERY = timedelta(seconds=5)  # all documents with all tuples, if documents have changed
_GAP_MAX = timedelta(hours=1)  # without a completed look; its log of changes may be cut meanwhile


class FindDocuments(Protocol):
    """A page of documents of the tenant, by id."""

    async def __call__(self, tenant: str, /, *, after: str, limit: int) -> list[str]: ...


class _NothingToChange(Exception):
    """The document does not exist, or follows the tuples already."""


@dataclass(frozen=True, slots=True)
class WatchedStore:
    """tenant: whose groups and documents the store's tuples concern."""

    tenant: str
    store_id: str


@dataclass(frozen=True, slots=True)
class WatchServices:
    """reread_s: after so many seconds all tuples are read again.

    ignored: receives why a tuple or change means nothing. changed: receives how many changes of the
    store were applied. now: the current time.
    """

    client: OpenfgaClient
    tuples: TupleStore
    writer: Writer
    mapping: TupleMapping
    reread_s: float
    ignored: Callable[[IgnoredReason], None]
    changed: Callable[[int], None]
    now: Callable[[], datetime]


@dataclass(slots=True)
class _Batch:
    """Changes that are applied together. position: after them. number: how many they were."""

    position: StorePosition
    began_at: datetime
    changes: dict[TupleKey, TupleMeaning | None] = field(default_factory=dict)
    number: int = 0

    def add(self, page: tuple[ChangeAnswer, ...], token: str, changes: TupleChanges) -> None:
        newest_at = _newest(page, self.position.changed_at)
        self.position = replace(self.position, continuation_token=token, changed_at=newest_at)
        self.changes |= changes
        self.number += len(page)

    def is_due(self, now: datetime) -> bool:
        return self.number >= _BATCH_MAX or now - self.began_at >= BATCH_EVERY


class StoreWatch:
    """One watcher of a store; what it keeps in memory only saves work."""

    def __init__(self, services: WatchServices, store: WatchedStore) -> None:
        self._services = services
        self._store = store
        self._changed: set[str] = set()  # documents whose readers have changed
        self._shared_at: datetime | None = None  # when all documents were compared
        self._shared_revision = -1

    async def poll(self) -> bool:
        """Apply all that the store has by now; whether all tuples were read for it.

        Raises `OpenfgaUnavailable`, `TuplesMoved`, `TenantMissing`, and the errors of `Writer`.
        """
        services, tenant = self._services, self._store.tenant
        began_at = services.now()
        model = await services.client.newest_model(self._store.store_id)
        interpreter = TupleInterpreter(services.mapping, model)
        position = await services.tuples.position(tenant)
        reads_all = self._has_to_read_all(position, interpreter, began_at)
        if not reads_all:
            try:
                position = await self._apply_changes(position, interpreter)
            except PositionLost:
                reads_all = True
                position = await services.tuples.position(tenant)
        if reads_all:
            position = await self._read_all(position, interpreter, began_at)
        await self._update_documents(services.tuples.documents_to_restrict)
        await self._share_documents(compares_all=reads_all)
        await services.tuples.record_as_of(tenant, position, began_at)
        return reads_all

    def _has_to_read_all(
        self, position: StorePosition, interpreter: TupleInterpreter, now: datetime
    ) -> bool:
        if (position.store_id, position.meaning) != (self._store.store_id, interpreter.digest):
            return True
        if position.read_at is None:
            return True
        is_old = now - position.read_at > timedelta(seconds=self._services.reread_s)
        is_after_gap = position.as_of is None or now - position.as_of > _GAP_MAX
        return is_old or is_after_gap

    async def _apply_changes(
        self, position: StorePosition, interpreter: TupleInterpreter
    ) -> StorePosition:
        """Apply those of many pages together, since each time all members of the changed groups are
        compared; what comes before a failure is applied.

        Raises `PositionLost` if the changes do not go on from the position.
        """
        batch = _Batch(position, self._services.now())
        try:
            async for page, token in self._changes(position):
                _require_order(page, batch.position.changed_at)
                batch.add(page, token, self._interpret(page, interpreter))
                if batch.is_due(self._services.now()):
                    batch = await self._apply(batch)
        except OpenfgaUnavailable:
            await self._apply(batch)
            raise
        return (await self._apply(batch)).position

    async def _apply(self, batch: "_Batch") -> "_Batch":
        """Apply the batch, and begin the next."""
        if not batch.number:
            return batch
        self._note_changed(batch.changes)
        position = await self._services.tuples.apply(
            self._store.tenant, batch.changes, batch.position
        )
        self._services.changed(batch.number)
        return _Batch(position, self._services.now())

    def _note_changed(self, changes: TupleChanges) -> None:
        """Too many documents are not named: all are compared instead."""
        self._changed |= {
            meaning.target
            for meaning in changes.values()
            if meaning is not None and meaning.kind == "reader"
        }
        if len(self._changed) > _CHANGED_MAX:
            self._changed.clear()
            self._shared_at, self._shared_revision = None, -1

    async def _read_all(
        self, position: StorePosition, interpreter: TupleInterpreter, began_at: datetime
    ) -> StorePosition:
        """Read all tuples, and the changes since before that, and apply both at once."""
        changes_from = began_at - _OVERLAP
        start = StorePosition(
            self._store.store_id,
            interpreter.digest,
            changes_from=changes_from,
            read_at=began_at,
            sequence=position.sequence,
        )
        tuples = CollectedTuples()
        async for key in self._all_tuples():
            tuples.update({_key(key): self._meaning(key, interpreter)})
        async for page, token in self._changes(start):
            # The tuples that were read contain what is older.
            since = tuple(change for change in page if change.timestamp >= changes_from)
            tuples.update(self._interpret(since, interpreter))
            start = replace(
                start, continuation_token=token, changed_at=_newest(page, start.changed_at)
            )
        return await self._services.tuples.replace(self._store.tenant, tuples.by_key, start)

    async def _all_tuples(self) -> AsyncIterator[TupleKeyAnswer]:
        token = ""
        for _ in range(_PAGES_MAX):
            page = await self._services.client.tuples(self._store.store_id, token)
            for each in page.tuples:
                yield each.key
            if not page.continuation_token:
                return
            token = page.continuation_token
        raise OpenfgaUnavailable("the pages of tuples do not end")

    async def _changes(
        self, position: StorePosition
    ) -> AsyncIterator[tuple[tuple[ChangeAnswer, ...], str]]:
        """The pages of changes after the position, each with the token that follows it."""
        token = position.continuation_token
        for _ in range(_PAGES_MAX):
            page = await self._services.client.changes(
                self._store.store_id, token, position.changes_from
            )
            if not page.changes:
                return
            if not page.continuation_token or page.continuation_token == token:
                raise OpenfgaUnavailable("OpenFGA gives changes without a position after them")
            token = page.continuation_token
            yield page.changes, token
        raise OpenfgaUnavailable("the pages of changes do not end")

    def _interpret(
        self, page: tuple[ChangeAnswer, ...], interpreter: TupleInterpreter
    ) -> TupleChanges:
        """What each tuple of the page means after the last change of it."""
        changes: dict[TupleKey, TupleMeaning | None] = {}
        for change in page:
            if not is_storable(change.tuple_key):
                self._services.ignored("name")
                continue
            is_write = change.operation == "TUPLE_OPERATION_WRITE"
            meaning = self._meaning(change.tuple_key, interpreter) if is_write else None
            changes[_key(change.tuple_key)] = meaning
        return changes

    def _meaning(self, key: TupleKeyAnswer, interpreter: TupleInterpreter) -> TupleMeaning | None:
        meaning = interpreter.meaning(key)
        if isinstance(meaning, TupleMeaning):
            return meaning
        self._services.ignored(meaning)
        return None

    async def _share_documents(self, *, compares_all: bool) -> None:
        """Give documents the readers that they lack: those of changed tuples, and written ones."""
        services, tenant, now = self._services, self._store.tenant, self._services.now()
        revision = await services.tuples.revision(tenant)
        is_due = self._shared_at is None or now - self._shared_at >= _COMPARE_EVERY
        find = services.tuples.documents_to_share
        if not compares_all and not (is_due and revision != self._shared_revision):
            if self._changed:
                await self._update_documents(partial(find, among=frozenset(self._changed)))
                self._changed.clear()
            return
        await self._update_documents(find)
        self._changed.clear()
        self._shared_at, self._shared_revision = now, revision

    async def _update_documents(self, find: FindDocuments) -> None:
        """Raises `DocumentContended` after all others if another writer kept changing one."""
        after, contended = "", None
        while page := await find(self._store.tenant, after=after, limit=_DOCUMENTS_PAGE):
            for document_id in page:
                try:
                    await self._update_document(document_id)
                except DocumentContended as error:
                    contended = error
            after = page[-1]
        if contended is not None:
            raise contended

    async def _update_document(self, document_id: str) -> None:
        tenant = self._store.tenant
        update = await self._services.tuples.reader_update(tenant, document_id)

        def revise(stored: Document | None) -> Document:
            before = () if stored is None else intended(stored).readers
            readers = update.readers(before, READERS_MAX)
            if stored is None or readers == before:
                raise _NothingToChange
            return replace(stored, readers=readers)

        try:
            await self._services.writer.put_access(
                tenant,
                document_id,
                revise,
                cause=update,
                parts=NO_PARTS,  # it changes the readers that others set
                may_publish=True,  # no tuple gives the reader public, which stays as it is
            )
        except _NothingToChange:
            if update.removed:
                await self._services.tuples.settle(tenant, update)


def _key(key: TupleKeyAnswer) -> TupleKey:
    return TupleKey(key.object, key.relation, key.user)


def _require_order(page: tuple[ChangeAnswer, ...], newest_at: datetime | None) -> None:
    """Raises `PositionLost` if a change is older than those before the page."""
    for change in page:
        if newest_at is not None and newest_at - change.timestamp > _DISORDER_MAX:
            raise PositionLost("OpenFGA gives changes that are older than earlier ones")


def _newest(page: tuple[ChangeAnswer, ...], before: datetime | None) -> datetime:
    newest = max(change.timestamp for change in page)
    return newest if before is None else max(newest, before)
