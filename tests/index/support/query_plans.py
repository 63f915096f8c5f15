"""The plans of statements as they ran, also of those inside functions, and what they read."""

import json
from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeAlias, cast

from index.model.query import Query
from index.model.scope import Scope
from index.postgres.database import Database
from index.postgres.functions.function_roles import Connection
from index.postgres.search_connections import SearchConnections
from index.postgres.session import Row
from index.search.searcher import Searcher
from index.search.tables.strategy import StrategyLimits
from tests.index.support import many_chunks
from tests.index.support.captured_statements import held

Node: TypeAlias = dict[str, Any]

QUERY = Query(many_chunks.QUESTION, alpha=0.5)


class PlanRows(Protocol):
    async def rows(self, name: str, *arguments: Any, **numbers: int) -> Sequence[Row]: ...


class Explained:
    """A way to the database by one connection that keeps the plan of each statement as it ran."""

    def __init__(self, way: PlanRows) -> None:
        self._way = way
        # What a function has run ends just before the call of it does.
        self._place = -2 if isinstance(way, SearchConnections) else -1
        self._told: list[str] = []
        self.plans: list[tuple[str, Node]] = []
        self.is_pinned = False

    @property
    def searching(self) -> "Explained":
        """Searches run their statements here too."""
        return self

    async def rows(self, name: str, *arguments: Any, **numbers: int) -> Sequence[Row]:
        return await self._kept(name, self._way.rows(name, *arguments, **numbers))

    async def _kept(self, name: str, running: Awaitable[Sequence[Row]]) -> Sequence[Row]:
        self._told.clear()
        rows = await running
        self.plans.append((name, json.loads(self._told[self._place].partition("plan:")[2])["Plan"]))
        return rows

    async def row(self, name: str, *arguments: Any) -> Row | None:
        rows = await self.rows(name, *arguments)
        return rows[0] if rows else None

    async def shared_rows(self, name: str, *arguments: Any) -> Sequence[Row]:
        assert isinstance(self._way, SearchConnections)
        return await self._kept(name, self._way.shared_rows(name, *arguments))

    def listen(self, _connection: Connection, message: Any) -> None:
        self._told.append(message.message)

    async def search(
        self, scope: Scope, limits: StrategyLimits, query: Query = QUERY
    ) -> list[tuple[str, Node]]:
        """The names and plans of the passes of one search, by a searcher that knows nothing yet."""
        self.plans.clear()
        searcher = Searcher(cast("Database", self), many_chunks.EMBEDDER, limits=limits)
        await searcher.search(scope, query)
        return [
            (name, plan)
            for name, plan in self.plans
            if name.startswith(("search.exact", "search.nearest"))
        ]


@asynccontextmanager
async def explained_searches(url: str) -> AsyncIterator[Explained]:
    async with held(url) as (searching, connection):
        await connection.execute("SET ROLE NONE")  # that of searches may not load anything
        async with explained(searching, connection) as explaining:
            await connection.execute("RESET ROLE")
            yield explaining


@asynccontextmanager
async def explained(way: PlanRows, connection: Connection) -> AsyncIterator[Explained]:
    """What the server tells of each statement is what ran, not what `EXPLAIN` would have run."""
    await connection.execute(
        "LOAD 'auto_explain';"
        "SET auto_explain.log_min_duration = 0; SET auto_explain.log_level = notice;"
        "SET auto_explain.log_analyze = on; SET auto_explain.log_timing = off;"
        "SET auto_explain.log_format = json; SET auto_explain.log_nested_statements = on"
    )
    explaining = Explained(way)
    connection.add_log_listener(explaining.listen)
    try:
        yield explaining
    finally:
        connection.remove_log_listener(explaining.listen)


def nodes(plan: Node) -> Iterator[Node]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from nodes(part)


def part(plan: Node, name: str) -> Node:
    """The part of the plan that carries out one of the statement's queries."""
    (found,) = (node for node in nodes(plan) if node.get("Subplan Name") == f"CTE {name}")
    return found


def reads(plan: Node, relation: str) -> list[Node]:
    """The scans of a table that were carried out."""
    return [
        node
        for node in nodes(plan)
        if node.get("Relation Name") == relation and node["Actual Loops"]
    ]


def indexes(plan: Node, relation: str) -> set[str]:
    """The indexes that the table was read by; '' if it was read without one."""
    return {index for read in reads(plan, relation) for index in set(_by(read)) or {""}}


def _by(scan: Node) -> Iterator[str]:
    """The index of a scan, or those that its bitmap is made of."""
    if "Index Name" in scan:
        yield scan["Index Name"]
    for node in scan.get("Plans", ()):
        if node["Parent Relationship"] not in {"InitPlan", "SubPlan"}:
            yield from _by(node)


def rows_read(plan: Node, relation: str) -> int:
    """How many rows the scans of a table met, wanted or not."""
    return sum(
        round((node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"])
        for node in reads(plan, relation)
    )


def partitions_read(plan: Node) -> set[str]:
    return {
        node["Relation Name"]
        for node in nodes(plan)
        if node.get("Relation Name", "").startswith("chunks_") and node["Actual Loops"]
    }


def assert_no_table_is_read_through(plan: Node) -> None:
    through = {node["Relation Name"] for node in nodes(plan) if node["Node Type"] == "Seq Scan"}
    assert through <= {"index_meta"}, "which has one row"
