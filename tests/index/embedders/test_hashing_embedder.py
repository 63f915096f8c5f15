"""The tests' own embedder; and, with its help, vectors as wide as the index takes."""

import asyncio
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.documents.document_store import DocumentStore
from index.embedders.hashing_embedder import HashingEmbedder
from index.embedders.index_version import check_or_create
from index.embedders.vectors import DIMENSIONS_MAX
from index.model.query import Query
from index.model.scope import everything
from index.postgres.database import Database
from index.search.searcher import Searcher
from ingest.write.writer import Writer
from tests.index.support.samples import RecordingInvalidation, a_document, put

pytestmark = pytest.mark.anyio


@given(
    st.lists(st.text(), max_size=5),
    st.sampled_from([1, 2, 256, DIMENSIONS_MAX]),
)
async def test_any_text_has_a_vector_of_unit_length(texts: list[str], dimensions: int) -> None:
    vectors = await HashingEmbedder(dimensions).embed_passages(texts)

    assert vectors.shape == (len(texts), dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)


async def test_a_question_is_nearer_to_the_text_that_has_its_words() -> None:
    embedder = HashingEmbedder()
    texts = ["Everybody gets annual leave.", "The printer is out of toner."]

    question = await embedder.embed_query("Who gets LEAVE?")
    leave, printer = await embedder.embed_passages(texts)

    assert question @ leave > question @ printer


def test_another_process_makes_the_same_bytes() -> None:
    script = (
        "import asyncio; from index.embedders.hashing_embedder import HashingEmbedder;"
        "print(asyncio.run(HashingEmbedder(8).embed_query('um dois três')).tobytes().hex())"
    )
    other = subprocess.run(  # noqa: S603  ours
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    here = asyncio.run(HashingEmbedder(8).embed_query("um dois três"))

    assert other.stdout.strip() == here.tobytes().hex()


@pytest.mark.thorough
async def test_vectors_of_the_greatest_width_are_stored_and_found(
    database: Database, documents: DocumentStore
) -> None:
    embedder = HashingEmbedder(DIMENSIONS_MAX)
    await check_or_create(database, embedder)
    writer = Writer(documents, embedder, RecordingInvalidation())
    for number in range(20):
        await put(writer, a_document(f"d{number}", f"Berth {number} is kept for ship {number}."))

    query = Query("which ship is kept at berth 7", alpha=1.0, top_k=3)
    found = await Searcher(database, embedder).search(
        everything("acme", "ana", [], receives_public=True), query
    )

    assert not found.degraded
    assert len(found.hits) == 3
    assert found.hits[0].document_id == "d7"
    assert found.hits[0].ranking.dense is not None
