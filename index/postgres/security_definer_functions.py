"""The database functions of the roles that may touch nothing else.

Each runs one statement of `index/sql` with the rights of the tables' owner, so it returns only what
the statement selects: for searches, what its conditions on tenant and grants admit. Its name ends
with a digest of its body: two versions of Nearhit that differ in a statement use two functions.
Older functions are not dropped: they admit no more than before.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from index.postgres import function_roles, statements
from index.postgres.function_roles import Connection, FunctionRole

_LOCK = 6_324_273  # held while a process creates functions; see index/postgres/migrate.py
_QUOTE = "$nearhit$"
_DIGEST_CHARACTERS = 8  # which `function_roles.excess` compares too

_SCHEMA_PATH = """
SELECT (
    quote_ident(current_schema()),
    (SELECT string_agg(quote_ident(name), ', ' ORDER BY place)
     FROM unnest(current_schemas(false)) WITH ORDINALITY AS path (name, place))
)"""
_TYPES = """
SELECT coalesce(array_agg(format_type(oid, NULL) ORDER BY place), '{}')
FROM unnest($1::oid[]) WITH ORDINALITY AS types (oid, place)"""
_EXISTS = """
SELECT EXISTS (
    SELECT FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace
    WHERE nspname = current_schema() AND proname = $1 AND prosrc = $2 AND prosecdef
      AND has_function_privilege($3, pg_proc.oid, 'EXECUTE')
)"""


def role_of(name: str) -> FunctionRole | None:
    """The role that calls the statement as a function; None if the owner runs it."""
    of_searches = ("search.", "search_documents.", "search_facets.", "search_relations.")
    if name.startswith(of_searches) or name == "vocabulary.look_up":
        return function_roles.SEARCH
    return function_roles.SHARDS if name.startswith("resident.") else None


STATEMENTS: Mapping[str, str] = {
    name: statement for name, statement in statements.load().items() if role_of(name) is not None
}


def statements_of(role: FunctionRole) -> Mapping[str, str]:
    return {name: statement for name, statement in STATEMENTS.items() if role_of(name) == role}


@dataclass(frozen=True, slots=True)
class SchemaPath:
    """The tables' schema, which holds the functions, and their search path; quoted."""

    schema: str
    path: str


@dataclass(frozen=True, slots=True)
class Function:
    """A statement as a function. columns: names and types."""

    name: str
    body: str
    parameters: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    role: FunctionRole

    @property
    def call(self) -> str:
        """The call with the statement's parameters; without the function's schema."""
        numbers = ", ".join(f"${index}" for index, _ in enumerate(self.parameters, start=1))
        return f"{self.name}({numbers})"

    def definition(self, schema_path: SchemaPath) -> str:
        """The SQL that creates the function; pg_temp is last so that temporary tables can't win."""
        assert _QUOTE not in self.body
        columns = ", ".join(f'"{name}" {kind}' for name, kind in self.columns)
        volatility = "VOLATILE" if "set_config(" in self.body else "STABLE"
        signature = f"{schema_path.schema}.{self.name}({', '.join(self.parameters)})"
        return (
            f"CREATE OR REPLACE FUNCTION {signature} RETURNS TABLE ({columns})"
            f" LANGUAGE plpgsql {volatility} SECURITY DEFINER"
            f" SET search_path = {schema_path.path}, pg_temp AS {_QUOTE}{self.body}{_QUOTE};"
            f" REVOKE ALL ON FUNCTION {signature} FROM PUBLIC;"
            f" GRANT EXECUTE ON FUNCTION {signature} TO {self.role.name}"
        )


