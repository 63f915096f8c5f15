"""Applies the migrations `index/migrations/*.sql`, each once, in order."""

import time
from collections.abc import Mapping

import asyncpg
import orjson
import structlog

from index.errors import MigrationRefused
from index.postgres import connections
from index.postgres.functions import function_roles
from index.postgres.setup import (
    identifier_spellings,
    own_objects,
    pgvector_version,
    prerequisites,
)
from index.postgres.setup.identifier_spellings import IdentifierPolicy
from index.postgres.setup.pgvector_version import PgvectorVersions
from index.postgres.setup.shipped_migrations import TABLE, Migration

log = structlog.get_logger()

FOLD = IdentifierPolicy()
IDENTIFIERS = "identifiers"  # stands beside the names of migrations

_LOCK = 6_324_271  # any number that no other application uses for an advisory lock
# These override the role properties that index/postgres/pooler.py sets.
_SESSION_DEFAULTS = {"statement_timeout": "0", "enable_seqscan": "on", "enable_sort": "on"}
# All that a process has to know of a database that is ready, in one statement.
_STATE = f"""
SELECT {connections.IS_DIRECT} AS is_direct, installed, available,
    (SELECT json_object_agg(name, encode(digest, 'hex'))::text FROM migrations) AS applied,
    (SELECT identifier_case FROM identifier_cases) AS identifier_case,
    (SELECT count(*) FROM pg_roles
     WHERE rolname = ANY ($1::text[]) AND has_schema_privilege(oid, current_schema(), 'USAGE')
    ) AS roles
FROM (SELECT) AS state LEFT JOIN ({pgvector_version.VERSIONS}) AS versions ON true
"""  # our own text alone  # noqa: S608


async def migrate(
    url: str,
    migrations: list[Migration],
    *,
    allow_old_pgvector: bool = False,
    identifiers: IdentifierPolicy = FOLD,
) -> list[str]:
    """Apply the missing migrations and return their names; processes may call this concurrently.

    Also creates the roles that call functions, and respells subjects and groups.

    Raises `PrerequisitesMissing` before anything is changed, `MigrationRefused` if an applied file
    has changed or is unknown to this version, `RoleRefused` and `PoolerRefused`.
    """
    settings = _SESSION_DEFAULTS
    if allow_old_pgvector:
        settings = {**_SESSION_DEFAULTS, **pgvector_version.WITHOUT_PARALLEL_BUILDS}
    async with connections.direct_connection(url, settings, verifies=False) as connection:
        is_ready = await _is_ready(
            connection, migrations, identifiers, allow_old_pgvector=allow_old_pgvector
        )
        if is_ready:
            return []
        await connections.verify_direct(connection)
        await prerequisites.check(connection, allow_old_pgvector=allow_old_pgvector)
        await connection.execute("SELECT pg_advisory_lock($1)", _LOCK)
        await prerequisites.create_extensions(connection)
        await prerequisites.act_as_owner(connection)
        missing = _pending(migrations, await _applied(connection))
        for migration in missing:
            begun_s = time.monotonic()
            await _apply(connection, migration)
            if len(missing) < len(migrations):  # a new database says nothing of its steps
                seconds = round(time.monotonic() - begun_s, 3)
                log.info("migrated", migration=migration.name, seconds=seconds)
        await function_roles.create_all(connection)
        names = [migration.name for migration in missing]
        return [*names, *([IDENTIFIERS] if await _respell(connection, identifiers) else [])]


async def pending(
    url: str,
    migrations: list[Migration],
    *,
    allow_old_pgvector: bool = False,
    identifiers: IdentifierPolicy = FOLD,
) -> list[str]:
    """The names of the migrations that the database lacks, in order; nothing is changed.

    Raises `PrerequisitesMissing` and `MigrationRefused` as `migrate` does.
    """
    async with connections.direct_connection(url, _SESSION_DEFAULTS) as connection:
        await prerequisites.check(connection, allow_old_pgvector=allow_old_pgvector)
        missing = _pending(migrations, await _applied(connection))
        names = [migration.name for migration in missing]
        stored = await identifier_spellings.case_of(connection)
        return [*names, *([IDENTIFIERS] if stored not in (None, identifiers.case) else [])]


async def _applied(connection: "asyncpg.Connection[asyncpg.Record]") -> Mapping[str, bytes]:
    """The digests of the applied migrations by name; none before the first one."""
    if not await connection.fetchval(f"SELECT {own_objects.HAS_BEGUN}"):
        return {}
    rows = await connection.fetch("SELECT name, digest FROM migrations")
    return {row["name"]: row["digest"] for row in rows}


async def _respell(
    connection: "asyncpg.Connection[asyncpg.Record]", identifiers: IdentifierPolicy
) -> bool:
    """Whether an identifier has another spelling now; none has without the table for the case."""
    if await connection.fetchval("SELECT to_regclass('identifier_cases') IS NULL"):
        return False
    return await identifier_spellings.settle(connection, identifiers) > 0


async def _is_ready(
    connection: "asyncpg.Connection[asyncpg.Record]",
    migrations: list[Migration],
    identifiers: IdentifierPolicy,
    *,
    allow_old_pgvector: bool,
) -> bool:
    """Whether nothing is left to do: in three round trips, which a far server makes long.

    Raises `MigrationRefused`.
    """
    try:
        state = await connection.fetchrow(_STATE, [role.name for role in function_roles.ALL])
    except (
        asyncpg.UndefinedTableError,
        asyncpg.UndefinedColumnError,  # of another program's `migrations`
        asyncpg.InsufficientPrivilegeError,
    ):
        return False
    assert state is not None, "it returns one row"
    is_settled = state["identifier_case"] == identifiers.case and not identifiers.looks_again
    if not state["is_direct"] or not is_settled:
        return False
    versions = PgvectorVersions(state["installed"], state["available"])
    if pgvector_version.problems(versions, allow_old=allow_old_pgvector):
        return False  # the check says what else is missing
    applied = orjson.loads(state["applied"] or "{}")
    if _pending(migrations, {name: bytes.fromhex(digest) for name, digest in applied.items()}):
        return False
    are_granted = state["roles"] == len(function_roles.ALL)
    return are_granted and await function_roles.may_act(connection)


def _pending(migrations: list[Migration], applied: Mapping[str, bytes]) -> list[Migration]:
    digests = {migration.name: migration.digest for migration in migrations}
    for name, digest in applied.items():
        if name not in digests:
            raise MigrationRefused(
                f"the database has migration {name}, which this version does not know: run the "
                "version of Nearhit that applied it or a later one, or ingest into a new database"
            )
        if digests[name] != digest:
            raise MigrationRefused(
                f"migration {name} has changed since it was applied: "
                "restore the file, and put the change into a new migration"
            )
    return [migration for migration in migrations if migration.name not in applied]


async def _apply(connection: "asyncpg.Connection[asyncpg.Record]", migration: Migration) -> None:
    async with connection.transaction():
        await connection.execute(TABLE)
        await connection.execute(migration.text)
        await connection.execute(
            "INSERT INTO migrations (name, digest) VALUES ($1, $2)",
            migration.name,
            migration.digest,
        )
