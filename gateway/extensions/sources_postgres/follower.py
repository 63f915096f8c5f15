"""Follows one relation: copies it once, and then stores each change after it was committed there.

A change says which rows have changed, and no more: the rows are read again, in a snapshot that sees
the changes, as the relation has them then. So a document is never older than the changes before it,
and what a view joins needs no rule of its own.

1. Peek at the changes up to a position of the server's log.
2. In one snapshot, which sees their transactions, read the rows of the changed keys.
3. Store these rows; remove the documents of keys without one. A lease admits one process.
4. Record the position; from then on callers who wait for it are told.
5. Let the slot go on to it. Whoever dies before begins again at 1, and stores the same again.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from gateway.extension import Stores
from gateway.extensions._sources.source import Defaults
from gateway.extensions._sources.source_store import SourceStore
from gateway.extensions.sources_postgres.follower_store import ClaimedFollower, FollowerStore
from gateway.extensions.sources_postgres.postgres_schemas import PostgresSource
from gateway.extensions.sources_postgres.row_writer import RowWriter
from gateway.extensions.sources_postgres.server import followed_relation
from gateway.extensions.sources_postgres.server.change_message import Snapshot
from gateway.extensions.sources_postgres.server.errors import (
    CopyNeeded,
    SlotLost,
    SourceMisconfigured,
)
from gateway.extensions.sources_postgres.server.followed_relation import FollowedRelation
from gateway.extensions.sources_postgres.server.relation_reader import RelationReader
from gateway.extensions.sources_postgres.server.replication_slot import (
    Peeked,
    ReplicationSlot,
    is_before,
)
from index.documents.write_causes import Reading
from index.model.form import composed
from index.postgres.functions.function_roles import Connection
from ingest.write.writer import Writer

# Starting values, not measured.
POLL_S = 0.05
IDLE_RECORD_S = 0.2  # between two positions that are recorded without a change
ROWS_MAX = 1_000_000  # of a relation
VISIBLE_S_MAX = 60.0  # from the log to the snapshots of others: a synchronous standby may be slow


@dataclass(frozen=True, slots=True)
class FollowerParts:
    """What all followers of a process use."""

    stores: Stores
    writer: Writer
    followers: FollowerStore
    sources: SourceStore


@dataclass(slots=True)
class Follower:
    """copy_requested: whether somebody has asked for a copy since the last one began."""

    parts: FollowerParts
    claimed: ClaimedFollower
    config: PostgresSource
    defaults: Defaults
    connection: Connection
    on_progress: Callable[[], object] = lambda: None
    copy_requested: bool = False
    _slot: ReplicationSlot = field(init=False)
    _relation: FollowedRelation = field(init=False)
    _history: str = field(init=False)
    _lsn: str = field(init=False)
    _recorded_s: float = field(init=False, default=0.0)

    async def run(self) -> None:
        """Follow until this is cancelled. Raises `FollowingFailed`, and what writes raise."""
        await followed_relation.require_server(self.connection)
        self._slot = ReplicationSlot(self.connection, self.claimed.slot, self.config)
        self._relation = await followed_relation.read_relation(self.connection, self.config)
        self._history = await self._slot.history()
        await self._resume()
        self.on_progress()
        while True:
            try:
                await self._follow()
            except SlotLost:
                await self._copy(await self._slot.create())
            except CopyNeeded:
                await self._copy(await self._slot.confirmed())

    async def _resume(self) -> None:
        """Go on where the last process stopped, or copy."""
        claimed = self.claimed
        try:
            await self._require_slot()
        except SlotLost:
            await self._copy(await self._slot.create())
            return
        if claimed.lsn is None or claimed.definition != self._relation.definition:
            await self._copy(await self._slot.confirmed())
            return
        self._lsn = claimed.lsn
        await self.parts.sources.record_following(claimed.tenant, claimed.source)

    async def _require_slot(self) -> None:
        """Raises `SlotLost` unless the slot has all changes since the recorded position."""
        confirmed = await self._slot.confirmed()
        lsn = self.claimed.lsn
        if lsn is None:
            return
        if self.claimed.history != self._history:
            raise SlotLost("The server's log is another one.")
        if is_before(await self._slot.end_of_log(), lsn) or is_before(lsn, confirmed):
            raise SlotLost("The server's log has gone back.")

    async def _follow(self) -> None:
        """Store changes as they come. Raises `CopyNeeded`."""
        while True:
            if self.copy_requested:
                raise CopyNeeded("A copy was requested.")
            end = await self._slot.end_of_log()
            if end == self._lsn or not await self._round(end):
                await asyncio.sleep(POLL_S)

    async def _round(self, end: str) -> bool:
        """Store the next changes, up to a position; whether there were any."""
        peeked = await self._slot.peek(end)
        if peeked.keys.copy_because:
            async with self._snapshot_with(peeked):
                pass  # each later one sees them, too
            await self._copy(peeked.lsn)
            await self._slot.advance(peeked.lsn)
            return True
        if peeked.xids:
            await self._store(peeked)
        elif not self._is_record_due():
            return False
        else:
            await self._require_definition()  # the log of changes does not tell of it
        await self._record(peeked.lsn)
        await self._slot.advance(peeked.lsn)
        return bool(peeked.xids)

    async def _store(self, peeked: Peeked) -> None:
        """Store the rows whose keys have changed. Raises `CopyNeeded`."""
        writer = await self._row_writer()
        async with self._snapshot_with(peeked):
            await self._require_definition()
            reader = self._reader()
            keys = await reader.keys_of(peeked.keys.values)
            async for rows in reader.rows_of(keys):
                await writer.add(rows)
            await writer.flush()
        await writer.remove({composed(key) for key in keys} - writer.read)

    async def _copy(self, lsn: str) -> None:
        """Store all rows, and remove what is no row. lsn: what the snapshots of now see."""
        claimed, parts = self.claimed, self.parts
        self.copy_requested = False
        await parts.followers.begin_copy(claimed.lease)
        self._relation = await followed_relation.read_relation(self.connection, self.config)
        writer = await self._row_writer()
        async with self.connection.transaction(isolation="repeatable_read", readonly=True):
            async for rows in self._reader().all_rows():
                await writer.add(rows)
                if len(writer.read) > ROWS_MAX:
                    raise SourceMisconfigured(f"The relation has more than {ROWS_MAX:,} rows.")
            await writer.flush()
        await writer.remove_others()
        await self._record(lsn)
        await parts.sources.record_run(
            claimed.tenant,
            claimed.source,
            writer.report.counts,
            pending_removals=None,
            confirmed_removals=None,
        )

    @asynccontextmanager
    async def _snapshot_with(self, peeked: Peeked) -> AsyncIterator[None]:
        """A snapshot that sees the changes: they stand in the log before anybody may see them."""
        async with asyncio.timeout(VISIBLE_S_MAX) as limit:
            while True:
                transaction = self.connection.transaction(
                    isolation="repeatable_read", readonly=True
                )
                await transaction.start()
                text = await self.connection.fetchval("SELECT pg_current_snapshot()::text")
                if Snapshot.parse(text).sees(peeked.xids):
                    break
                await transaction.rollback()
                await asyncio.sleep(POLL_S)
            limit.reschedule(None)
            try:
                yield
            finally:
                await transaction.rollback()

    async def _require_definition(self) -> None:
        relation = await followed_relation.read_relation(self.connection, self.config)
        if relation.definition != self._relation.definition:
            raise CopyNeeded("The relation, or a table that it reads, has been changed.")

    def _is_record_due(self) -> bool:
        """Whether a position is recorded although nothing has changed here."""
        return asyncio.get_running_loop().time() - self._recorded_s >= IDLE_RECORD_S

    async def _record(self, lsn: str) -> None:
        await self.parts.followers.record(
            self.claimed.lease, self._history, self._relation.definition, lsn
        )
        self._lsn, self._recorded_s = lsn, asyncio.get_running_loop().time()

    async def _row_writer(self) -> RowWriter:
        parts = self.parts
        reading = Reading(await parts.stores.documents.next_sequence(), self.claimed.lease)
        return RowWriter(
            parts.stores, parts.writer, self.claimed, self.config, self.defaults, reading
        )

    def _reader(self) -> RelationReader:
        return RelationReader(self.connection, self.config, self._relation.types)
