"""Connections of the driver that ask the server once what all of a pool need to know.

The driver looks up each type on each new connection, in about twelve round trips: to a server in
another region that takes longer than a caller waits.
"""

import asyncio
from collections.abc import Collection, Sequence
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

import asyncpg

if TYPE_CHECKING:
    _Connection = asyncpg.Connection[asyncpg.Record]
    _Pool = asyncpg.Pool[asyncpg.Record]
else:
    _Connection = asyncpg.Connection  # generic for the type checker alone
    _Pool = asyncpg.Pool

# For a cancelled statement to end, before its connection is closed; a starting value, not measured.
CANCEL_S_MAX = 1.0

# Of pgvector, and the arrays of these types; and PostgreSQL's arrays that statements use.
_NAMES = ("halfvec", "sparsevec", "vector")
_ARRAYS = (
    *("_bool", "_bytea", "_date", "_float4", "_float8", "_int2", "_int4", "_int8", "_jsonb"),
    *("_name", "_record", "_timestamptz"),
)
_READ = """
SELECT type.oid, nspname AS ns, typname AS name, typtype AS kind, typelem AS elemtype,
    typdelim AS elemdelim
FROM pg_catalog.pg_type AS type JOIN pg_catalog.pg_namespace AS schema ON schema.oid = typnamespace
WHERE nspname = 'pg_catalog' AND typname = ANY ($2::text[])
   OR schema.oid = (SELECT extnamespace FROM pg_catalog.pg_extension WHERE extname = 'vector')
  AND (typname = ANY ($1::text[]) OR typelem IN (
    SELECT oid FROM pg_catalog.pg_type
    WHERE typname = ANY ($1::text[]) AND typnamespace = schema.oid
))"""
_COUNT = """
SELECT FROM pg_catalog.pg_type JOIN pg_catalog.pg_extension ON extnamespace = typnamespace
WHERE extname = 'vector' AND (pg_type.oid, typname) IN """
_OURS = 16_384  # the first number of a type that is not PostgreSQL's own
# What the driver reads of a type; all that is not here has no meaning for scalars and arrays.
_ABSENT = dict.fromkeys(
    ("basetype", "range_subtype", "attrtypoids", "attrnames", "basetype_name", "range_subtype_name")
)


class ServerTypes:
    """The types of one database, as its connections have read them."""

    def __init__(self) -> None:
        self._types: dict[int, dict[str, Any]] = {}
        self._reading_first = asyncio.Lock()

    async def load(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        """Make sure that these are the server's types; in one round trip if they are.

        They have other numbers after the extension or the database was created anew. Connections
        that are opened at once take what one of them reads.
        """
        if not self._types:
            async with self._reading_first:
                if not self._types:
                    await self._read(connection)
        elif not await self._are_current(connection):
            await self._read(connection)

    async def _read(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        rows = await connection.fetch(_READ, _NAMES, _ARRAYS)
        self._types = {
            row["oid"]: {**_ABSENT, "elemtype_name": None, "depth": 0, **row} for row in rows
        }

    async def _are_current(self, connection: "asyncpg.Connection[asyncpg.Record]") -> bool:
        pairs = [
            f"({int(oid)}, '{each['name']}')"  # the name is one of ours or its array's
            for oid, each in self._types.items()
            if oid >= _OURS
        ]
        status = await connection.execute(f"{_COUNT} ({', '.join(pairs)})")
        return status == f"SELECT {len(pairs)}"

    @property
    def extension_schema(self) -> str:
        """Where pgvector's types are."""
        vector = self.by_name("vector")
        return "public" if vector is None else str(vector["ns"])

    def by_name(self, name: str) -> dict[str, Any] | None:
        return next((each for each in self._types.values() if each["name"] == name), None)

    def by_oids(self, oids: Collection[int]) -> Sequence[dict[str, Any]] | None:
        """The types; None if one of them is not known."""
        types = [self._types.get(oid) for oid in oids]
        known = [each for each in types if each is not None]
        return known if len(known) == len(types) else None


class DriverConnection(_Connection):
    """types: of the database that a pool leads to; each pool has a class of its own.

    Overrides what the driver calls to look up types. Should a later driver call something else,
    it asks the server as before: slower, and as right.
    """

    types: ClassVar[ServerTypes]

    async def _introspect_type(self, typename: str, schema: str) -> Any:
        known = self.types.by_name(typename) if schema != "pg_catalog" else None
        if known is not None:
            return known
        return await super()._introspect_type(typename, schema)  # type: ignore[misc]  # the stubs leave it out

    async def _introspect_types(self, typeoids: Collection[int], timeout: float | None) -> Any:  # noqa: ASYNC109  the driver's
        known = self.types.by_oids(typeoids)
        if known is None:
            return await super()._introspect_types(typeoids, timeout)  # type: ignore[misc]  # too
        # A statement with a name: the driver's own has not replaced the one being prepared.
        return known, SimpleNamespace(name="known")


class ListeningConnection(_Connection):
    """Listens in one round trip, where the driver prepares the command first."""

    async def fetch(self, query: str, *args: Any, **options: Any) -> Any:
        if query.startswith("LISTEN ") and not args:
            await self.execute(query)
            return []
        return await super().fetch(query, *args, **options)


class DriverPool(_Pool):
    """Whoever gives up a statement does not wait for a server that says nothing any more.

    The driver would wait as long as for acquiring the connection: a deadline would be late by that.
    """

    def __init__(self, url: str, **options: Any) -> None:
        super().__init__(
            url,
            max_queries=50_000,  # these four are the driver's defaults
            max_inactive_connection_lifetime=300.0,
            loop=None,
            record_class=asyncpg.Record,
            **options,
        )

    async def release(self, connection: Any, *, timeout: float | None = None) -> None:  # noqa: ASYNC109  the driver's
        with suppress(TimeoutError):  # the driver has closed the connection
            await super().release(connection, timeout=CANCEL_S_MAX if timeout is None else timeout)


def of(types: ServerTypes) -> type[DriverConnection]:
    """The class of a pool's connections."""
    return type("PoolConnection", (DriverConnection,), {"types": types})
