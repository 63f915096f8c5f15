"""What a database must have before Nearhit makes its tables there: all that is missing, at once.

Most logins may create neither extensions nor roles, so an administrator prepares the database.
Each problem names the statement that the administrator runs.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import asyncpg

from index.errors import PgvectorRefused, PrerequisitesMissing
from index.postgres.functions import function_roles
from index.postgres.setup import pgvector_version
from index.postgres.setup.pgvector_version import PgvectorVersions

_SERVER_VERSION_MIN = 150_000  # PostgreSQL 15, the oldest that the tests run on
EXTENSIONS = ("vector", "pg_trgm")

_LOGIN = """
SELECT quote_ident(current_user) AS login, quote_ident(current_database()) AS database,
    current_setting('server_version_num')::int AS server_version,
    current_setting('server_encoding') AS encoding,
    pg_is_in_recovery() AS is_standby,
    current_setting('transaction_read_only') = 'on' AS is_read_only,
    current_setting('search_path') AS search_path, quote_ident(current_schema()) AS schema,
    current_schema() IS NOT NULL AND has_schema_privilege(current_schema(), 'CREATE') AS may_create,
    has_database_privilege(current_database(), 'CREATE') AS may_extend,
    rolsuper AS is_superuser, rolcreaterole AS may_create_roles,
    owner.name AS owner_of_tables, coalesce(owner.may_act, true) AS may_act_as_owner
FROM pg_roles LEFT JOIN (
    SELECT quote_ident(rolname) AS name, pg_has_role(relowner, 'USAGE') AS may_act
    FROM pg_class JOIN pg_roles ON pg_roles.oid = relowner
    WHERE relnamespace = current_schema()::regnamespace AND relname = 'tenants'
) AS owner ON true
WHERE rolname = current_user"""
_EXTENSIONS = """
SELECT wanted.name, quote_ident(nspname) AS schema, available.trusted,
    coalesce(has_schema_privilege(extnamespace, 'USAGE'), true) AS may_use,
    coalesce(nspname = ANY (current_schemas(false)), true) AS is_on_path,
    offered.name IS NOT NULL AS is_installable
FROM unnest($1::text[]) AS wanted (name)
LEFT JOIN pg_extension ON extname = wanted.name
LEFT JOIN pg_namespace ON pg_namespace.oid = extnamespace
LEFT JOIN pg_available_extensions AS offered ON offered.name = wanted.name
LEFT JOIN pg_available_extension_versions AS available
    ON available.name = wanted.name AND available.version = offered.default_version
ORDER BY wanted.name DESC"""
_ROLES = """
SELECT wanted.name, rolname IS NOT NULL AS is_there,
    coalesce(pg_has_role(rolname, 'MEMBER WITH ADMIN OPTION'), false) AS may_grant
