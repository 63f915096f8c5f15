"""Chunks whose text the embedder can't embed: found by words, counted, and embedded later."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from gateway.extensions._tenants.shown_usage import ShownUsage
from gateway.extensions.reembed.embedding_migration import EmbeddingMigration
from gateway.extensions.reembed.reembedder import Reembedder
from index.documents.document_store import DocumentStore
from index.embedders.index_version import check_or_create
from index.embedders.static_embedder import StaticEmbedder
from index.model.query import FusionName, Query
from index.model.scope import everything
from index.postgres.database import Database
from index.search.searcher import Searcher
from ingest.write.writer import Writer
from tests.index.support.samples import RecordingEmbedder, RecordingInvalidation, a_document, put
from tests.threads import new_threads

pytestmark = pytest.mark.anyio

ANA = everything("acme", "ana", [], receives_public=True)
TEXT = f"# Lamps\n\n## Oil\n\n{'Whales give oil. ' * 40}\n\n## Gas\n\n{'A poisoned lantern. ' * 30}"


class Refusing(RecordingEmbedder):
    """Has no vector for texts with a word."""

    word = "poisoned"

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = await super().embed_passages(texts)
        vectors[[self.word in text for text in texts]] = 0
        return vectors


@pytest.fixture
def embedder(static_embedder: StaticEmbedder) -> Refusing:
    return Refusing(static_embedder)


@pytest.fixture
def reembedder(
    database: Database,
    documents: DocumentStore,
    embedder: Refusing,
    invalidation: RecordingInvalidation,
) -> Reembedder:
    return Reembedder(
        documents, EmbeddingMigration(database), embedder, invalidation, new_threads()
    )


@pytest.fixture
async def lamps(database: Database, writer: Writer, embedder: Refusing) -> None:
    await check_or_create(database, embedder)
    written = await put(writer, a_document("lamps", TEXT))
    await put(writer, a_document("leave"))
    assert "no-vector" in {warning.code for warning in written.warnings}


async def without_vector(database: Database) -> int:
    return sum(source.without_vector for source in await ShownUsage(database).status("acme"))


@pytest.mark.usefixtures("lamps")
@pytest.mark.parametrize("fusion", ["absolute", "relative", "rrf"])
async def test_it_is_found_by_its_words_alone(searcher: Searcher, fusion: FusionName) -> None:
    found = await searcher.search(ANA, Query("poisoned lantern", fusion=fusion, explain=True))

    best = found.hits[0]
    assert "poisoned" in best.text
    assert best.ranking is not None
    assert best.ranking.dense is None
    assert best.ranking.lexical is not None


@pytest.mark.usefixtures("lamps")
async def test_it_is_counted_and_embedded_by_a_later_run(
    database: Database,
    searcher: Searcher,
    embedder: Refusing,
    reembedder: Reembedder,
    invalidation: RecordingInvalidation,
) -> None:
    before = await without_vector(database)
    still = await reembedder.fill("acme", lambda _: None)
    drained = len(invalidation.drained)
    embedder.word = "nothing"
    filled = await reembedder.fill("acme", lambda _: None)
    again = await reembedder.fill("acme", lambda _: None)
    found = await searcher.search(ANA, Query("poisoned lantern", explain=True))

    assert (before, still, filled, again) == (1, 1, 1, 0)
    assert len(invalidation.drained) == drained + 1
    assert await without_vector(database) == 0
    assert found.hits[0].ranking is not None
    assert found.hits[0].ranking.dense is not None


@pytest.mark.usefixtures("lamps")
async def test_another_document_with_the_text_tries_again(
    writer: Writer, embedder: Refusing
) -> None:
    embedder.word = "nothing"

    copy = await put(writer, a_document("copy", TEXT))

    assert copy.embedded == 1
    assert "no-vector" not in {warning.code for warning in copy.warnings}
