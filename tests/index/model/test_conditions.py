"""Each condition of a filter means one thing, in each of the ways in which it is spelled."""

from collections.abc import Sequence
from dataclasses import replace
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any

import asyncpg
import numpy as np
import orjson
import pytest
from pydantic import ValidationError

from index.model.conditions.condition import FilterCondition
from index.model.query import CONDITIONS, FILTER, Filter, Query
from index.postgres import filter_sql
from index.resident import shard
from index.resident.building import loading
from tests.index.support import filters, worlds
from tests.index.support.filters import SAMPLES

pytestmark = pytest.mark.anyio

# Of each document one chunk, which is a text or a summary.
CHUNKS = [
    filters.as_chunk(document, worlds.updated_at(at), chunk_id=at + 1 if at % 3 else -at - 1)
    for at, (_, document) in enumerate(worlds.made_up_documents(seed=2026))
]
EVERYTHING = Filter(kinds=("summary", "text"))
PASSES_FILTER = filter_sql.FRAGMENTS["passes_filter"]
PASSES_CHUNK_FILTER = filter_sql.FRAGMENTS["passes_chunk_filter"].replace("$22", "$13")
# `$1` is the chunks, and nothing is asked of the scope.
STATEMENT = f"""
SELECT array_agg(coalesce({PASSES_FILTER} AND {PASSES_CHUNK_FILTER}, false) ORDER BY number)
FROM jsonb_to_recordset($1) AS chunks (
    number integer, chunk_id bigint, document_id text, source text, language text, tags text[],
    metadata jsonb, updated_at timestamptz, provenance jsonb
)
WHERE $2::text IS NULL AND $3::text IS NULL AND $4::text IS NULL"""  # noqa: S608  text of ours


async def in_postgresql(
    connection: "asyncpg.Connection[asyncpg.Record]", wanted: Filter
) -> list[bool]:
    rows = [{"number": number, **vars(chunk)} for number, chunk in enumerate(CHUNKS)]
    *own, others = filter_sql.arguments(wanted)
    as_json = None if others is None else orjson.dumps(others).decode()
    chunks = orjson.dumps(rows).decode()
    found: list[bool] = await connection.fetchval(
        STATEMENT, chunks, None, None, None, *own, as_json, *filter_sql.chunk_arguments(wanted)
    )
    return found


def in_a_shard(condition: FilterCondition[Any], value: Any) -> list[bool]:
    assert condition.mask is not None
    labels = loading.new_labels()
    rows = [_codes(labels, chunk) for chunk in CHUNKS]
    ids = np.array([chunk.chunk_id for chunk in CHUNKS])
    segment = SimpleNamespace(labels=np.array(rows).T, ids=ids, has_summaries=True)
    admitted = condition.mask(value, labels)(segment)
    found: list[bool] = np.broadcast_to(admitted, len(rows)).tolist()
    return found


def _codes(labels: Any, chunk: Any) -> Sequence[int]:
    return (
        0,
        labels.sources.code(chunk.source),
        labels.languages.code(chunk.language),
        labels.tags.code(chunk.tags),
        labels.documents.code(chunk.document_id),
        0,
    )


@pytest.mark.parametrize("name", CONDITIONS)
async def test_a_condition_means_the_same_however_it_is_spelled(
    connection: "asyncpg.Connection[asyncpg.Record]", name: str
) -> None:
    condition, sample = CONDITIONS[name], SAMPLES[name]
    for value in sample.values[:12]:
        meant = [sample.meets(value, chunk) for chunk in CHUNKS]

        assert [condition.admits(value, chunk) for chunk in CHUNKS] == meant
        if condition.mask is not None:
            assert in_a_shard(condition, value) == meant
        assert await in_postgresql(connection, replace(EVERYTHING, **{name: value})) == meant


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_takes_its_value_as_an_argument_and_a_token_has_none_on_chunks(
    name: str,
) -> None:
    condition = CONDITIONS[name]

    assert ":value" in condition.sql
    assert condition.table == "documents" or condition.both is None


@pytest.mark.parametrize(
    "name", [name for name, each in CONDITIONS.items() if each.table == "chunks"]
)
def test_shards_answer_a_condition_on_chunks_if_it_has_a_mask(name: str) -> None:
    query = Query("leave", filter=Filter(**{name: SAMPLES[name].values[0]}))

    assert shard.can_answer(query) == (CONDITIONS[name].mask is not None)


def _functions(function: Any) -> set[Any]:
    """The functions of this project that a function names, however deep within it."""
    names: set[str] = set()
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        codes += [each for each in code.co_consts if isinstance(each, CodeType)]
    named = {function, *(function.__globals__.get(name) for name in names)}
    return {each for each in named if isinstance(each, FunctionType)}


@pytest.mark.parametrize("name", [name for name, each in CONDITIONS.items() if each.mask])
def test_the_second_check_of_a_condition_shares_no_function_with_its_mask(name: str) -> None:
    condition = CONDITIONS[name]

    assert not _functions(condition.mask) & _functions(condition.admits)


def test_a_stored_filter_with_an_unknown_condition_is_refused() -> None:
    with pytest.raises(ValidationError, match="colours"):
        FILTER.validate_python({"sources": ["wiki"], "colours": ["red"]})
