"""The relation tuples of each tenant, the position up to which they are known, and what follows.

Memberships change in the transaction that moves the position. Documents follow their readers after
it, each in a transaction of its own that `gateway.extensions.openfga.reader_update` guards.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Literal, TypeAlias

from gateway.extensions.openfga.errors import TuplesMoved
from gateway.extensions.openfga.reader_update import ReaderUpdate
from index.audit import audit_log
from index.errors import TenantMissing
from index.postgres.database import Database
from index.postgres.session import Row, Session

NESTED_MAX = 25  # OpenFGA's own default, `resolveNodeLimit`
ROWS_MAX = 10_000  # of one statement, which has 30 seconds; 3 on a busy machine

TupleKind: TypeAlias = Literal["member", "nested", "reader"]


@dataclass(frozen=True, slots=True)
class TupleKey:
    """A relation tuple as OpenFGA names it. holder: its `user`."""

    object: str
    relation: str
    holder: str


@dataclass(frozen=True, slots=True)
class TupleMeaning:
    """What a tuple means here: `grantee` is a member of the group `target`, or reads it.

    grantee: a subject, a nested group, or a reader token.
    """

    kind: TupleKind
    target: str
    grantee: str


# By key, what a tuple means from now on; None: nothing.
TupleChanges: TypeAlias = Mapping[TupleKey, TupleMeaning | None]


@dataclass(frozen=True, slots=True)
class StorePosition:
    """Up to where the changes of a store are applied.

    sequence: of the row, for its next change. The other fields: see migrations/0001_schema.sql.
    """

    store_id: str = ""
    meaning: str = ""
    continuation_token: str = ""
    changes_from: datetime | None = None
    changed_at: datetime | None = None
    read_at: datetime | None = None
    as_of: datetime | None = None
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class StoreProgress:
    """as_of: all that OpenFGA had by then is applied; lag_s: how long ago that was."""

    as_of: datetime
    lag_s: float


class TupleStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def position(self, tenant: str) -> StorePosition:
        """Raises `TenantMissing`."""
        await self._database.rows("openfga.add_store", tenant)
        row = await self._database.row("openfga.get_store", tenant)
        if row is None:
            raise TenantMissing(tenant)
        return StorePosition(**{each.name: row[each.name] for each in fields(StorePosition)})

    async def apply(
        self, tenant: str, changes: TupleChanges, position: StorePosition
    ) -> StorePosition:
        """Apply changes, and move to the position; its `sequence` is that of the earlier one.

        Raises `TuplesMoved` if another worker has moved the store since.
        """
        async with self._database.transaction() as session:
            moved = await _move(session, tenant, position)
            gone = await _in_parts(session, "openfga.delete_tuples", tenant, _columns(changes))
            await _put(session, tenant, changes)
            targets: dict[str, set[str]] = defaultdict(set)
            for row in gone:
                targets[row["kind"]].add(row["target"])
            for meaning in changes.values():
                if meaning is not None:
                    targets[meaning.kind].add(meaning.target)
            changed = sorted(targets["member"] | targets["nested"])
            if changed:
                groups = await session.rows("openfga.affected_groups", tenant, changed)
                await _update_members(session, tenant, _ids(groups))
            if targets["reader"]:
                await _update_readers(session, tenant, sorted(targets["reader"]))
            return moved

    async def replace(
        self, tenant: str, changes: TupleChanges, position: StorePosition
    ) -> StorePosition:
        """As `apply`, with all tuples of the store: others are forgotten, with what they gave.

        Memberships that were removed here by other means come back.
        """
        meaningful = {key: meaning for key, meaning in changes.items() if meaning is not None}
        async with self._database.transaction() as session:
            moved = await _move(session, tenant, position)
            stored = {
                TupleKey(row["object"], row["relation"], row["holder"]): TupleMeaning(
                    row["kind"], row["target"], row["grantee"]
                )
                for row in await session.rows("openfga.all_tuples", tenant)
            }
            gone = stored.keys() - meaningful.keys()
            await _in_parts(session, "openfga.delete_tuples", tenant, _columns(gone))
            new = {
                key: meaning for key, meaning in meaningful.items() if stored.get(key) != meaning
            }
            await _put(session, tenant, new)
            groups = await session.rows("openfga.all_groups", tenant)
            await _update_members(session, tenant, _ids(groups), repairs=True)
            await _update_readers(session, tenant, None)
            return moved

    async def revision(self, tenant: str) -> int:
        """The tenant's revision, which each change of a document raises. Raises `TenantMissing`."""
        row = await self._database.row("openfga.revision", tenant)
        if row is None:
            raise TenantMissing(tenant)
        revision: int = row["revision"]
        return revision

    async def documents_to_restrict(self, tenant: str, *, after: str, limit: int) -> list[str]:
        """Documents that may have readers whom the tuples no longer name, by id."""
        rows = await self._database.rows("openfga.documents_to_restrict", tenant, after, limit)
        return [row["document_id"] for row in rows]

    async def documents_to_share(
        self, tenant: str, *, after: str, limit: int, among: Collection[str] | None = None
    ) -> list[str]:
        """Documents that lack readers whom the tuples name, by id; among: None for all."""
        documents = None if among is None else list(among)
        rows = await self._database.rows(
            "openfga.documents_to_share", tenant, after, limit, documents
        )
        return [row["document_id"] for row in rows]

    async def reader_update(self, tenant: str, document_id: str) -> ReaderUpdate:
        rows = await self._database.rows("openfga.readers_of", tenant, document_id)
        return ReaderUpdate.of(document_id, rows)

    async def settle(self, tenant: str, update: ReaderUpdate) -> None:
        """Record that a document follows the tuples already, or does not exist."""
        async with self._database.transaction() as session:
            await session.rows("documents.lock", tenant, [update.document_id])
            await update.settle(session, tenant)

    async def record_as_of(self, tenant: str, position: StorePosition, as_of: datetime) -> None:
        await self._database.rows("openfga.put_as_of", tenant, position.sequence, as_of)

    async def progress(self, tenants: Collection[str]) -> dict[str, StoreProgress]:
        """By tenant; those whose tuples have never been applied are left out."""
        rows = await self._database.rows("openfga.as_of", list(tenants))
        return {row["tenant"]: StoreProgress(row["as_of"], row["lag_s"]) for row in rows}


