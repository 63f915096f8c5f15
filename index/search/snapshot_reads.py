"""What some queries read beside the passes, in the snapshot of the passes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from index.search import facets
from index.search.facets import Facets, SearchStatements
from index.search.search_pass import PassResult, PreparedSearch
from index.search.visibility_args import filter_args


@dataclass(frozen=True, slots=True)
class SnapshotReads:
    """facets: None unless the query asks for them.

    vectors: by chunk id, of the chunks of the results, if the query asks for diversity; without
    those of another embedding space.
    replaced: keys of the documents of the results that a visible document replaces, if the query
    ranks these lower.
    """

    facets: Facets | None = None
    vectors: Mapping[int, NDArray[np.float16]] = field(default_factory=dict)
    replaced: frozenset[int] = frozenset()


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
    )


async def _replaced(
    statements: SearchStatements, prepared: PreparedSearch, results: Sequence[PassResult]
) -> frozenset[int]:
    rows = await statements.rows(
        "search_relations.replaced",
        *filter_args(prepared.scope, prepared.query.filter),
        True,
        prepared.scope.public,
        sorted({row["document_key"] for result in results for row in result.hit_rows}),
    )
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
