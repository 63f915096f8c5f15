"""Statements on one connection, called by name."""

import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import asyncpg

from index.postgres import statement_comment, statements
from index.postgres.functions import security_definer_functions
from index.postgres.functions.function_roles import Connection

Row: TypeAlias = Mapping[str, Any]
UniqueViolation: TypeAlias = asyncpg.UniqueViolationError  # what callers of a `Session` may catch
PreparedStatement: TypeAlias = "asyncpg.prepared_stmt.PreparedStatement[asyncpg.Record]"
ObserveStatement: TypeAlias = Callable[[str, float], None]

STATEMENTS = {
    name: text
    for name, text in statements.load().items()
    if name not in security_definer_functions.STATEMENTS
}
# Those that raise a revision or an access revision; their first argument is the tenant.
RAISING = frozenset(
    name
    for name, text in STATEMENTS.items()
    if re.search(r"revision = (access_)?revision \+", text)
)


@dataclass(frozen=True, slots=True)
class Session:
    """Statements on one connection; `observe` receives the name and seconds of each.

    numbers: the values of braces in a statement, where SQL takes no parameter.
    logged: whether changes are written to the audit log.
    statements: by name, those that the session may run.
    raised: the tenants whose counters are announced at the end: those that a statement has raised,
        and those that another writer may have raised without having announced it yet.
    prepared: by name, the statements of `prepare`.
    """

    connection: Connection
    observe: ObserveStatement
    logged: bool = True
    statements: Mapping[str, str] = field(default_factory=lambda: STATEMENTS)
    raised: set[str] = field(default_factory=set)
    prepared: dict[str, PreparedStatement] = field(default_factory=dict)

    async def prepare(self, name: str) -> None:
        """Prepare a statement, so that it takes one round trip; not behind a pooler.

        For connections that prepare nothing by themselves, such as `connections.direct_connection`.
        """
        self.prepared[name] = await self.connection.prepare(self.statements[name])

    async def rows(self, name: str, *arguments: Any, **numbers: int) -> Sequence[Row]:
        if name in RAISING:
            self.raised.add(arguments[0])
        statement = self.statements[name]
        if numbers:
            statement = statement.format(**{key: int(value) for key, value in numbers.items()})
        started_s = time.perf_counter()
        if name in self.prepared:
            rows = await self.prepared[name].fetch(*arguments)
        else:
            rows = await statement_comment.fetch(self.connection, statement, arguments)
        self.observe(name, time.perf_counter() - started_s)
        return cast("Sequence[Row]", rows)  # a Record maps names to values, without being a Mapping

    async def rows_each(self, name: str, argument_lists: Sequence[Sequence[Any]]) -> Sequence[Row]:
        """The rows of one statement, run with each list of arguments in one round trip."""
        started_s = time.perf_counter()
        rows = await self.connection.fetchmany(self.statements[name], argument_lists)
        self.observe(name, time.perf_counter() - started_s)
        return cast("Sequence[Row]", rows)

    async def batches(self, name: str, *arguments: Any, size: int) -> AsyncIterator[Sequence[Row]]:
        """The rows of a statement, at most `size` at a time; only in a transaction."""
        cursor = await self.connection.cursor(self.statements[name], *arguments)
        while rows := await cursor.fetch(size):
            yield cast("Sequence[Row]", rows)

    async def row(self, name: str, *arguments: Any) -> Row | None:
        rows = await self.rows(name, *arguments)
        return rows[0] if rows else None

    async def value(self, name: str, *arguments: Any) -> Any:
        row = await self.row(name, *arguments)
        return None if row is None else next(iter(row.values()))
