"""Facets: the visible documents, counted by the values of their fields.

All documents that the scope and the filter admit are counted, whatever the query's text: a search
by meaning has no last match. Documents are counted and not chunks, because a document can be opened
and filtered for, and the number of its chunks depends on the chunker.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from index.model.query import Query
from index.model.scope import Scope
from index.postgres.filter_sql import filter_args
from index.postgres.search_connections import SearchStatements
from index.postgres.session import Row

DOCUMENT_FIELDS = ("source", "language", "tags")
METADATA_PREFIX = "metadata."
# With the 100 values of 8 fields that a request may ask for, an answer grows by 1 MB at most; a
# starting value, not measured.
VALUE_CHARACTERS_MAX = 256  # as JSON; of a longer value only the count is shown


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value of a field, and the number of documents that have it."""

    value: Any
    count: int


@dataclass(frozen=True, slots=True)
class Facet:
    """The most frequent values, by count and then by their JSON; and what is left out.

    other_values: the number of the other values. other_count: the sum of their counts.
    """

    values: tuple[FacetValue, ...] = ()
    other_values: int = 0
    other_count: int = 0


@dataclass(frozen=True, slots=True)
class Facets:
    """documents: how many are visible. fields: in the order of their names."""

    documents: int
    fields: Mapping[str, Facet]


async def read(statements: SearchStatements, scope: Scope, query: Query) -> Facets:
    """Raises `DatabaseUnavailable` and `Saturated`."""
    keys = [
        name.removeprefix(METADATA_PREFIX)
        for name in query.facets
        if name.startswith(METADATA_PREFIX)
    ]
    rows = await statements.rows(
        "search_facets.counts",
        *filter_args(scope, query.filter),
        True,
        scope.public,
        [name for name in query.facets if name in DOCUMENT_FIELDS],
        keys,
        query.facet_values_max,
        VALUE_CHARACTERS_MAX,
    )
    counted = {row["field"]: _facet(row) for row in rows}
    return Facets(rows[0]["documents"], {name: counted.get(name, Facet()) for name in query.facets})


def _facet(row: Row) -> Facet:
    values = map(orjson.loads, row["values"] or ())
    shown = tuple(map(FacetValue, values, row["counts"] or ()))
    return Facet(shown, row["other_values"] or 0, row["other_count"] or 0)
