"""A world settled in a database, questions to it, and whether an answer is right."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import TypeVar

import asyncpg
import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from index.documents.document_store import DocumentStore
from index.embedders.static_embedder import StaticEmbedder
from index.model.document import Document
from index.model.query import Query
from index.model.scope import SCOPE_NAMES, ScopeName, resolve
from index.postgres.database import Database
from index.search.searcher import Searcher, SearchResult
from index.tenants.tenant_store import TenantStore
from ingest.chunkers.structure import chunks
from ingest.write.writer import Writer
from tests.index.support import filters, worlds
from tests.index.support.samples import RecordingInvalidation, put_all, subsets
from tests.index.support.worlds import IndexPrincipal, Piece

T = TypeVar("T")

SCORE_TOLERANCE = 1e-3
SCOPES = [names for names in subsets(SCOPE_NAMES) if names]


class QuestionWorld:
    """A searcher, and every chunk that there is."""

    def __init__(self, database: Database, embedder: StaticEmbedder) -> None:
        self.database = database
        self.tenants = TenantStore(database)
        self.searcher = Searcher(database, embedder)
        self.embedder = embedder
        self.pieces: list[Piece] = []

    async def settle(self, url: str, made_up: Sequence[tuple[str, Document]]) -> None:
        """Write the documents; each is an hour younger than the one before it."""
        connection = await asyncpg.connect(url)
        for tenant in worlds.TENANTS:
            await self.tenants.create(tenant, tenant)
            written = {
                document.document_id: (document, worlds.updated_at(hours))
                for hours, (owner, document) in enumerate(made_up)
                if owner == tenant
            }
            await self._settle(connection, tenant, written)
        await connection.close()

    async def _settle(
        self,
        connection: "asyncpg.Connection[asyncpg.Record]",
        tenant: str,
        written: Mapping[str, tuple[Document, datetime]],
    ) -> None:
        documents = DocumentStore(self.database)
        writer = Writer(documents, self.embedder, RecordingInvalidation())
        await put_all(writer, [document for document, _ in written.values()], tenant)
        await connection.execute(
            "UPDATE documents SET updated_at = written.at"
            " FROM unnest($2::text[], $3::timestamptz[]) AS written (document_id, at)"
            " WHERE tenant = $1 AND documents.document_id = written.document_id",
            tenant,
            list(written),
            [at for _, at in written.values()],
        )
        stored = await documents.stored_all(tenant, list(written))
        digests = {
            name: [chunk.digest for chunk in chunks(document.text)]
            for name, (document, _) in written.items()
        }
        # As they were embedded: in another batch a number may round the other way.
        vectors = await documents.known_embeddings(
            tenant, self.embedder.space, set(chain.from_iterable(digests.values()))
        )
        for name, (document, at) in written.items():
            self.pieces += worlds.pieces(
                tenant,
                document,
                chunk_ids=stored[name].chunk_ids,
                updated_at=at,
                dense=np.array([vectors[digest].to_numpy() for digest in digests[name]]),
            )

    async def assert_right(
        self, searcher: Searcher, asking: IndexPrincipal, names: Sequence[ScopeName], query: Query
    ) -> None:
        """What the searcher finds is what brute force finds, if that does not hang on rounding."""
        seen = filters.visible(self.pieces, asking, names, query.filter)
        vector = await self.embedder.embed_query(query.text)
        expected = worlds.expected(seen, query, vector)
        assume(expected.decided)

        scope = resolve(
            asking.tenant,
            asking.subject,
            asking.groups,
            names,
            receives_public=asking.receives_public,
        )
        found = await searcher.search(scope, query)

        documents = {piece.chunk_id: (piece.tenant, piece.document) for piece in seen}
        for hit in found.hits:
            assert hit.scope_name == worlds.scope_name(*documents[hit.chunk_id], asking, names)
        check(query, found, expected)


def check(query: Query, found: SearchResult, expected: worlds.Expected) -> None:
    """Ranks are exact, but where scores are equal within the tolerance: no two `rrf` ones are."""
    tolerance = 0.0 if query.fusion == "rrf" else SCORE_TOLERANCE
    found_scores = [hit.score for hit in found.hits]
    expected_scores = [score for _, score in expected.hits]

    assert found_scores == pytest.approx(expected_scores, rel=0, abs=tolerance)
    for hit, (chunk_id, score) in zip(found.hits, expected.hits, strict=True):
        if hit.chunk_id != chunk_id:
            assert expected.scores[hit.chunk_id] == pytest.approx(score, rel=0, abs=tolerance)
            assert expected.scores[hit.chunk_id] != score, "ties go to the lower chunk id"


moments = st.sampled_from(filters.MOMENTS)
words = st.sampled_from([word for words in worlds.WORDS.values() for word in words])
queries = st.builds(
    Query,
    text=st.lists(words | st.just("unheard-of"), min_size=1, max_size=5).map(" ".join),
    alpha=st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1),
    top_k=st.sampled_from([1, 5, 20, 1000]),
    fusion=st.sampled_from(["absolute", "absolute", "relative", "rrf"]),
    filter=filters.random_filters(),
    min_score=filters.seldom(st.sampled_from([0.17, 0.53, 1.1])),
    candidates=st.sampled_from([3, 20, 50, 1000]),
    language=filters.seldom(st.sampled_from(worlds.LANGUAGES)),
    document_hits_max=filters.seldom(st.sampled_from([1, 2])),
)
principals = st.builds(
    IndexPrincipal,
    st.sampled_from(worlds.TENANTS),
    st.sampled_from(worlds.SUBJECTS),
    st.sets(st.sampled_from(worlds.GROUPS)).map(sorted).map(tuple),
    st.sampled_from((True, True, False)),
)
