"""What a tenant keeps of earlier revisions, in the tables `past_*`.

Triggers keep each row that a write changes or removes, with the revisions at which it was so. A
search of an earlier revision runs the statements of any search: temporary views hide the tables,
and show the rows of that revision.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from index.audit.audit_log import append
from index.postgres.database import Database
from index.postgres.functions import security_definer_functions
from index.postgres.session import STATEMENTS, Row, Session

PRUNED_MAX = 10_000  # rows of a table and a tenant at once
DOCUMENTS_MAX = 100  # named of one change

_TRIGGERS = [name for name in STATEMENTS if name.startswith("replay.keep_past_")]
# That of `tenants` comes last: others read the table.
_VIEWS = "".join(text for name, text in STATEMENTS.items() if name.startswith("replay.see_"))


@dataclass(frozen=True, slots=True)
class Past:
    """One revision of a tenant, until the transaction ends.

    statements: those of searches, over the rows of the revision.
    is_complete: nothing that the tenant had at the revision was forgotten since.
    """

    revision: int
    current_revision: int
    statements: Session
    history: str
    embedding_space: str
    analyser: str
    languages: frozenset[str]
    vocabulary_size: int
    is_complete: bool

    async def groups(self, subject: str, tenant: str) -> tuple[str, ...]:
        """Of which the subject was a member."""
        rows = await self.statements.rows("replay.groups", tenant, subject)
        return tuple(row["group_id"] for row in rows)


class PastStore:
    """Methods raise `DatabaseUnavailable`."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def keep(self, tenant: str, days: int) -> None:
        """Keep past versions from now on; 0 days end it, and what is kept is deleted."""
        if days:
            await self._make_triggers()
        async with self.database.transaction() as session:
            if days:
                await session.rows("replay.keep", tenant, days)
            else:
                await session.rows("replay.keep_none", tenant)
            await append(session, tenant, "replay.keep", days=days)

    async def window(self, tenant: str) -> Row | None:
        """What the tenant keeps; None for nothing."""
        return await self.database.row("replay.window", tenant)

    async def changes(self, tenant: str, revision: int) -> Row | None:
        """When a revision was committed, and the first documents that it changed."""
        return await self.database.row("replay.changes", tenant, revision, DOCUMENTS_MAX)

    @asynccontextmanager
    async def past(self, tenant: str, revision: int) -> AsyncIterator[Past | None]:
        """The revision, in a transaction of its own; None if it is outside of the window."""
        async with self.database.session() as session:
            transaction = session.connection.transaction(isolation="repeatable_read")
            await transaction.start()
            try:
                row = await session.row("replay.at", tenant, revision)
                yield None if row is None else await _past(session, revision, row)
            finally:
                if not session.connection.is_closed():
                    await transaction.rollback()

    async def prune(self) -> None:
        """Delete what is older than the windows."""
        await self.database.rows("replay.shorten")
        deleted = PRUNED_MAX
        while deleted >= PRUNED_MAX:
            (row,) = await self.database.rows("replay.prune", PRUNED_MAX)
            deleted = row["count"]

    async def _make_triggers(self) -> None:
        """Each in a transaction of its own: it waits for the writers of one table alone."""
        for name in _TRIGGERS:
            async with self.database.transaction() as session:
                there = {row["name"] for row in await session.rows("replay.triggers")}
                if name.removeprefix("replay.") not in there:
                    await session.rows(name)


async def _past(session: Session, revision: int, row: Row) -> Past:
    await session.connection.execute(_VIEWS)
    statements = {**STATEMENTS, **security_definer_functions.STATEMENTS}
    return Past(
        revision=revision,
        current_revision=row["current_revision"],
        statements=replace(session, statements=statements),
        history=row["history"],
        embedding_space=row["embedding_space"],
        analyser=row["analyser"],
        languages=frozenset(row["languages"]),
        vocabulary_size=row["vocabulary_size"],
        is_complete=row["is_complete"],
    )
