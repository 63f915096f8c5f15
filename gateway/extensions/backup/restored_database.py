"""Prepares a database for `pg_restore`, and starts a new history after it."""

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.extension import CommandError
from index.postgres import connections, statements
from index.postgres.functions import function_roles
from index.postgres.setup import migrate, own_objects, prerequisites, shipped_migrations
from index.postgres.setup.identifier_spellings import IdentifierPolicy
from index.postgres.setup.prerequisites import DumpNeeds

# The owner of the tables; without tables, that of the database, if a superuser restores for it.
# Others may have tables in the schema too, which stay.
_TARGET = f"""
SELECT quote_ident(current_schema()) AS schema, quote_ident(owner.rolname) AS owner,
    owner_of_tables IS NOT NULL AS has_tables
FROM (SELECT {own_objects.OWNER} AS owner_of_tables) AS present
JOIN pg_database ON datname = current_database()
JOIN pg_roles AS login ON login.rolname = current_user
JOIN pg_roles AS owner
    ON owner.oid = coalesce(owner_of_tables, CASE WHEN login.rolsuper THEN datdba END, login.oid)
"""  # names of ours  # noqa: S608
_DRAW = statements.load()["history.draw"]


@dataclass(frozen=True, slots=True)
class RestoreTarget:
    """begin: the SQL, in a transaction, after which the dump can be read into the database.

    of_others: what is not Nearhit's in the schema, and stays.
    """

    begin: str
    of_others: Sequence[str]


async def prepare(url: str, needs: DumpNeeds, *, replace: bool) -> RestoreTarget:
    """Create the extensions and the roles, which a dump refers to and may not create.

    replace: whether tables of Nearhit may be there.

    Raises `PrerequisitesMissing` and `CommandError` before, and `RoleRefused`.
    """
    async with connections.direct_connection(url) as connection:
        # `finish` is as strict about pgvector's version as the settings are.
        await prerequisites.check(connection, allow_old_pgvector=True, needs=needs)
        target = await connection.fetchrow(_TARGET)
        assert target is not None, "the check has found a schema"
        if target["has_tables"] and not replace:
            raise CommandError("the database is not empty: use --replace to drop its content")
        await prerequisites.create_extensions(connection, needs)
        await function_roles.create_all(connection)
        begin = f"SET ROLE {target['owner']};\nSET search_path = {target['schema']};\n"
        if target["has_tables"]:
            begin += own_objects.DROP
        present = await own_objects.contents(connection)
        return RestoreTarget(begin, present.of_others)


async def finish(url: str, identifiers: IdentifierPolicy) -> None:
    """Bring the schema up to date, and give the database's history a new name."""
    await migrate.migrate(url, shipped_migrations.shipped(), identifiers=identifiers)
    async with connections.direct_connection(url) as connection:
        await connection.fetch(_DRAW, None)
