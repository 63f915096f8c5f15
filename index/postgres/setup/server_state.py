"""What an operator has to know of a server although it answers searches."""

from collections.abc import Sequence

import asyncpg

from index.postgres import statements
from index.postgres.functions.function_roles import Connection
from index.postgres.setup.database_problem import DatabaseProblem

_STATEMENT = statements.load()["index_meta.server_state"]


async def problems(connection: Connection) -> Sequence[DatabaseProblem]:
    """Whether the server only reads, or sorts text in another way than its indexes."""
    state = await _read(connection)
    return [*_read_only(state), *_collation(state)]


async def problems_of_writers(connection: Connection) -> Sequence[DatabaseProblem]:
    return _read_only(await _read(connection))


async def _read(connection: Connection) -> asyncpg.Record:
    state = await connection.fetchrow(_STATEMENT)
    assert state is not None, "it returns one row"
    return state


def _read_only(state: asyncpg.Record) -> Sequence[DatabaseProblem]:
    if state["is_standby"]:
        return [DatabaseProblem("the server is a standby, which only reads: name the primary")]
    if state["is_read_only"]:
        text = "the database only reads: end default_transaction_read_only"
        return [DatabaseProblem(text, state["read_only_remedy"] or "")]
    return []


def _collation(state: asyncpg.Record) -> Sequence[DatabaseProblem]:
    if not state["has_changed"]:
        return []
    text = (
        "PostgreSQL's library sorts text in another way than when the indexes were made "
        f"(collation {state['stored']} → {state['actual']})"
    )
    remedy = (
        f"REINDEX DATABASE {state['database']}; "
        f"ALTER DATABASE {state['database']} REFRESH COLLATION VERSION;"
    )
    return [DatabaseProblem(text, remedy)]
