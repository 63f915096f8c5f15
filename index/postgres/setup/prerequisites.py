"""What a database must have before Nearhit makes its tables there: all that is missing, at once.

Most logins may create neither extensions nor roles, so an administrator prepares the database.
Each problem names the statement that the administrator runs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import asyncpg

from index.errors import PrerequisitesMissing
from index.postgres.functions import function_roles
from index.postgres.setup import own_objects, pgvector_version, server_state
from index.postgres.setup.database_problem import DatabaseProblem

_Row: TypeAlias = Mapping[str, Any]

# What the next statements find in a database that an administrator makes for the login.
_OF_A_NEW_DATABASE = {
    "schema": "public",
    "schema_name": "public",
    "may_create": True,
    "may_extend": True,
    "may_act_as_owner": True,
}
_NOT_INSTALLED = {"schema": None, "may_use": True, "is_on_path": True}

_SERVER_VERSION_MIN = 150_000  # PostgreSQL 15, the oldest that the tests run on
EXTENSIONS = ("vector", "pg_trgm")

_LOGIN = f"""
SELECT quote_ident(current_user) AS login, quote_ident(current_database()) AS database,
    current_setting('server_version_num')::int AS server_version,
    current_setting('server_encoding') AS encoding,
    quote_ident(current_database() || '_utf8') AS utf8_database,
    current_setting('search_path') AS search_path, quote_ident(current_schema()) AS schema,
    current_schema() AS schema_name,
    current_schema() IS NOT NULL AND has_schema_privilege(current_schema(), 'CREATE') AS may_create,
    has_database_privilege(current_database(), 'CREATE') AS may_extend,
    rolsuper AS is_superuser, rolcreaterole AS may_create_roles,
    owner.name AS owner_of_tables, coalesce(owner.may_act, true) AS may_act_as_owner
FROM pg_roles LEFT JOIN (
    SELECT quote_ident(rolname) AS name, pg_has_role(oid, 'USAGE') AS may_act
    FROM pg_roles WHERE oid = {own_objects.OWNER}
) AS owner ON true
WHERE rolname = current_user"""  # names of ours  # noqa: S608
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
_MISSING_ROLES = """
SELECT quote_ident(name) AS name FROM unnest($1::text[]) AS wanted (name)
WHERE name <> ALL (SELECT rolname FROM pg_roles) ORDER BY name"""
_ROLES = """
SELECT wanted.name, rolname IS NOT NULL AS is_there,
    coalesce(pg_has_role(rolname, 'MEMBER WITH ADMIN OPTION'), false) AS may_grant
