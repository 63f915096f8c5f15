"""What searches are to the database: functions, and nothing else that their role may touch.

Each is one statement of `index/sql` with the rights of whoever owns the tables, so what it answers
is what its conditions on tenant and grants let through. Its name ends with a digest of its body:
two versions of Nearhit that differ in a statement have two functions, and neither takes the
other's. Nobody drops the older ones: they let through what they ever did.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from index.postgres import search_role, statements
from index.postgres.search_role import Connection

_LOCK = 6_324_273  # of one process that makes functions; see index/postgres/migrate.py
_QUOTE = "$nearhit$"
_DIGEST_CHARACTERS = 8  # which `role.excess` compares too

_PLACE = """
SELECT (
    quote_ident(current_schema()),
    (SELECT string_agg(quote_ident(name), ', ' ORDER BY place)
     FROM unnest(current_schemas(false)) WITH ORDINALITY AS path (name, place))
)"""
_TYPES = """
SELECT coalesce(array_agg(format_type(oid, NULL) ORDER BY place), '{}')
FROM unnest($1::oid[]) WITH ORDINALITY AS types (oid, place)"""
_IS_THERE = """
SELECT EXISTS (
    SELECT FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace
    WHERE nspname = current_schema() AND proname = $1 AND prosrc = $2 AND prosecdef
      AND has_function_privilege($3, pg_proc.oid, 'EXECUTE')
)"""


def is_search_function(name: str) -> bool:
    """Whether the statement is asked for by searches, and so is to be had as a function alone."""
    return name.startswith("search.") or name == "vocabulary.look_up"


STATEMENTS: Mapping[str, str] = {
    name: statement for name, statement in statements.load().items() if is_search_function(name)
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where the functions stand: the tables' schema, and all in which their statements look names
    up; quoted.
    """

    schema: str
    path: str


@dataclass(frozen=True, slots=True)
class Function:
    """A statement as a function. columns: names and types."""

    name: str
    body: str
    parameters: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]

    @property
    def call(self) -> str:
        """With the parameters of the statement; the function's schema goes before it."""
        numbers = ", ".join(f"${place}" for place, _ in enumerate(self.parameters, start=1))
        return f"{self.name}({numbers})"

    def definition(self, place: Place) -> str:
        """pg_temp comes last: else a table of the caller's own would be taken for one of ours."""
        assert _QUOTE not in self.body
        columns = ", ".join(f'"{name}" {kind}' for name, kind in self.columns)
        volatility = "VOLATILE" if "set_config(" in self.body else "STABLE"
        signature = f"{place.schema}.{self.name}({', '.join(self.parameters)})"
        return (
            f"CREATE OR REPLACE FUNCTION {signature} RETURNS TABLE ({columns})"
            f" LANGUAGE plpgsql {volatility} SECURITY DEFINER"
            f" SET search_path = {place.path}, pg_temp AS {_QUOTE}{self.body}{_QUOTE};"
            f" REVOKE ALL ON FUNCTION {signature} FROM PUBLIC;"
            f" GRANT EXECUTE ON FUNCTION {signature} TO {search_role.NAME}"
        )


class Functions:
    """Makes the functions, each when it is first asked for; remembers those that are there."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, tuple[int, ...]], str] = {}

    def known(self, name: str, numbers: Mapping[str, int]) -> str | None:
        """What calls the function, if this process knows it to be there."""
        return self._calls.get((name, tuple(numbers.values())))

    def forget(self, name: str, numbers: Mapping[str, int]) -> None:
        self._calls.pop((name, tuple(numbers.values())), None)

    async def make(self, connection: Connection, name: str, numbers: Mapping[str, int]) -> str:
        """What calls the function, which is there from now on; `connection` is the owner's."""
        schema, path = await connection.fetchval(_PLACE)
        function = await _function(connection, name, numbers)
        await _put(connection, Place(schema, path), function)
        call = f"SELECT * FROM {schema}.{function.call}"  # names of ours  # noqa: S608  # nosec B608
        self._calls[name, tuple(numbers.values())] = call
        return call


async def _function(connection: Connection, name: str, numbers: Mapping[str, int]) -> Function:
    """What takes and gives the types that the statement by itself would."""
    statement = STATEMENTS[name]
    if numbers:
        statement = statement.format(**{key: int(value) for key, value in numbers.items()})
    prepared = await connection.prepare(statement, name="")  # no name that a pooler could mix up
    attributes = prepared.get_attributes()
    parameters = await _types(connection, [one.oid for one in prepared.get_parameters()])
    types = await _types(connection, [attribute.type.oid for attribute in attributes])
    columns = tuple(zip((attribute.name for attribute in attributes), types, strict=True))
    body = (
        f"#variable_conflict use_column\n-- {parameters} {columns}\n"
        f"BEGIN\nRETURN QUERY\n{statement.removesuffix(';')};\nEND"
    )
    digest = hashlib.sha256(body.encode()).hexdigest()[:_DIGEST_CHARACTERS]
    return Function(f"{name.replace('.', '_')}_{digest}", body, parameters, columns)


async def _types(connection: Connection, oids: Sequence[int]) -> tuple[str, ...]:
    return tuple(await connection.fetchval(_TYPES, oids))


async def _put(connection: Connection, place: Place, function: Function) -> None:
    """Into the database, unless it is there already; one process at a time."""
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        if not await connection.fetchval(_IS_THERE, function.name, function.body, search_role.NAME):
            await connection.execute(function.definition(place))
