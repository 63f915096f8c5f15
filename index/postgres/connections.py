"""Connections to PostgreSQL, and what each has to be set to; driver exceptions end here.

Straight to the server, a connection says at its start what it is to be set to. A pooler in
transaction mode gives every transaction another server connection, and those are opened by none of
us: what they are set to are properties of their roles; see index/postgres/pooler.py.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from typing import Any, TypeAlias

import asyncpg
import orjson
from pgvector import SparseVector
from pgvector.asyncpg import register_vector

from index.errors import DatabaseUnavailable, PoolerRefused, RoleRefused
from index.postgres.search_role import Connection

Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"

CLOSE_TIMEOUT_S = 5.0
_STATEMENTS_MAX = 100  # that a connection keeps prepared: the driver's own limit
_APPLICATION = {"application_name": "nearhit"}  # which poolers pass on

# What no pooler passes on: one that shares its connections refuses it, or keeps it to itself.
_STRAIGHT = {"nearhit.straight": "yes"}
_IS_STRAIGHT = "SELECT current_setting('nearhit.straight', true) = 'yes'"
_PROBE_PREFIX = "nearhit_probe_"
_PROBE = "SELECT 'a statement that a pooler keeps'"
_PROBE_NAMES = """
SELECT coalesce(array_agg(name), '{}') FROM pg_prepared_statements WHERE statement = $1"""

# A plan must not change with what the planner believes of a table, or with a search's arguments: an
# index that fits is always used, and how to search is chosen in index/search/strategy.py.
_PLANNING = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_sort": "off",
    "jit": "off",  # compiling takes longer than any statement of ours runs
    "max_parallel_workers_per_gather": "0",  # so does starting a worker, below the crossover
}
# How far `search.nearest` goes, measured by `make bench-index`; and where graphs are built.
_GRAPH = {
    "maintenance_work_mem": "512MB",  # holds a graph of a million small vectors
    "hnsw.iterative_scan": "strict_order",
    "hnsw.ef_search": "800",
    "hnsw.max_scan_tuples": "40000",
    "hnsw.scan_mem_multiplier": "4",
}


def session(statement_timeout_s: float) -> Mapping[str, str]:
    """What a session that runs our statements has to be set to."""
    timeout_ms = str(round(statement_timeout_s * 1000))
    return {"statement_timeout": timeout_ms, **_PLANNING, **_GRAPH}


# What the driver raises while a server stops, starts, is killed, hangs, or is replaced; beside
# `InterfaceError`, which says too that an argument is wrong.
_AWAY = (
    asyncpg.PostgresConnectionError,  # "closed in the middle of operation"
    asyncpg.OperatorInterventionError,  # it stops, starts, recovers, or drops the database
    asyncpg.InsufficientResourcesError,
    asyncpg.TransactionRollbackError,
    asyncpg.ReadOnlySQLTransactionError,  # a standby
    asyncpg.InvalidAuthorizationSpecificationError,  # it has not been told who we are
    asyncpg.InvalidCatalogNameError,  # the database is being made anew
    asyncpg.ObjectNotInPrerequisiteStateError,  # it lets nobody in
    # A connection that ends between two statements, and types that were made anew meanwhile.
    asyncpg.InternalClientError,
    OSError,  # refused, reset, or out of time
)
LOST = (asyncpg.InterfaceError, asyncpg.PostgresError, asyncpg.InternalClientError, OSError)


@asynccontextmanager
async def direct_connection(
    url: str, settings: Mapping[str, str] = {}
) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    """One connection to the server itself, which is the same one for all that is done with it.

    Raises `DatabaseUnavailable`, and `PoolerRefused` if a pooler stands in between.
    """
    try:
        connection = await asyncpg.connect(
            url,
            server_settings={**_APPLICATION, **_STRAIGHT, **settings},
            statement_cache_size=0,  # so that a pooler, too, can be asked whether it is one
        )
    except (*LOST, ValueError) as error:
        if "unsupported startup parameter" in str(error):  # PgBouncer's words
            raise _in_between() from error
        raise DatabaseUnavailable(f"PostgreSQL can't be reached: {error}") from error
    try:
        if not await connection.fetchval(_IS_STRAIGHT):
            raise _in_between()
        yield connection
    finally:
        with suppress(*LOST):  # already
            await connection.close(timeout=CLOSE_TIMEOUT_S)


def pool(
    url: str,
    connections_max: int,
    statement_timeout_s: float,
    settings: Mapping[str, str] = {},
) -> AbstractAsyncContextManager[Pool]:
    """Straight to the server. settings: of each connection, beside those that plans hang on."""
    return _pool(
        url,
        connections_max,
        statement_timeout_s,
        init=_prepare,
        server_settings={**_APPLICATION, **settings, **session(statement_timeout_s)},
    )


def pooled(
    url: str, connections_max: int, statement_timeout_s: float, *, keeps_statements: bool
) -> AbstractAsyncContextManager[Pool]:
    """Through a pooler. keeps_statements: whether it does, as the function of that name says."""
    return _pool(
        url,
        connections_max,
        statement_timeout_s,
        init=_prepare_where_statements_are_kept if keeps_statements else _prepare,
        server_settings=_APPLICATION,
        statements_max=_STATEMENTS_MAX if keeps_statements else 0,
    )


async def keeps_statements(connection: Connection) -> bool:
    """Whether a pooler sees to it that a statement is known wherever its client gets to.

    One that does gives statements names of its own; else the server knows ours, or others' probes.
    """
    name = f"{_PROBE_PREFIX}{secrets.token_hex(8)}"
    async with connection.transaction():
        statement = await connection.prepare(_PROBE, name=name)
        names = await connection.fetchval(_PROBE_NAMES, statement.get_query())
        if name in names:
            await connection.execute(f"DEALLOCATE {name}")
    return not all(known.startswith(_PROBE_PREFIX) for known in names)


@asynccontextmanager
async def _pool(
    url: str,
    connections_max: int,
    statement_timeout_s: float,
    *,
    init: Callable[["asyncpg.Connection[asyncpg.Record]"], Coroutine[Any, Any, None]],
    server_settings: dict[str, str],
    statements_max: int = _STATEMENTS_MAX,
) -> AsyncIterator[Pool]:
    with unavailable(), _refused():
        made = await asyncpg.create_pool(
            url,
            min_size=1,
            max_size=connections_max,
            command_timeout=statement_timeout_s,  # should the server be too far gone for its own
            init=init,
            reset=_keep,
            server_settings=server_settings,
            statement_cache_size=statements_max,
        )
    try:
        yield made
    finally:
        try:
            await asyncio.wait_for(made.close(), CLOSE_TIMEOUT_S)
        except TimeoutError:
            made.terminate()


@contextmanager
def _refused() -> Iterator[None]:
    """A connection that may not act as the role that it asks for has none."""
    try:
        yield
    except (asyncpg.InvalidParameterValueError, asyncpg.InsufficientPrivilegeError) as error:
        raise RoleRefused(f"PostgreSQL refuses what Nearhit connects with: {error}") from error


async def _prepare_where_statements_are_kept(
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    """Another client's statement of the same name would be run for ours where they are not."""
    if not await keeps_statements(connection):
        raise DatabaseUnavailable("the pooler has kept prepared statements, and does no more")
    await _prepare(connection)


