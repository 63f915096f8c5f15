"""Connections to PostgreSQL and their settings; driver exceptions end here.

A direct connection sends its settings when it starts. A pooler in transaction mode may run every
transaction on another server connection, which Nearhit did not open: there the settings are
properties of the roles; see index/postgres/pooler.py.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from types import TracebackType
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

import asyncpg
import orjson
from pgvector import SparseVector
from pgvector.asyncpg import register_vector

from index.errors import (
    DatabaseCondition,
    DatabaseUnavailable,
    PoolerRefused,
    RoleRefused,
    UnstorableText,
)
from index.postgres import driver_connection
from index.postgres.driver_connection import DriverConnection, ListeningConnection, ServerTypes
from index.postgres.functions.function_roles import Connection

Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"

CLOSE_TIMEOUT_S = 5.0
ACQUIRE_TIMEOUT_S = 5.0  # a starting value, not measured; after it a caller gets a 503
_STATEMENTS_MAX = 100  # prepared on a connection; the driver's default
_APPLICATION = {"application_name": "nearhit"}  # poolers pass it on

# No pooler that shares connections passes this on: it refuses or ignores it.
_DIRECT_MARK = {"nearhit.straight": "yes"}
IS_DIRECT = "current_setting('nearhit.straight', true) = 'yes'"
_PROBE_PREFIX = "nearhit_probe_"
_PROBE = "SELECT 'a statement that a pooler keeps'"
_PROBE_NAMES = """
SELECT coalesce(array_agg(name), '{}') FROM pg_prepared_statements WHERE statement = $1"""

# A plan must not depend on the planner's statistics or a search's arguments: a fitting index is
# always used, and index/search/tables/strategy.py chooses the way to search.
_PLANNING = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_sort": "off",
    "jit": "off",  # compiling takes longer than any statement of ours runs
    "max_parallel_workers_per_gather": "0",  # so does starting a worker, below the crossover
}
# The reach of `search.nearest`, measured by `make bench-index`, and the memory to build graphs.
_GRAPH = {
    "maintenance_work_mem": "512MB",  # holds a graph of a million small vectors
    "hnsw.iterative_scan": "strict_order",
    "hnsw.ef_search": "800",
    "hnsw.max_scan_tuples": "40000",
    "hnsw.scan_mem_multiplier": "4",
}


def session(statement_timeout_s: float) -> Mapping[str, str]:
    """The settings of a session that runs our statements."""
    timeout_ms = str(round(statement_timeout_s * 1000))
    return {"statement_timeout": timeout_ms, **_PLANNING, **_GRAPH}


# In the message of an `InterfaceError` about the number of arguments.
_HAS_WRONG_ARGUMENTS = "for this query"

# The driver's errors while a server stops, starts, is killed, hangs, or is replaced; except
# `InterfaceError`, which also reports a wrong argument.
_UNAVAILABLE_ERRORS = (
    asyncpg.PostgresConnectionError,  # "closed in the middle of operation"
    asyncpg.OperatorInterventionError,  # it stops, starts, recovers, or drops the database
    asyncpg.InsufficientResourcesError,
    asyncpg.TransactionRollbackError,
    asyncpg.ReadOnlySQLTransactionError,  # a standby
    asyncpg.InvalidAuthorizationSpecificationError,  # it does not know our user yet
    asyncpg.InvalidCatalogNameError,  # the database is being recreated
    asyncpg.ObjectNotInPrerequisiteStateError,  # it accepts no connections
    # A connection that ends between two statements, and types that were recreated meanwhile.
    asyncpg.InternalClientError,
    OSError,  # refused, reset, or out of time
)
# By SQLSTATE. Source: PostgreSQL's documentation, appendix A, "PostgreSQL Error Codes".
_CONDITIONS = {
    "25006": DatabaseCondition.READ_ONLY,  # read_only_sql_transaction
    "53100": DatabaseCondition.FULL,  # disk_full
    "53300": DatabaseCondition.CONNECTIONS,  # too_many_connections
    "57P01": DatabaseCondition.RESTARTING,  # admin_shutdown
    "57P02": DatabaseCondition.RESTARTING,  # crash_shutdown
    "57P03": DatabaseCondition.RESTARTING,  # cannot_connect_now
}
_ONLY_READS = "PostgreSQL only reads: name the primary, or end default_transaction_read_only"
LOST = (asyncpg.InterfaceError, asyncpg.PostgresError, asyncpg.InternalClientError, OSError)


@asynccontextmanager
async def direct_connection(
    url: str, settings: Mapping[str, str] = {}, *, verifies: bool = True
) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    """One connection to the server itself, without a pooler.

    verifies: whether to ask the server, in two round trips, if it is. Else only a pooler that
        refuses unknown settings is noticed.

    Raises `DatabaseUnavailable`, and `PoolerRefused` if a pooler is in between.
    """
    try:
        with _url_errors():
            connection = await asyncpg.connect(
                url,
                server_settings={**_APPLICATION, **_DIRECT_MARK, **settings},
                statement_cache_size=0,  # so that the query below works on a pooler too
                connection_class=ListeningConnection,
            )
    except LOST as error:
        if "unsupported startup parameter" in str(error):  # PgBouncer's words
            raise _pooler_in_between() from error
        server = f"PostgreSQL{_place(url)}"
        if isinstance(error, asyncpg.InsufficientPrivilegeError):
            raise DatabaseUnavailable(
                f"{server} {_refusal(error)}; an administrator runs {_grant_connect(url)}"
            ) from error
        reason = _refusal(error) or f"can't be reached: {error}"
        raise DatabaseUnavailable(f"{server} {reason}") from error
    try:
        if verifies:
            await verify_direct(connection)
        yield connection
    except BaseException:
        connection.terminate()  # a server that is silent would not confirm that it is closed
        raise
    with suppress(*LOST):  # already
        await connection.close(timeout=CLOSE_TIMEOUT_S)


@contextmanager
def _url_errors() -> Iterator[None]:
    """Turn the driver's error of a URL into one that repeats no part of a password."""
    try:
        yield
    except (asyncpg.InterfaceError, OSError):  # of a setting, of a certificate: also `ValueError`
        raise
    except ValueError:
        raise DatabaseUnavailable(
            "the URL of PostgreSQL is not valid; write special characters of a password as %XX"
        ) from None


