"""A filter wants the same documents in this process as in PostgreSQL."""

import re
import time
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import asyncpg
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from index.model import attributes, scope
from index.model.attributes import Condition
from index.model.document import Document
from index.model.query import CONDITIONS, Filter
from index.postgres.filter_sql import filter_args
from tests.index.support import filters, questions, worlds
from tests.sampling import examples

pytestmark = pytest.mark.anyio

WORLD = [document for _, document in worlds.made_up_documents(seed=2026)]
# Conditions that no token has, as two of them are not one.
UNMERGED = {
    name: st.just(filters.DEFAULTS[name]) for name, each in CONDITIONS.items() if not each.both
}

scalars = st.sampled_from([None, True, False, 0, 1, 1.0, 0.5, -0.0, "", "a", "1", "null"])
values = scalars | st.lists(scalars, max_size=3)
metadata = st.dictionaries(st.sampled_from(["a", "b"]), values, max_size=2)

# Of text also what a path would have to escape, and what sorts otherwise by a language or UTF-16.
TIMES = ["2025-02-03", "2025-02-03T00:00:00+00:00", "2025-02-03T00:00:00"]
texts = st.sampled_from([*TIMES, 'a"', "$", "b", "B", "ä", "\uffff", "\U0001f600", "\n", "'", "%s"])
numbers = st.sampled_from([2**53 - 1, -(2**53 - 1), 1e300, 5e-324, 0.1, 0.30000000000000004, 3])
comparable = scalars.filter(lambda value: value is not None) | texts | numbers
ordered = comparable.filter(lambda value: not isinstance(value, bool))
keys = st.sampled_from(
    ["a", "b", 'a"b', "$", "c'", "\\", "\\u0041", "ä b", "\U0001f600", "1", "\uffff"]
)
comparisons = st.one_of(
    st.builds(Condition, st.sampled_from(["eq", "ne"]), keys, st.tuples(comparable)),
    st.builds(Condition, st.sampled_from(["gt", "gte", "lt", "lte"]), keys, st.tuples(ordered)),
    st.builds(
        Condition,
        st.sampled_from(["in", "nin"]),
        keys,
        st.lists(comparable, min_size=1, max_size=3).map(tuple),
    ),
)
conditions = st.recursive(
    comparisons,
    lambda parts: st.builds(
        lambda joint, parts: Condition(joint, parts=tuple(parts)),
        st.sampled_from(["and", "or"]),
        st.lists(parts, min_size=1, max_size=3),
    ),
    max_leaves=6,
)
attributed = st.dictionaries(
    keys, st.one_of(comparable, st.none(), st.lists(comparable, max_size=3)), max_size=4
)


@settings(max_examples=examples(300))
@given(
    wanted=filters.random_filters(), document=st.sampled_from(WORLD), updated_at=questions.moments
)
def test_a_filter_admits_what_meets_all_of_it(
    wanted: Filter, document: Document, updated_at: datetime
) -> None:
    chunk = filters.as_chunk(document, updated_at)

    assert wanted.admits(chunk) == filters.meets(chunk, wanted)
    assert wanted.admits_document(chunk) == filters.meets(chunk, wanted, ["documents"])


@pytest.mark.slow
@settings(max_examples=examples(500))
@given(
    asked=filters.random_filters(),
    limits=filters.random_filters(**UNMERGED),
    document=st.sampled_from(WORLD),
    updated_at=questions.moments,
)
def test_a_filter_narrowed_by_another_admits_what_both_do(
    asked: Filter, limits: Filter, document: Document, updated_at: datetime
) -> None:
    chunk = filters.as_chunk(document, updated_at)
    admitted = filters.meets(chunk, asked.narrowed(limits))

    both = [filters.meets(chunk, wanted) for wanted in (asked, limits)]
    assert admitted == all(both)


def a_chunk(metadata: dict[str, Any]) -> Any:
    return SimpleNamespace(source="wiki", metadata=metadata, chunk_id=1)


