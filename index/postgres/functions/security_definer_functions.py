"""The database functions of the roles that may touch nothing else.

Each runs one statement of `index/sql` with the rights of the tables' owner, so it returns only what
the statement selects: for searches, what its conditions on tenant and grants admit. Its name ends
with a digest of its body: two versions of Nearhit that differ in a statement use two functions.
Older functions are not dropped: they admit no more than before.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from index.postgres import statements
from index.postgres.functions import function_roles
from index.postgres.functions.function_roles import Connection, FunctionRole
from index.postgres.functions.function_signatures import SIGNATURES, Signature

_LOCK = 6_324_273  # held while a process creates functions; see index/postgres/setup/migrate.py
_QUOTE = "$nearhit$"
_NUMBER = re.compile(r"\{\w+\}")
# Their plan is the same for all arguments: rows are looked up by key, also while tables are small.
_PLANNED_ONCE = "search_confirmation."
_PLAN_ONCE = " SET plan_cache_mode = force_generic_plan SET enable_seqscan = off"
_DIGEST_CHARACTERS = 8  # which `function_roles.excess` compares too

# Of each function whose name and body are given as $1 and $2, and which the role $3 may call.
# A digest instead of the body, which would take more round trips to a far server.
_FIND = """
SELECT quote_ident(current_schema()) AS schema,
    (SELECT string_agg(quote_ident(name), ', ' ORDER BY place)
     FROM unnest(current_schemas(false)) WITH ORDINALITY AS path (name, place)) AS path,
    ARRAY(
        SELECT proname::text
        FROM unnest($1::text[], $2::text[]) AS wanted (name, digest)
        JOIN pg_proc ON proname = wanted.name
        JOIN pg_namespace ON pg_namespace.oid = pronamespace
        WHERE nspname = current_schema() AND prosecdef
          AND encode(sha256(convert_to(prosrc, 'UTF8')), 'hex') = digest
          AND has_function_privilege($3, pg_proc.oid, 'EXECUTE')
    ) AS names"""


def role_of(name: str) -> FunctionRole | None:
    """The role that calls the statement as a function; None if the owner runs it."""
    of_searches = (
        "search.",
        "search_confirmation.",
        "search_documents.",
        "search_facets.",
        "search_relations.",
        "search_popularity.",
        "search_audiences.",
    )
    if name.startswith(of_searches) or name == "vocabulary.look_up":
        return function_roles.SEARCH
    return function_roles.SHARDS if name.startswith("resident.") else None


STATEMENTS: Mapping[str, str] = {
    name: statement for name, statement in statements.load().items() if role_of(name) is not None
}


# Those with a number in braces, where SQL takes no parameter.
WITH_NUMBERS = frozenset(name for name, text in STATEMENTS.items() if _NUMBER.search(text))

_Wanted: TypeAlias = tuple[str, Mapping[str, int]]  # a statement and its numbers
_Key: TypeAlias = tuple[str, tuple[int, ...]]


def statements_of(role: FunctionRole) -> Mapping[str, str]:
    return {name: statement for name, statement in STATEMENTS.items() if role_of(name) == role}


@dataclass(frozen=True, slots=True)
class SchemaPath:
    """The tables' schema, which holds the functions, and their search path; quoted."""

    schema: str
    path: str


@dataclass(frozen=True)
class Function:
    """A statement as a function."""

    statement_name: str
    statement: str
    signature: Signature
    role: FunctionRole

    @cached_property
    def body(self) -> str:
        return (
            "#variable_conflict use_column\n"
            f"-- {self.signature.parameters} {self.signature.columns}\n"
            f"BEGIN\nRETURN QUERY\n{self.statement.removesuffix(';')};\nEND"
        )

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.body.encode()).hexdigest()

    @property
    def name(self) -> str:
        return f"{self.statement_name.replace('.', '_')}_{self.digest[:_DIGEST_CHARACTERS]}"

    def call(self, schema: str) -> str:
        """The statement that calls it with the parameters of its own."""
        parameters = range(1, len(self.signature.parameters) + 1)
        numbers = ", ".join(f"${number}" for number in parameters)
        return f"SELECT * FROM {schema}.{self.name}({numbers})"  # names of ours  # noqa: S608

    def definition(self, schema_path: SchemaPath) -> str:
        """The SQL that creates the function; pg_temp is last so that temporary tables can't win."""
        body = self.body
        assert _QUOTE not in body
        columns = ", ".join(f'"{name}" {kind}' for name, kind in self.signature.columns)
        volatility = "VOLATILE" if "set_config(" in body else "STABLE"
        planning = _PLAN_ONCE if self.statement_name.startswith(_PLANNED_ONCE) else ""
        signature = f"{schema_path.schema}.{self.name}({', '.join(self.signature.parameters)})"
        return (
            f"CREATE OR REPLACE FUNCTION {signature} RETURNS TABLE ({columns})"
            f" LANGUAGE plpgsql {volatility} SECURITY DEFINER"
            f" SET search_path = {schema_path.path}, pg_temp{planning} AS {_QUOTE}{body}{_QUOTE};"
            f" REVOKE ALL ON FUNCTION {signature} FROM PUBLIC;"
            f" GRANT EXECUTE ON FUNCTION {signature} TO {self.role.name}"
        )