FROM unnest($1::text[]) AS wanted (name) LEFT JOIN pg_roles ON rolname = wanted.name
ORDER BY wanted.name"""


@dataclass(frozen=True, slots=True)
class MissingPrerequisite:
    """remedy: the statement that an administrator runs in the database; empty if there is none."""

    text: str
    remedy: str = ""


async def check(
    connection: "asyncpg.Connection[asyncpg.Record]", *, allow_old_pgvector: bool
) -> None:
    """Raises `PrerequisitesMissing` with every problem; changes nothing."""
    login = await connection.fetchrow(_LOGIN)
    assert login is not None, "a login is a role"
    if login["encoding"] != "UTF8":  # what else is missing in this database is of no use
        raise PrerequisitesMissing([_wrong_encoding(login)])
    versions = await pgvector_version.read(connection)
    extensions = await connection.fetch(_EXTENSIONS, EXTENSIONS)
    problems = [
        *_problems_of_server(login),
        *_problems_of_pgvector(versions, allow_old=allow_old_pgvector),
        *_problems_of_extensions(login, extensions),
        *await _problems_of_roles(connection, login),
    ]
    if problems:
        raise PrerequisitesMissing([(problem.text, problem.remedy) for problem in problems])


async def put_extensions_on_path(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    """Let the login find extensions that an administrator has put into a schema of their own."""
    login = await connection.fetchrow(_LOGIN)
    assert login is not None, "a login is a role"
    extensions = await connection.fetch(_EXTENSIONS, EXTENSIONS)
    schemas = dict.fromkeys(each["schema"] for each in extensions if not each["is_on_path"])
    if schemas:
        path = ", ".join([login["search_path"], *schemas])  # quoted by the server
        await connection.execute(f"SET search_path = {path}")
        # A role may set its own properties. Connections that are opened from now on have it.
        await connection.execute(
            f"ALTER ROLE {login['login']} IN DATABASE {login['database']} SET search_path = {path}"
        )


async def extension_schemas(
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> Mapping[str, str]:
    """By extension that is there, its schema."""
    extensions = await connection.fetch(_EXTENSIONS, EXTENSIONS)
    return {each["name"]: each["schema"] for each in extensions if each["schema"] is not None}


async def create_extensions(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    for name in EXTENSIONS:
        await connection.execute(f"CREATE EXTENSION IF NOT EXISTS {name}")
    await put_extensions_on_path(connection)


async def act_as_owner(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    """Let what the connection makes belong to the owner of the tables that are there."""
    login = await connection.fetchrow(_LOGIN)
    assert login is not None, "a login is a role"
    if login["owner_of_tables"] not in (None, login["login"]):
        await connection.execute(f"SET ROLE {login['owner_of_tables']}")


def _wrong_encoding(login: asyncpg.Record) -> tuple[str, str]:
    name = str(login["database"]).strip('"') + "_utf8"
    problem = (
        f"the database's encoding is {login['encoding']}, and Nearhit needs UTF8: create another "
        "one, and name it in NEARHIT_DATABASE_URL"
    )
    options = f"OWNER {login['login']} ENCODING 'UTF8' TEMPLATE template0"
    return problem, f'CREATE DATABASE "{name}" {options};'


def _problems_of_server(login: asyncpg.Record) -> Iterator[MissingPrerequisite]:
    if login["server_version"] < _SERVER_VERSION_MIN:
        yield MissingPrerequisite("the server is older than PostgreSQL 15: upgrade it")
    if login["is_standby"]:
        yield MissingPrerequisite("the server is a standby, which only reads: name the primary")
    elif login["is_read_only"]:
        yield MissingPrerequisite(
            "the database only reads",
            "SET default_transaction_read_only = off; "
            f"ALTER DATABASE {login['database']} RESET default_transaction_read_only;",
        )
    if login["schema"] is None:
        yield MissingPrerequisite(
            f"{login['login']} has no schema for its tables",
            f"GRANT USAGE, CREATE ON SCHEMA public TO {login['login']};",
        )
    elif not login["may_create"]:
        yield MissingPrerequisite(
            f"{login['login']} may not create tables in the schema {login['schema']}",
            f"GRANT CREATE ON SCHEMA {login['schema']} TO {login['login']};",
        )
    if not login["may_act_as_owner"]:
        yield MissingPrerequisite(
            f"Nearhit's tables belong to {login['owner_of_tables']}, whose rights "
            f"{login['login']} lacks: log in as their owner, or grant its role",
            f"GRANT {login['owner_of_tables']} TO {login['login']};",
        )


def _problems_of_pgvector(
    versions: PgvectorVersions, *, allow_old: bool
) -> Iterator[MissingPrerequisite]:
    try:
        pgvector_version.check(versions, allow_old=allow_old)
    except PgvectorRefused as refused:
        yield MissingPrerequisite(str(refused))


def _problems_of_extensions(
    login: asyncpg.Record, extensions: list[asyncpg.Record]
) -> Iterator[MissingPrerequisite]:
    for extension in extensions:
        name, schema = extension["name"], extension["schema"]
        may_make = login["is_superuser"] or (extension["trusted"] and login["may_extend"])
        if not extension["is_installable"]:
            if name != "vector":  # whose version has been judged
                yield MissingPrerequisite(
                    f"the server has no extension {name}: install PostgreSQL's contrib package"
                )
        elif schema is None and not may_make:
            yield MissingPrerequisite(
                f"the extension {name} is missing, and {login['login']} may not create it",
                f"CREATE EXTENSION {name};",
            )
    for schema in dict.fromkeys(each["schema"] for each in extensions if not each["may_use"]):
        names = " and ".join(each["name"] for each in extensions if each["schema"] == schema)
        yield MissingPrerequisite(
            f"{names} in the schema {schema}: {login['login']} may not use it",
            f"GRANT USAGE ON SCHEMA {schema} TO {login['login']};",
        )


async def _problems_of_roles(
    connection: "asyncpg.Connection[asyncpg.Record]", login: asyncpg.Record
) -> list[MissingPrerequisite]:
    problems = []
    may_create = login["is_superuser"] or login["may_create_roles"]
    for role in await connection.fetch(_ROLES, [each.name for each in function_roles.ALL]):
        grant = f"GRANT {role['name']} TO {login['login']};"
        if not role["is_there"]:
            if not may_create:
                problems.append(
                    MissingPrerequisite(
                        f"the role {role['name']}, which runs Nearhit's functions, is missing",
                        f"CREATE ROLE {role['name']} NOLOGIN; {grant}",
                    )
                )
        elif not (may_create or role["may_grant"]) and not await function_roles.may_act_as(
            connection, role["name"]
        ):
            problems.append(
                MissingPrerequisite(f"{login['login']} may not act as {role['name']}", grant)
            )
    return problems
