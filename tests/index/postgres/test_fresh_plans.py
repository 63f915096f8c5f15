"""How statements look rows up in a database without statistics, as that of a first import.

PostgreSQL keeps the plan until statistics arrive, and all indexes of an empty table cost the same.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, TypeAlias

import asyncpg
import pytest

from index.postgres import connections, statements

pytestmark = [pytest.mark.anyio, pytest.mark.isolated, pytest.mark.slow]

Node: TypeAlias = dict[str, Any]

# Each looks up rows that it has just read, of which a tenant has few or a day ends.
EXEMPT = {"asked_questions.prune", "curation.prune", "principals.holders_of_group"}

# A partial index has few rows, whatever is stored beside them.
INDEXES = """
SELECT relation.relname AS relation, name.relname AS name, indpred IS NOT NULL AS is_partial,
    ARRAY(
        SELECT trim('"' FROM pg_get_indexdef(indexrelid, place, true))
        FROM generate_series(1, indnkeyatts) AS place
    ) AS columns
FROM pg_index
JOIN pg_class AS relation ON relation.oid = indrelid
JOIN pg_class AS name ON name.oid = indexrelid
JOIN pg_am AS method ON method.oid = name.relam
WHERE relation.relnamespace = current_schema()::regnamespace AND method.amname = 'btree'"""


async def test_no_statement_looks_rows_up_by_less_than_an_index_has(
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    for name, value in connections.session(60.0).items():
        await connection.execute("SELECT set_config($1, $2, false)", name, value)
    indexes = await connection.fetch(INDEXES)
    planned, found = 0, dict[str, str]()
    for name, statement in statements.load().items():
        if re.search(r"\{\w+\}|^CALL |^CREATE ", statement, re.MULTILINE):
            continue  # of a table that is made or moved by then, or no query
        planned += 1
        for node in _nodes(await _plan(connection, statement)):
            for index in indexes:
                if _is_overlooked(node, index, indexes):
                    found[name] = f"{node['Index Name']} instead of {index['name']}"
    assert planned > 400
    assert {name: found[name] for name in found.keys() - EXEMPT} == {}
    assert found.keys() == EXEMPT


async def _plan(connection: "asyncpg.Connection[asyncpg.Record]", statement: str) -> Node:
    await connection.execute(f"PREPARE planned AS {statement}")
    parameters = await connection.fetchval(
        "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 'planned'"
    )
    nulls = ", ".join(["NULL"] * parameters)
    explained = await connection.fetchval(
        "EXPLAIN (FORMAT JSON) EXECUTE planned" + f"({nulls})" * bool(nulls)
    )
    await connection.execute("DEALLOCATE planned")
    plan: Node = json.loads(explained)[0]["Plan"]
    return plan


def _nodes(plan: Node) -> Iterator[Node]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from _nodes(part)


def _is_overlooked(node: Node, index: asyncpg.Record, indexes: Sequence[asyncpg.Record]) -> bool:
    """Whether the scan compares rows with what the index would have found them by."""
    used = next((one for one in indexes if one["name"] == node.get("Index Name")), None)
    if used is None or used["relation"] != index["relation"] or used["name"] == index["name"]:
        return False
    if used["is_partial"] or index["is_partial"]:
        return False
    looked_up = _compared(node.get("Index Cond", ""))
    compared = looked_up | _compared(node.get("Filter", ""))
    return looked_up < set(takewhile(compared.__contains__, index["columns"]))


def _compared(condition: str) -> set[str]:
    """The columns that must equal something, also within an index's array."""
    condition = condition.replace("ARRAY[tenant]", "tenant")
    return {
        match[1]
        for term in _terms(condition)
        if (match := re.fullmatch(r"\((?:\w+\.)?(\w+) = .*\)", term)) and " OR " not in term
    }


def _terms(condition: str) -> list[str]:
    """Those that AND joins: `((a = 1) AND ((b = 2) OR (c = 3)))` has two, `(a = 1)` one."""
    if not condition.startswith("(("):
        return [condition]
    terms, depth, start = list[str](), 0, 0
    for place, character in enumerate(condition):
        if character == "(":
            depth += 1
            start = place if depth <= 2 else start
        elif character == ")":
            depth -= 1
            if depth == 1:
                terms.append(condition[start : place + 1])
    return terms