FROM unnest($1::text[]) AS wanted (name) LEFT JOIN pg_roles ON rolname = wanted.name
ORDER BY wanted.name"""


@dataclass(frozen=True, slots=True)
class DumpNeeds:
    """What a dump names and does not make.

    schema: of Nearhit's tables. extension_schemas: by extension, quoted where SQL needs it.
    roles: that have rights on what is restored.
    """

    schema: str | None = None
    extension_schemas: Mapping[str, str] = field(default_factory=dict)
    roles: Sequence[str] = ()


async def check(
    connection: "asyncpg.Connection[asyncpg.Record]",
    *,
    allow_old_pgvector: bool,
    needs: DumpNeeds = DumpNeeds(),
) -> None:
    """Raises `PrerequisitesMissing` with every problem; changes nothing."""
    row = await connection.fetchrow(_LOGIN)
    assert row is not None, "a login is a role"
    login = dict(row)
    versions = await pgvector_version.read(connection)
    extensions = [dict(each) for each in await connection.fetch(_EXTENSIONS, EXTENSIONS)]
    problems = []
    if login["encoding"] != "UTF8":
        problems.append(_wrong_encoding(login))
        login |= _OF_A_NEW_DATABASE
        versions = replace(versions, installed=None)
        extensions = [each | _NOT_INSTALLED for each in extensions]
    problems += await server_state.problems_of_writers(connection)
    problems += _problems_of_server(login)
    problems += await _problems_of_names(connection, login, needs)
    problems += pgvector_version.problems(versions, allow_old=allow_old_pgvector)
    problems += _problems_of_extensions(login, extensions, needs)
    problems += await _problems_of_roles(connection, login)
    problems += await _problems_of_dump(connection, login, needs)
    if problems:
        raise PrerequisitesMissing(problems)


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


async def create_extensions(
    connection: "asyncpg.Connection[asyncpg.Record]", needs: DumpNeeds = DumpNeeds()
) -> None:
    for name in EXTENSIONS:
        if not await connection.fetchval("SELECT true FROM pg_extension WHERE extname = $1", name):
            await connection.execute(_creation(name, needs))
    await put_extensions_on_path(connection)


async def act_as_owner(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    """Let what the connection makes belong to the owner of the tables that are there."""
    login = await connection.fetchrow(_LOGIN)
    assert login is not None, "a login is a role"
    if login["owner_of_tables"] not in (None, login["login"]):
        await connection.execute(f"SET ROLE {login['owner_of_tables']}")


def _creation(extension: str, needs: DumpNeeds) -> str:
    """The statements that create the extension, where a dump has it."""
    schema = needs.extension_schemas.get(extension)
    if schema is None:
        return f"CREATE EXTENSION {extension};"
    return f"CREATE SCHEMA IF NOT EXISTS {schema}; CREATE EXTENSION {extension} SCHEMA {schema};"


def _grant_usage(login: _Row, extension: str, needs: DumpNeeds) -> str:
    schema = needs.extension_schemas.get(extension)
    return "" if schema is None else f" GRANT USAGE ON SCHEMA {schema} TO {login['login']};"


def _own_schema(schema: str, login: _Row) -> str:
    return (
        f"CREATE SCHEMA IF NOT EXISTS {schema} AUTHORIZATION {login['login']}; ALTER ROLE "
        f"{login['login']} IN DATABASE {login['database']} SET search_path = {schema};"
    )


def _wrong_encoding(login: _Row) -> DatabaseProblem:
    name = login["utf8_database"]
    return DatabaseProblem(
        f"the database's encoding is {login['encoding']}, and Nearhit needs UTF8: create another "
        "one, and name it in NEARHIT_DATABASE_URL",
        f"CREATE DATABASE {name} OWNER {login['login']} ENCODING 'UTF8' TEMPLATE template0;\n"
        f"  \\c {name}",
    )


def _problems_of_server(login: _Row) -> Iterator[DatabaseProblem]:
    if login["server_version"] < _SERVER_VERSION_MIN:
        yield DatabaseProblem("the server is older than PostgreSQL 15: upgrade it")
    if login["schema"] is None:
        yield DatabaseProblem(
            f"{login['login']} has no schema for its tables",
            f"GRANT USAGE, CREATE ON SCHEMA public TO {login['login']};",
        )
    elif not login["may_create"]:
        yield DatabaseProblem(
            f"{login['login']} may not create tables in the schema {login['schema']}",
            f"GRANT CREATE ON SCHEMA {login['schema']} TO {login['login']};",
        )
    if not login["may_act_as_owner"]:
        yield DatabaseProblem(
            f"Nearhit's tables belong to {login['owner_of_tables']}, whose rights "
            f"{login['login']} lacks: log in as their owner, or grant its role",
            f"GRANT {login['owner_of_tables']} TO {login['login']};",
        )


async def _problems_of_names(
    connection: "asyncpg.Connection[asyncpg.Record]", login: _Row, needs: DumpNeeds
) -> list[DatabaseProblem]:
    taken = await own_objects.taken_names(connection)
    if taken is None or login["encoding"] != "UTF8":  # then the tables get another database
        return []
    text = f"other tables in the schema {login['schema']} have names of Nearhit's ({taken}): "
    if needs.schema is not None:
        return [DatabaseProblem(f"{text}restore into another database")]
    return [DatabaseProblem(f"{text}give it a schema of its own", _own_schema("nearhit", login))]


def _problems_of_extensions(
    login: _Row, extensions: Sequence[_Row], needs: DumpNeeds
) -> Iterator[DatabaseProblem]:
    for extension in extensions:
        name, schema = extension["name"], extension["schema"]
        may_make = login["is_superuser"] or (extension["trusted"] and login["may_extend"])
        if not extension["is_installable"]:
            if name != "vector":  # whose version has been judged
                yield DatabaseProblem(
                    f"the server has no extension {name}: install PostgreSQL's contrib package"
                )
        elif schema is None and not may_make:
            yield DatabaseProblem(
                f"the extension {name} is missing, and {login['login']} may not create it",
                _creation(name, needs) + _grant_usage(login, name, needs),
            )
        elif schema not in (None, dumped := needs.extension_schemas.get(name, schema)):
            yield DatabaseProblem(
                f"{name} is in {dumped} in the backup, here in {schema}",
                f"CREATE SCHEMA IF NOT EXISTS {dumped}; "
                f"ALTER EXTENSION {name} SET SCHEMA {dumped};{_grant_usage(login, name, needs)}",
            )
    for schema in dict.fromkeys(each["schema"] for each in extensions if not each["may_use"]):
        names = " and ".join(each["name"] for each in extensions if each["schema"] == schema)
        yield DatabaseProblem(
            f"{names} in the schema {schema}: {login['login']} may not use it",
            f"GRANT USAGE ON SCHEMA {schema} TO {login['login']};",
        )


async def _problems_of_roles(
    connection: "asyncpg.Connection[asyncpg.Record]", login: _Row
) -> list[DatabaseProblem]:
    problems = []
    may_create = login["is_superuser"] or login["may_create_roles"]
    for role in await connection.fetch(_ROLES, [each.name for each in function_roles.ALL]):
        grant = f"GRANT {role['name']} TO {login['login']};"
        if not role["is_there"]:
            if not may_create:
                problems.append(
                    DatabaseProblem(
                        f"the role {role['name']}, which runs Nearhit's functions, is missing",
                        f"CREATE ROLE {role['name']} NOLOGIN; {grant}",
                    )
                )
        elif not (may_create or role["may_grant"]) and not await function_roles.may_act_as(
            connection, role["name"]
        ):
            problems.append(
                DatabaseProblem(f"{login['login']} may not act as {role['name']}", grant)
            )
    return problems


async def _problems_of_dump(
    connection: "asyncpg.Connection[asyncpg.Record]", login: _Row, needs: DumpNeeds
) -> list[DatabaseProblem]:
    problems = []
    if needs.schema not in (None, login["schema_name"]):
        schema = await connection.fetchval("SELECT quote_ident($1)", needs.schema)
        problems.append(
            DatabaseProblem(
                f"Nearhit's tables are in {schema} in the backup, here in {login['schema']}",
                _own_schema(schema, login),
            )
        )
    for row in await connection.fetch(_MISSING_ROLES, needs.roles):
        text = f"the backup grants rights to the role {row['name']}, which is missing"
        problems.append(DatabaseProblem(text, f"CREATE ROLE {row['name']} NOLOGIN;"))
    return problems