@settings(max_examples=examples(500))
@given(held=metadata, asked=metadata, limits=metadata)
def test_metadata_wanted_twice_has_to_be_held_twice(
    held: dict[str, Any], asked: dict[str, Any], limits: dict[str, Any]
) -> None:
    chunk = a_chunk(held)
    one, other = Filter(metadata=asked), Filter(metadata=limits)

    admits_both = one.admits(chunk) and other.admits(chunk)
    assert one.narrowed(other).admits(chunk) == admits_both


@settings(max_examples=examples(200), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(held=metadata, wanted=metadata)
async def test_metadata_is_held_as_postgresql_says(
    connection: "asyncpg.Connection[asyncpg.Record]", held: dict[str, Any], wanted: dict[str, Any]
) -> None:
    expected = await connection.fetchval(
        "SELECT $1::jsonb @> $2::jsonb", orjson.dumps(held).decode(), orjson.dumps(wanted).decode()
    )

    chunk = a_chunk(held)
    assert Filter(metadata=wanted).admits(chunk) == expected


@pytest.mark.slow
@settings(max_examples=examples(1_500), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(held=attributed, condition=conditions)
async def test_attributes_are_compared_as_postgresql_does(
    connection: "asyncpg.Connection[asyncpg.Record]", held: dict[str, Any], condition: Condition
) -> None:
    path, variables = attributes.path(condition)
    expected = await connection.fetchval(
        "SELECT jsonb_path_match($1::jsonb, $2::text::jsonpath, $3::jsonb)",
        *(orjson.dumps(held).decode(), path, orjson.dumps(variables).decode()),
    )

    assert attributes.meets(held, condition) == expected


@settings(max_examples=examples(300))
@given(held=attributed, one=conditions, other=st.none() | conditions)
def test_conditions_asked_for_twice_have_to_be_met_twice(
    held: dict[str, Any], one: Condition, other: Condition | None
) -> None:
    joined = Filter(attributes=one).narrowed(Filter(attributes=other)).attributes

    assert joined is not None
    met = [each is None or attributes.meets(held, each) for each in (one, other)]
    assert attributes.meets(held, joined) == all(met)


@given(key=st.text(min_size=1), value=st.text())
def test_a_key_can_not_end_its_place_in_a_path_and_a_value_is_never_in_it(
    key: str, value: str
) -> None:
    wanted = Filter(attributes=Condition("eq", key, (value,)))
    arguments = filter_args(scope.everything("acme", "ana", [], receives_public=True), wanted)
    argument = arguments[11]["attributes"]

    assert re.fullmatch(
        r'exists\(\$\."([A-Za-z0-9]|\\u[0-9a-f]{4})+" \? \(@ == \$v0\)\)', argument["path"]
    )
    assert argument["variables"] == {"v0": [value]}


@given(condition=conditions)
def test_a_condition_is_the_same_after_it_was_kept(condition: Condition) -> None:
    assert Condition.from_json(orjson.loads(orjson.dumps(condition))) == condition


async def test_a_comparison_takes_as_long_however_many_keys_a_document_has(
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    # Of keys that both documents have, so that there is as much to compare.
    parts = tuple(Condition("eq", f"k{at % 5}", ("x",)) for at in range(60))
    condition = Condition("or", parts=parts)
    path, variables = attributes.path(condition)

    async def seconds(keys: int) -> float:
        """The shortest of several, so that what else the machine does counts little."""
        held = orjson.dumps({f"k{at}": "y" for at in range(keys)}).decode()
        arguments = (held, path, orjson.dumps(variables).decode())
        taken = []
        for _ in range(5):
            started_s = time.perf_counter()
            await connection.fetchval(
                "SELECT count(jsonb_path_match($1::jsonb, (SELECT $2::text::jsonpath), $3::jsonb))"
                " FROM generate_series(1, 500)",
                *arguments,
            )
            taken.append(time.perf_counter() - started_s)
        return min(taken)

    assert await seconds(60) < 3 * await seconds(5)