def _refusal(error: BaseException) -> str:
    """What the server says if it lets the login not in; empty for any other error."""
    refusals = (
        asyncpg.InvalidAuthorizationSpecificationError,  # a wrong password is one
        asyncpg.InvalidCatalogNameError,  # there is no such database
        asyncpg.InsufficientPrivilegeError,  # to connect to it
    )
    return f"refuses the login: {error.args[0]}" if isinstance(error, refusals) else ""


def _grant_connect(url: str) -> str:
    """The statement by which the URL's login may connect to its database."""
    parts = urlsplit(url)
    names = (unquote(parts.path.removeprefix("/")), unquote(parts.username or ""))
    database, login = ('"{}"'.format(name.replace('"', '""')) if name else "…" for name in names)
    return f"GRANT CONNECT ON DATABASE {database} TO {login};"


def _place(url: str) -> str:
    """Where the URL leads, without the password; empty if it names no host.

    A password with one of `/?#` ends what is read as the host: the `@` is then behind it.
    """
    credentials, _, host = urlsplit(url).netloc.rpartition("@")
    return f" at {host}" if host and (credentials or "@" not in url) else ""


async def verify_direct(connection: Connection) -> None:
    """Raises `PoolerRefused` if a pooler is in between."""
    if not await connection.fetchval(f"SELECT {IS_DIRECT}"):
        raise _pooler_in_between()


def pool(
    url: str,
    connections_max: int,
    statement_timeout_s: float,
    settings: Mapping[str, str] = {},
    *,
    types: ServerTypes | None = None,
    connections_min: int = 1,
) -> AbstractAsyncContextManager[Pool]:
    """A pool of direct connections.

    settings: of each connection, beside those of `session`.
    types: of the database, which pools that lead to it may share.
    connections_min: opened at once; with 0 the pool is there even if the server is not.
    """
    return _pool(
        url,
        connections_max,
        statement_timeout_s,
        init=_prepare,
        server_settings={**_APPLICATION, **settings, **session(statement_timeout_s)},
        types=types or ServerTypes(),
        connections_min=connections_min,
    )


def pooled(
    url: str,
    connections_max: int,
    statement_timeout_s: float,
    *,
    types: ServerTypes,
    keeps_statements: bool,
) -> AbstractAsyncContextManager[Pool]:
    """A pool of connections through a pooler. keeps_statements: see the function of that name."""
    return _pool(
        url,
        connections_max,
        statement_timeout_s,
        init=_prepare_if_statements_are_kept if keeps_statements else _prepare,
        server_settings=_APPLICATION,
        types=types,
        statements_max=_STATEMENTS_MAX if keeps_statements else 0,
    )


async def keeps_statements(connection: Connection) -> bool:
    """Whether a pooler prepares a client's statements on every connection that it gives it.

    Such a pooler renames statements; otherwise the server lists names of probes.
    """
    name = f"{_PROBE_PREFIX}{secrets.token_hex(8)}"
    async with connection.transaction():
        statement = await connection.prepare(_PROBE, name=name)
        names = await connection.fetchval(_PROBE_NAMES, statement.get_query())
        if name in names:
            await connection.execute(f"DEALLOCATE {name}")
    return not all(statement_name.startswith(_PROBE_PREFIX) for statement_name in names)


