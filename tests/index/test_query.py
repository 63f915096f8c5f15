"""A filter wants the same documents in this process as in PostgreSQL."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import asyncpg
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from index import attributes, scope
from index.attributes import Condition
from index.document import Document
from index.query import Filter
from index.visible import which
from tests.index import questions, worlds

pytestmark = pytest.mark.anyio

WORLD = [document for _, document in worlds.made_up_documents(seed=2026)]

scalars = st.sampled_from([None, True, False, 0, 1, 1.0, 0.5, -0.0, "", "a", "1", "null"])
values = scalars | st.lists(scalars, max_size=3)
metadata = st.dictionaries(st.sampled_from(["a", "b"]), values, max_size=2)

# Of text also what a path would have to escape, and what sorts otherwise by a language or UTF-16.
texts = st.sampled_from(['a"', "$", "b", "B", "ä", "\uffff", "\U0001f600", "\n", "'", "%s"])
numbers = st.sampled_from([2**53 - 1, -(2**53 - 1), 1e300, 5e-324, 0.1, 0.30000000000000004, 3])
comparable = scalars.filter(lambda value: value is not None) | texts | numbers
ordered = comparable.filter(lambda value: not isinstance(value, bool))
keys = st.sampled_from(["a", "b", 'a"b', "$", "c'"])
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


@settings(max_examples=300)
@given(wanted=questions.filters, document=st.sampled_from(WORLD), updated_at=questions.moments)
def test_a_filter_admits_what_meets_all_of_it(
    wanted: Filter, document: Document, updated_at: datetime
) -> None:
    admitted = wanted.admits(
        document_id=document.document_id,
        source=document.source,
        language=document.language,
        tags=document.tags,
        metadata=document.metadata,
        updated_at=updated_at,
        kind="text",
    )

    assert admitted == worlds.meets(document, updated_at, wanted)


@settings(max_examples=500)
@given(
    asked=questions.filters,
    limits=questions.filters.map(lambda limits: replace(limits, tags_any=None)),
    document=st.sampled_from(WORLD),
    updated_at=questions.moments,
)
def test_a_filter_narrowed_by_another_admits_what_both_do(
    asked: Filter, limits: Filter, document: Document, updated_at: datetime
) -> None:
    admitted = worlds.meets(document, updated_at, asked.narrowed(limits))

    both = worlds.meets(document, updated_at, asked) and worlds.meets(document, updated_at, limits)
    assert admitted == both


@settings(max_examples=500)
@given(held=metadata, asked=metadata, limits=metadata)
def test_metadata_wanted_twice_has_to_be_held_twice(
    held: dict[str, Any], asked: dict[str, Any], limits: dict[str, Any]
) -> None:
    def holds(wanted: Filter) -> bool:
        return wanted.admits(
            document_id="",
            source="",
            language="",
            tags=(),
            metadata=held,
            updated_at=worlds.EPOCH,
            kind="text",
        )

    one, other = Filter(metadata=asked), Filter(metadata=limits)

    assert holds(one.narrowed(other)) == (holds(one) and holds(other))


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(held=metadata, wanted=metadata)
async def test_metadata_is_held_as_postgresql_says(
    connection: "asyncpg.Connection[asyncpg.Record]", held: dict[str, Any], wanted: dict[str, Any]
) -> None:
    expected = await connection.fetchval(
        "SELECT $1::jsonb @> $2::jsonb", orjson.dumps(held).decode(), orjson.dumps(wanted).decode()
    )

    admitted = Filter(metadata=wanted).admits(
        document_id="",
        source="",
        language="",
        tags=(),
        metadata=held,
        updated_at=worlds.EPOCH,
        kind="text",
    )

    assert admitted == expected


@settings(max_examples=1_500, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


@settings(max_examples=300)
@given(held=attributed, one=conditions, other=st.none() | conditions)
def test_conditions_asked_for_twice_have_to_be_met_twice(
    held: dict[str, Any], one: Condition, other: Condition | None
) -> None:
    joined = Filter(attributes=one).narrowed(Filter(attributes=other)).attributes

    assert joined is not None
    met = [each is None or attributes.meets(held, each) for each in (one, other)]
    assert attributes.meets(held, joined) == all(met)


def test_a_path_has_no_text_of_a_callers_in_it() -> None:
    wanted = Filter(attributes=Condition("eq", 'k") || true', ("v' OR 1=1",)))
    argument = which(scope.everything("acme", "ana", []), wanted)[11]

    assert argument["path"] == "exists($.keyvalue() ? (@.key == $k0 && @.value == $v0))"
    assert argument["variables"] == {"k0": 'k") || true', "v0": ["v' OR 1=1"]}


@given(condition=conditions)
def test_a_condition_is_the_same_after_it_was_kept(condition: Condition) -> None:
    assert Condition.from_json(orjson.loads(orjson.dumps(condition))) == condition
