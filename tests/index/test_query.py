"""A filter wants the same documents in this process as in PostgreSQL."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import asyncpg
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from index.document import Document
from index.query import Filter
from tests.index import questions, worlds

pytestmark = pytest.mark.anyio

WORLD = [document for _, document in worlds.made_up_documents(seed=2026)]

scalars = st.sampled_from([None, True, False, 0, 1, 1.0, 0.5, -0.0, "", "a", "1", "null"])
values = scalars | st.lists(scalars, max_size=3)
metadata = st.dictionaries(st.sampled_from(["a", "b"]), values, max_size=2)


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
