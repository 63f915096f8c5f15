"""A logical replication slot on a followed server, read with SQL: peek, store, then advance.

What was peeked and not stored is peeked again, so nothing is lost when a process dies in between.
"""

import asyncio
from dataclasses import dataclass

import asyncpg

from gateway.extensions.sources_postgres.postgres_schemas import PostgresSource
from gateway.extensions.sources_postgres.server.change_message import (
    ChangedKeys,
    lsn_number,
    lsn_text,
)
from gateway.extensions.sources_postgres.server.errors import (
    ServerUnreachable,
    SlotLost,
    SourceMisconfigured,
)
from index.postgres.functions.function_roles import Connection

# Starting values, not measured.
CREATE_S_MAX = 60.0
PEEK_S_MAX = 600.0  # a transaction is decoded as a whole
MESSAGES_MAX = 10_000  # of a peek, but for one transaction that has more
MESSAGE_BYTES_MAX = 65_536  # that are read of a message
KEYS_MAX = 100_000  # of a peek; with more, everything is copied anew
WAL_BYTES_MAX = 16 * 2**30  # that a slot keeps for a follower that comes back
_FETCHED = 200  # messages at once

_HISTORY = """
SELECT system_identifier || '/' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8) AS history
FROM pg_control_system()"""
_STATE = """
SELECT
    confirmed_flush_lsn::text AS lsn,
    plugin = 'pgoutput' AND database = current_database()
        AND wal_status IS DISTINCT FROM 'lost' AS is_usable,
    pg_current_wal_flush_lsn() - restart_lsn AS kept_bytes
FROM pg_replication_slots WHERE slot_name = $1"""
_PEEK = """
SELECT xid::text::bigint AS xid, substring(data FROM 1 FOR $5) AS data
FROM pg_logical_slot_peek_binary_changes(
    $1, $2::text::pg_lsn, $3, 'proto_version', '1', 'publication_names', quote_ident($4)
)"""

_ADVANCE = """
SELECT pg_replication_slot_advance(slot_name, $2::text::pg_lsn) FROM pg_replication_slots
WHERE slot_name = $1 AND confirmed_flush_lsn < $2::text::pg_lsn"""


@dataclass(frozen=True, slots=True)
class Peeked:
    """The changes up to a position, and the transactions that made them."""

    keys: ChangedKeys
    xids: frozenset[int]
    lsn: str


class ReplicationSlot:
    def __init__(self, connection: Connection, name: str, config: PostgresSource) -> None:
        self._connection = connection
        self._name = name
        self._config = config
        self._columns = {table.table: table.key for table in config.tables}

    async def history(self) -> str:
        """The identity of the server's log: another one after a failover or a restore."""
        return str(await self._connection.fetchval(_HISTORY))

    async def end_of_log(self) -> str:
        return str(await self._connection.fetchval("SELECT pg_current_wal_flush_lsn()::text"))

    async def confirmed(self) -> str:
        """The position that it stands at. Raises `SlotLost`."""
        row = await self._connection.fetchrow(_STATE, self._name)
        if row is None or not row["is_usable"]:
            raise SlotLost("The slot is gone.")
        if row["kept_bytes"] is not None and row["kept_bytes"] > WAL_BYTES_MAX:
            raise SlotLost(f"The slot keeps more than {WAL_BYTES_MAX >> 30} GiB of the log.")
        return str(row["lsn"])

    async def create(self) -> str:
        """A new one in place of what is there; the position after which it has all changes."""
        await self.drop()
        try:
            lsn = await self._connection.fetchval(
                "SELECT lsn::text FROM pg_create_logical_replication_slot($1, 'pgoutput')",
                self._name,
                timeout=CREATE_S_MAX,
            )
        except TimeoutError:
            raise ServerUnreachable(
                f"A transaction has been open for {CREATE_S_MAX:.0f} s, and a new slot waits for "
                "its end: see pg_stat_activity."
            ) from None
        except asyncpg.ConfigurationLimitExceededError:
            raise SourceMisconfigured(
                "All replication slots are in use. Raise max_replication_slots, or drop a slot."
            ) from None
        return str(lsn)

    async def drop(self) -> None:
        await self._connection.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots "
            "WHERE slot_name = $1",
            self._name,
        )

    async def peek(self, until: str) -> Peeked:
        """What comes next, up to a position, in whole transactions. Raises `SlotLost`."""
        keys, xids, number = ChangedKeys(self._columns), set[int](), 0
        arguments = (self._name, until, MESSAGES_MAX, self._config.publication, MESSAGE_BYTES_MAX)
        try:
            async with self._connection.transaction():
                cursor = await self._connection.cursor(_PEEK, *arguments, timeout=PEEK_S_MAX)
                while rows := await cursor.fetch(_FETCHED, timeout=PEEK_S_MAX):
                    number += len(rows)
                    for row in rows:
                        xids.add(row["xid"])
                        keys.read(row["data"])
                    if keys.number > KEYS_MAX and not keys.copy_because:
                        keys.copy_because = f"more than {KEYS_MAX:,} documents have changed"
                    if keys.copy_because:
                        keys.values.clear()
                    await asyncio.sleep(0)  # others have their turn
        except asyncpg.UndefinedObjectError:  # it was another publication when rows were changed
            raise SlotLost("The publication is another one.") from None
        is_whole = number < MESSAGES_MAX
        return Peeked(keys, frozenset(xids), until if is_whole else lsn_text(keys.end))

    async def advance(self, lsn: str) -> None:
        """Let the server forget what comes before."""
        await self._connection.execute(_ADVANCE, self._name, lsn)


def is_before(lsn: str, other: str) -> bool:
    return lsn_number(lsn) < lsn_number(other)