async def _move(session: Session, tenant: str, position: StorePosition) -> StorePosition:
    sequence: int | None = await session.value(
        "openfga.move_store",
        tenant,
        position.sequence,
        position.store_id,
        position.meaning,
        position.continuation_token,
        position.changes_from,
        position.changed_at,
        position.read_at,
    )
    if sequence is None:
        raise TuplesMoved(tenant)
    return replace(position, sequence=sequence)


async def _put(session: Session, tenant: str, changes: TupleChanges) -> None:
    meaningful = {key: meaning for key, meaning in changes.items() if meaning is not None}
    if meaningful:
        meanings = list(meaningful.values())
        columns = (
            *_columns(meaningful),
            [meaning.kind for meaning in meanings],
            [meaning.target for meaning in meanings],
            [meaning.grantee for meaning in meanings],
        )
        await _in_parts(session, "openfga.put_tuples", tenant, columns)


async def _update_members(
    session: Session, tenant: str, groups: Sequence[str], *, repairs: bool = False
) -> None:
    """Bring the groups' memberships to what the tuples say; keys lose groups that end.

    repairs: also add memberships that were removed by other means.
    """
    rows = await session.rows("openfga.members_by_tuples", tenant, groups, NESTED_MAX)
    wanted = set(map(_pair, rows))
    stored = set(map(_pair, await session.rows("openfga.members", tenant, groups)))
    removed, added = sorted(stored - wanted), sorted(wanted - stored)
    if removed:
        await _in_parts(session, "openfga.remove_members", tenant, _pairs(removed))
    if added:
        await _in_parts(session, "openfga.add_members", tenant, _pairs(added))
    if repairs:
        memberships = await session.rows("openfga.memberships", tenant, groups)
        added = sorted(wanted - set(map(_pair, memberships)))
    if not added and not removed:
        return
    names = sorted({group for group, _ in added + removed})
    await session.rows("openfga.create_groups", tenant, sorted({group for group, _ in added}))
    await session.rows("openfga.lock_groups", tenant, names)
    changed = False
    if removed:
        if await session.rows("openfga.lock_keys", tenant, *_pairs(removed)):
            await _in_parts(session, "openfga.strip_keys", tenant, _pairs(removed))
            changed = True
        gone = await _in_parts(session, "openfga.remove_memberships", tenant, _pairs(removed))
        changed |= await _log(session, tenant, "member.remove", gone)
    if added:
        new = await _in_parts(session, "openfga.add_memberships", tenant, _pairs(added))
        changed |= await _log(session, tenant, "member.add", new)
    if changed:
        await session.rows("provisioning.raise_access_revision", tenant)


async def _update_readers(session: Session, tenant: str, documents: Sequence[str] | None) -> None:
    """Bring the readers of these documents, or of all, to what the tuples say."""
    given = await session.rows("openfga.readers_by_tuples", tenant, documents)
    wanted = {(row["document_id"], row["reader"]) for row in given}
    rows = await session.rows("openfga.readers", tenant, documents)
    stored = {(row["document_id"], row["reader"]) for row in rows}
    for pairs, is_removed in ((stored - wanted, True), (wanted - stored, False)):
        if pairs:
            columns = _pairs(sorted(pairs))
            await _in_parts(session, "openfga.put_readers", tenant, columns, is_removed)


async def _in_parts(
    session: Session,
    statement: str,
    tenant: str,
    columns: Sequence[Sequence[str]],
    *arguments: object,
) -> list[Row]:
    """Run a statement with all rows of the columns, `ROWS_MAX` at a time."""
    rows = list[Row]()
    for start in range(0, len(columns[0]), ROWS_MAX):
        part = [column[start : start + ROWS_MAX] for column in columns]
        rows += await session.rows(statement, tenant, *part, *arguments)
    return rows


async def _log(session: Session, tenant: str, action: str, rows: Sequence[Row]) -> bool:
    """Log the memberships by group; whether there were any."""
    members: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        members[row["group_id"]].append(row["subject"])
    for group in sorted(members):
        for part in audit_log.parts(sorted(members[group])):
            await audit_log.append(session, tenant, action, group, members=list(part))
    return bool(rows)


def _columns(keys: Collection[TupleKey]) -> tuple[list[str], list[str], list[str]]:
    return (
        [key.object for key in keys],
        [key.relation for key in keys],
        [key.holder for key in keys],
    )


def _pair(row: Row) -> tuple[str, str]:
    return row["group_id"], row["subject"]


def _pairs(pairs: Sequence[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """Two columns, for statements that take pairs."""
    return [first for first, _ in pairs], [second for _, second in pairs]


def _ids(rows: Sequence[Row]) -> list[str]:
    return [row["group_id"] for row in rows]
