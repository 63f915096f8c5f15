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
# Of the database that is replaced, in a parameter of the transaction: nobody may end a credential
# between this and the end of the tables.
_NOTE_ENDED = """
LOCK TABLE keys, suspended_subjects IN SHARE MODE;
SELECT set_config('nearhit.replaced', jsonb_build_object(
    'tenants', (SELECT jsonb_object_agg(tenant, true) FROM tenants),
    'working', (SELECT jsonb_object_agg(key_id, expires_at) FROM keys WHERE revoked_at IS NULL),
    'suspended', (SELECT jsonb_agg(suspended_subjects) FROM suspended_subjects)
)::text, true);
"""
# What had ended there stays so. Where the tenant itself was deleted, the dump brings back all.
_END_AGAIN = """
WITH replaced AS (SELECT current_setting('nearhit.replaced')::jsonb AS state)
UPDATE keys SET
    revoked_at = CASE WHEN state -> 'working' ? key_id THEN revoked_at
        ELSE coalesce(revoked_at, now()) END,
    expires_at = least(expires_at, (state -> 'working' ->> key_id)::timestamptz)
FROM replaced WHERE state -> 'tenants' ? tenant;

WITH replaced AS (SELECT current_setting('nearhit.replaced')::jsonb AS state)
INSERT INTO suspended_subjects (tenant, subject, suspended_at)
SELECT tenant, subject, suspended_at
FROM replaced
CROSS JOIN jsonb_to_recordset(coalesce(nullif(state -> 'suspended', 'null'), '[]'))
    AS suspended (tenant text, subject text, suspended_at timestamptz)
JOIN tenants USING (tenant)
ON CONFLICT DO NOTHING;
"""
_DRAW = statements.load()["history.draw"]


@dataclass(frozen=True, slots=True)
class RestoreTarget:
    """begin: the SQL, in a transaction, after which the dump can be read into the database.

    end: the SQL after the dump, in the same transaction.
    of_others: what is not Nearhit's in the schema, and stays.
    """

    begin: str
    end: str
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
        path = f"SET search_path = {target['schema']};\n"
        begin, end = f"SET ROLE {target['owner']};\n{path}", ""
        if target["has_tables"]:
            begin += _NOTE_ENDED + own_objects.DROP
            end = path + _END_AGAIN
        present = await own_objects.contents(connection)
        return RestoreTarget(begin, end, present.of_others)


async def finish(url: str, identifiers: IdentifierPolicy) -> None:
    """Bring the schema up to date, and give the database's history a new name."""
    await migrate.migrate(url, shipped_migrations.shipped(), identifiers=identifiers)
    async with connections.direct_connection(url) as connection:
        await connection.fetch(_DRAW, None)
