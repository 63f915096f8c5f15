"""Each condition of a filter means one thing, in each of the ways in which it is spelled."""

from collections.abc import Sequence
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any

import asyncpg
import numpy as np
import orjson
import pytest
from pydantic import ValidationError

from index.model.conditions.condition import FilterCondition
from index.model.document import Document
from index.model.query import CONDITIONS, FILTER, Filter
from index.postgres import filter_sql
from index.resident.building import loading
from tests.index.support import filters, worlds
from tests.index.support.filters import SAMPLES

pytestmark = pytest.mark.anyio

DOCUMENTS = [
    (document, worlds.updated_at(hours))
    for hours, (_, document) in enumerate(worlds.made_up_documents(seed=2026))
]
OF_CHUNKS = {"kinds"}  # which the statements of `search.sql` hold
# `$1` is the documents, and nothing is asked of the scope.
STATEMENT = f"""
SELECT array_agg(coalesce({filter_sql.FRAGMENTS["passes_filter"]}, false) ORDER BY number)
FROM jsonb_to_recordset($1) AS documents (
    number integer, document_id text, source text, language text, tags text[], metadata jsonb,
    updated_at timestamptz
)
WHERE $2::text IS NULL AND $3::text IS NULL AND $4::text IS NULL"""  # noqa: S608  text of ours


async def in_postgresql(
    connection: "asyncpg.Connection[asyncpg.Record]", wanted: Filter
) -> list[bool]:
    rows = [
        {
            "number": number,
            "document_id": document.document_id,
            "source": document.source,
            "language": document.language,
            "tags": document.tags,
            "metadata": document.metadata,
            "updated_at": updated_at,
        }
        for number, (document, updated_at) in enumerate(DOCUMENTS)
    ]
    *own, others = filter_sql.arguments(wanted)
    as_json = None if others is None else orjson.dumps(others).decode()
    documents = orjson.dumps(rows).decode()
    found: list[bool] = await connection.fetchval(
        STATEMENT, documents, None, None, None, *own, as_json
    )
    return found


def in_a_shard(condition: FilterCondition[Any], value: Any) -> list[bool]:
    assert condition.mask is not None
    labels = loading.new_labels()
    rows = [_codes(labels, document) for document, _ in DOCUMENTS]
    segment = SimpleNamespace(
        labels=np.array(rows).T, ids=np.arange(len(rows)), has_summaries=False
    )
    admitted = condition.mask(value, labels)(segment)
    found: list[bool] = np.broadcast_to(admitted, len(rows)).tolist()
    return found


def _codes(labels: Any, document: Document) -> Sequence[int]:
    return (
        0,
        labels.sources.code(document.source),
        labels.languages.code(document.language),
        labels.tags.code(document.tags),
        labels.documents.code(document.document_id),
        0,
    )


@pytest.mark.parametrize("name", CONDITIONS)
async def test_a_condition_means_the_same_however_it_is_spelled(
    connection: "asyncpg.Connection[asyncpg.Record]", name: str
) -> None:
    condition, sample = CONDITIONS[name], SAMPLES[name]
    for value in sample.values[:12]:
        meant = [sample.meets(value, document, at) for document, at in DOCUMENTS]

        admitted = [condition.admits(value, filters.as_chunk(*each)) for each in DOCUMENTS]
        assert admitted == meant
        if condition.mask is not None:
            assert in_a_shard(condition, value) == meant
        if name not in OF_CHUNKS:
            assert await in_postgresql(connection, Filter(**{name: value})) == meant


def test_a_condition_of_documents_has_sql_and_takes_its_value_as_an_argument() -> None:
    for name, condition in CONDITIONS.items():
        assert (condition.sql is None) == (name in OF_CHUNKS)
        assert condition.sql is None or ":value" in condition.sql


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