class Functions:
    """Finds and creates a role's functions, and stores the calls of those that exist."""

    def __init__(self, role: FunctionRole) -> None:
        self._role = role
        self._statements = statements_of(role)
        self._calls: dict[_Key, str] = {}

    def get_call(self, name: str, numbers: Mapping[str, int]) -> str | None:
        """The function's call, if this process knows that it exists."""
        return self._calls.get(_key(name, numbers))

    def forget(self, name: str, numbers: Mapping[str, int]) -> None:
        self._calls.pop(_key(name, numbers), None)

    def forget_all(self) -> None:
        self._calls.clear()

    def all_calls(self) -> Mapping[str, str] | None:
        """The call of each statement without numbers; None unless all are known to exist."""
        calls = {name: self.get_call(name, {}) for name in self._without_numbers()}
        known = {name: call for name, call in calls.items() if call is not None}
        return known if len(known) == len(calls) else None

    async def create_all(self, connection: Connection) -> None:
        """Create the functions that are missing, but for those with numbers, and store the calls.

        It takes one statement, and one more if a function is missing. `connection` is the owner's.
        """
        await self._create(connection, [(name, {}) for name in self._without_numbers()])

    async def find_all(self, connection: Connection) -> None:
        """Store the calls of those functions that exist, without numbers; as `find`."""
        await self._find(connection, [(name, {}) for name in self._without_numbers()])

    async def find(
        self, connection: Connection, name: str, numbers: Mapping[str, int]
    ) -> str | None:
        """The function's call if it exists on this server, which may be a standby."""
        await self._find(connection, [(name, numbers)])
        return self.get_call(name, numbers)

    async def create(self, connection: Connection, name: str, numbers: Mapping[str, int]) -> str:
        """Create the function and return its call; `connection` is the owner's."""
        await self._create(connection, [(name, numbers)])
        return self._calls[_key(name, numbers)]

    def _without_numbers(self) -> Sequence[str]:
        return [name for name in self._statements if name not in WITH_NUMBERS]

    async def _create(self, connection: Connection, wanted: Sequence[_Wanted]) -> None:
        schema_path, missing = await self._find(connection, wanted)
        if not missing:
            return
        functions = [self._function(*each) for each in missing]
        # The commands of one message are one transaction. Another process that creates the same
        # functions waits, and then replaces them by themselves.
        await connection.execute(
            "; ".join(
                [
                    f"SELECT pg_advisory_xact_lock({_LOCK})",
                    *(function.definition(schema_path) for function in functions),
                ]
            )
        )
        for each, function in zip(missing, functions, strict=True):
            self._calls[_key(*each)] = function.call(schema_path.schema)

    async def _find(
        self, connection: Connection, wanted: Sequence[_Wanted]
    ) -> tuple[SchemaPath, Sequence[_Wanted]]:
        """Store the calls of those that exist; return those that do not."""
        functions = {_key(*each): self._function(*each) for each in wanted}
        row = await connection.fetchrow(
            _FIND,
            [function.name for function in functions.values()],
            [function.digest for function in functions.values()],
            self._role.name,
        )
        assert row is not None, "it returns one row"
        for key, function in functions.items():
            if function.name in row["names"]:
                self._calls[key] = function.call(row["schema"])
        missing = [each for each in wanted if _key(*each) not in self._calls]
        return SchemaPath(row["schema"], row["path"]), missing

    def _function(self, name: str, numbers: Mapping[str, int]) -> Function:
        statement = self._statements[name]
        if numbers:
            statement = statement.format(**{key: int(value) for key, value in numbers.items()})
        return Function(name, statement, SIGNATURES[name], self._role)


def _key(name: str, numbers: Mapping[str, int]) -> _Key:
    return name, tuple(numbers.values())
