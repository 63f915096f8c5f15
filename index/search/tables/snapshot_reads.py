"""What some queries read beside the passes, in the snapshot of the passes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from index.postgres.filter_sql import filter_args
from index.postgres.search_connections import SearchStatements
from index.postgres.session import Row
from index.search.preparation import PreparedSearch
from index.search.tables import facets, related
from index.search.tables.facets import Facets
from index.search.tables.related import RelatedDocument
from index.search.tables.search_pass import PassResult


@dataclass(frozen=True, slots=True)
class SnapshotReads:
    """facets: None unless the query asks for them.

    vectors: by chunk id, of the chunks of the results, if the query asks for diversity; without
    those of another embedding space.
    replaced: keys of the documents of the results that a visible document replaces, if the query
    ranks these lower.
    levels: by the key of a document of the results, how popular it is, if the query ranks by that;
    without those that are not.
    related: by the key of a document of the results, what is related to it, if the query asks for
    that.
    """

    facets: Facets | None = None
    vectors: Mapping[int, NDArray[np.float16]] = field(default_factory=dict)
    replaced: frozenset[int] = frozenset()
    levels: Mapping[int, int] = field(default_factory=dict)
    related: Mapping[int, tuple[RelatedDocument, ...]] = field(default_factory=dict)


NOTHING = SnapshotReads()


async def read(
    statements: SearchStatements, prepared: PreparedSearch, results: Sequence[PassResult]
) -> SnapshotReads:
    """Raises `DatabaseUnavailable` and `Saturated`."""
    scope, query = prepared.scope, prepared.query
    return SnapshotReads(
        facets=await facets.read(statements, scope, query) if query.facets else None,
        vectors=await _vectors(statements, prepared, results) if query.diversity else {},
        replaced=await _replaced(statements, prepared, results)
        if query.boost is not None and query.boost.replaced
        else frozenset(),
        levels=await _levels(statements, prepared, results) if query.reads_popularity else {},
        related=await related.read(statements, scope, query, _document_keys(results))
        if query.relations
        else {},
    )


def _document_keys(results: Sequence[PassResult]) -> set[int]:
    return {row["document_key"] for result in results for row in result.hit_rows}


async def _of_documents(
    name: str,
    statements: SearchStatements,
    prepared: PreparedSearch,
    results: Sequence[PassResult],
) -> Sequence[Row]:
    return await statements.rows(
        name,
        *filter_args(prepared.scope, prepared.query.filter),
        True,
        prepared.scope.public,
        sorted(_document_keys(results)),
    )


async def _levels(
    statements: SearchStatements, prepared: PreparedSearch, results: Sequence[PassResult]
) -> Mapping[int, int]:
    rows = await _of_documents("search_popularity.levels", statements, prepared, results)
    return {row["document_key"]: row["level"] for row in rows}


async def _replaced(
    statements: SearchStatements, prepared: PreparedSearch, results: Sequence[PassResult]
) -> frozenset[int]:
    rows = await _of_documents("search_relations.replaced", statements, prepared, results)
    return frozenset(row["document_key"] for row in rows)


async def _vectors(
    statements: SearchStatements, prepared: PreparedSearch, results: Sequence[PassResult]
) -> Mapping[int, NDArray[np.float16]]:
    rows = await statements.rows(
        "search.vectors",
        *filter_args(prepared.scope, prepared.query.filter),
        True,
        prepared.scope.public,
        sorted({row["chunk_id"] for result in results for row in result.hit_rows}),
        prepared.embedded_query.space,
    )
    return {row["chunk_id"]: row["dense"].to_numpy() for row in rows}