@asynccontextmanager
async def _pool(
    url: str,
    connections_max: int,
    statement_timeout_s: float,
    *,
    init: Callable[["asyncpg.Connection[asyncpg.Record]"], Coroutine[Any, Any, None]],
    server_settings: dict[str, str],
    types: ServerTypes,
    statements_max: int = _STATEMENTS_MAX,
    connections_min: int = 1,
) -> AsyncIterator[Pool]:
    with unavailable, role_errors(), _url_errors():
        pool = await driver_connection.DriverPool(
            url,
            min_size=connections_min,
            max_size=connections_max,
            command_timeout=statement_timeout_s,  # should the server be too far gone for its own
            init=init,
            reset=_skip_reset,
            server_settings=server_settings,
            statement_cache_size=statements_max,
            connection_class=driver_connection.of(types),
        )
    try:
        yield pool
    finally:
        try:
            await asyncio.wait_for(pool.close(), CLOSE_TIMEOUT_S)
        except TimeoutError:
            pool.terminate()


@contextmanager
def role_errors() -> Iterator[None]:
    """Turn the driver's refusal of the requested role into `RoleRefused`."""
    try:
        yield
    except (asyncpg.InvalidParameterValueError, asyncpg.InsufficientPrivilegeError) as error:
        raise RoleRefused(f"PostgreSQL refuses Nearhit's connection settings: {error}") from error


async def _prepare_if_statements_are_kept(
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    """Check first: without kept statements another client's statement could run under our name."""
    if not await keeps_statements(connection):
        raise DatabaseUnavailable("the pooler no longer keeps prepared statements")
    await _prepare(connection)


async def _prepare(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    assert isinstance(connection, DriverConnection), "the pool makes them"
    try:
        await connection.types.load(connection)
        schema = connection.types.extension_schema
        await register_vector(connection, schema=schema)
        await connection.set_type_codec(
            "sparsevec",
            schema=schema,
            encoder=lambda value: value if isinstance(value, bytes) else value.to_binary(),
            decoder=SparseVector.from_binary,
            format="binary",
        )
    except ValueError as error:
        raise DatabaseUnavailable(
            f"a standby has not replayed pgvector's types: {error}"
        ) from error
    await connection.set_type_codec(
        "jsonb",
        schema="pg_catalog",
        encoder=lambda value: orjson.dumps(value).decode(),
        decoder=orjson.loads,
    )


async def _skip_reset(connection: Connection) -> None:
    """Do nothing: our statements leave no state in a session.

    The driver's own reset costs a round trip for each request.
    """


def _pooler_in_between() -> PoolerRefused:
    return PoolerRefused(
        "a pooler stands before PostgreSQL: NEARHIT_DATABASE_URL must lead to the server itself, "
        "and NEARHIT_POOLER_URL and NEARHIT_POOLER_SEARCH_URL to the pooler"
    )


class _Unavailable(AbstractContextManager[None]):
    """Turns the driver's errors of an unavailable server into `DatabaseUnavailable`.

    And those of a text that no row can hold into `UnstorableText`: requests are checked before, and
    what a check has missed is still the request's fault.
    Without state, so one serves all: each statement of a search enters it.
    """

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if error is not None and (known := translated(error)) is not error:
            raise known from error


unavailable = _Unavailable()


def translated(error: BaseException) -> BaseException:
    """What callers know instead of the driver's error; any other error is returned as it is."""
    if isinstance(
        error, asyncpg.CharacterNotInRepertoireError | asyncpg.UntranslatableCharacterError
    ):
        return UnstorableText()
    if isinstance(error, _UNAVAILABLE_ERRORS):
        sqlstate = getattr(error, "sqlstate", None)
        reason = _refusal(error) or f"did not answer: {type(error).__name__}"
        message = f"PostgreSQL {reason}"
        condition = _CONDITIONS.get(sqlstate or "")
        if condition == DatabaseCondition.READ_ONLY:
            message = _ONLY_READS
        return DatabaseUnavailable(message, condition, sqlstate)
    if isinstance(error, asyncpg.FeatureNotSupportedError) and "during recovery" in str(error):
        # A standby has no unlogged tables, which it can't even read.
        return DatabaseUnavailable(_ONLY_READS, DatabaseCondition.READ_ONLY, error.sqlstate)
    if isinstance(error, asyncpg.InterfaceError):
        if isinstance(error, ValueError) or _HAS_WRONG_ARGUMENTS in str(error):
            return error  # the driver can't encode an argument, or the statement has more or fewer
        return DatabaseUnavailable("PostgreSQL closed the connection")
    return error