async def _prepare(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    await register_vector(connection)
    await connection.set_type_codec(
        "sparsevec",
        schema="public",
        encoder=lambda value: value if isinstance(value, bytes) else value.to_binary(),
        decoder=SparseVector.from_binary,
        format="binary",
    )
    await connection.set_type_codec(
        "jsonb",
        schema="pg_catalog",
        encoder=lambda value: orjson.dumps(value).decode(),
        decoder=orjson.loads,
    )


async def _keep(connection: Connection) -> None:
    """Leave a returned connection as it is: our statements leave nothing behind in a session.

    The driver's own reset costs a round trip for each request.
    """


def _in_between() -> PoolerRefused:
    return PoolerRefused(
        "a pooler stands before PostgreSQL: NEARHIT_DATABASE_URL has to lead to the server itself, "
        "and NEARHIT_POOLER_URL and NEARHIT_POOLER_SEARCH_URL to the pooler"
    )


@contextmanager
def unavailable() -> Iterator[None]:
    """What the driver raises when the server can't answer is `DatabaseUnavailable` then."""
    try:
        yield
    except _AWAY as error:
        raise DatabaseUnavailable(f"PostgreSQL did not answer: {type(error).__name__}") from error
    except asyncpg.InterfaceError as error:
        if isinstance(error, ValueError):  # an argument of ours that the driver can't encode
            raise
        raise DatabaseUnavailable("PostgreSQL closed the connection") from error