class Functions:
    """Creates a role's functions, each on first use, and stores the calls of those that exist."""

    def __init__(self, role: FunctionRole) -> None:
        self._role = role
        self._statements = statements_of(role)
        self._calls: dict[tuple[str, tuple[int, ...]], str] = {}

    def get_call(self, name: str, numbers: Mapping[str, int]) -> str | None:
        """The function's call, if this process knows that it exists."""
        return self._calls.get((name, tuple(numbers.values())))

    def forget(self, name: str, numbers: Mapping[str, int]) -> None:
        self._calls.pop((name, tuple(numbers.values())), None)

    def forget_all(self) -> None:
        self._calls.clear()

    def all_calls(self) -> Mapping[str, str] | None:
        """The call of each statement; None if this process does not know that all exist."""
        calls = {name: self.get_call(name, {}) for name in self._statements}
        known = {name: call for name, call in calls.items() if call is not None}
        return known if len(known) == len(calls) else None

    async def create_all(self, connection: Connection) -> Mapping[str, str]:
        """Create the functions that are missing, and return the call of each statement.

        The statements take no numbers.
        """
        for name in self._statements:
            if (name, ()) not in self._calls:
                await self.create(connection, name, {})
        return {name: self._calls[name, ()] for name in self._statements}

    async def find_all(self, connection: Connection) -> None:
        """Store the calls of those functions that exist, without numbers; as `find`."""
        for name in self._statements:
            if (name, ()) not in self._calls:
                await self.find(connection, name, {})

    async def find(
        self, connection: Connection, name: str, numbers: Mapping[str, int]
    ) -> str | None:
        """The function's call if it exists on this server, which may be a standby."""
        schema_path, function = await self._describe(connection, name, numbers)
        if not await _exists(connection, function):
            return None
        return self._store_call(schema_path, function, name, numbers)

    async def create(self, connection: Connection, name: str, numbers: Mapping[str, int]) -> str:
        """Create the function and return its call; `connection` is the owner's."""
        schema_path, function = await self._describe(connection, name, numbers)
        await _store_function(connection, schema_path, function)
        return self._store_call(schema_path, function, name, numbers)

    async def _describe(
        self, connection: Connection, name: str, numbers: Mapping[str, int]
    ) -> tuple[SchemaPath, Function]:
        schema, path = await connection.fetchval(_SCHEMA_PATH)
        statement = self._statements[name]
        if numbers:
            statement = statement.format(**{key: int(value) for key, value in numbers.items()})
        function = await _prepare_function(connection, name, statement, self._role)
        return SchemaPath(schema, path), function

    def _store_call(
        self, schema_path: SchemaPath, function: Function, name: str, numbers: Mapping[str, int]
    ) -> str:
        schema = schema_path.schema
        call = f"SELECT * FROM {schema}.{function.call}"  # names of ours  # noqa: S608  # nosec B608
        self._calls[name, tuple(numbers.values())] = call
        return call


async def _prepare_function(
    connection: Connection, name: str, statement: str, role: FunctionRole
) -> Function:
    """A function with the statement's parameter and column types."""
    prepared = await connection.prepare(statement, name="")  # a pooler could confuse names
    attributes = prepared.get_attributes()
    parameters = await _types(
        connection, [parameter.oid for parameter in prepared.get_parameters()]
    )
    types = await _types(connection, [attribute.type.oid for attribute in attributes])
    columns = tuple(zip((attribute.name for attribute in attributes), types, strict=True))
    body = (
        f"#variable_conflict use_column\n-- {parameters} {columns}\n"
        f"BEGIN\nRETURN QUERY\n{statement.removesuffix(';')};\nEND"
    )
    digest = hashlib.sha256(body.encode()).hexdigest()[:_DIGEST_CHARACTERS]
    return Function(f"{name.replace('.', '_')}_{digest}", body, parameters, columns, role)


async def _exists(connection: Connection, function: Function) -> bool:
    exists: bool = await connection.fetchval(
        _EXISTS, function.name, function.body, function.role.name
    )
    return exists


async def _types(connection: Connection, oids: Sequence[int]) -> tuple[str, ...]:
    return tuple(await connection.fetchval(_TYPES, oids))


async def _store_function(
    connection: Connection, schema_path: SchemaPath, function: Function
) -> None:
    """Create the function in the database unless it exists; one process at a time."""
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        if not await _exists(connection, function):
            await connection.execute(function.definition(schema_path))
