"""Query vectors are remembered for who asks again, and for nobody who sees other things."""

import pytest

from index.model.query import Query
from index.model.scope import everything
from index.postgres.database import Database
from index.search.searcher import Searcher
from ingest.write.writer import Writer
from tests.index.support.samples import PLAIN, RecordingEmbedder, put

pytestmark = pytest.mark.anyio

ANA = everything("acme", "ana", ["sales"], receives_public=True)


class StoredVectors:
    """Vectors in a dictionary."""

    def __init__(self) -> None:
        self.vectors: dict[tuple[str, str], bytes] = {}

    async def get(self, tenant: str, key: str) -> bytes | None:
        return self.vectors.get((tenant, key))

    async def put(self, tenant: str, key: str, vector: bytes) -> None:
        self.vectors[tenant, key] = vector


@pytest.fixture
def kept() -> StoredVectors:
    return StoredVectors()


@pytest.fixture
async def remembering(
    database: Database, writer: Writer, embedder: RecordingEmbedder, kept: StoredVectors
) -> Searcher:
    await put(writer, PLAIN)
    embedder.texts.clear()
    return Searcher(database, embedder, query_vector_caches={embedder.space: kept})


async def test_a_question_asked_again_is_embedded_once(
    remembering: Searcher, embedder: RecordingEmbedder
) -> None:
    first = await remembering.search(ANA, Query("annual leave"))
    again = await remembering.search(ANA, Query("annual leave", top_k=3))

    assert embedder.texts == ["annual leave"]
    assert first.hits == again.hits


async def test_who_sees_other_things_has_it_embedded_again(
    remembering: Searcher, embedder: RecordingEmbedder, kept: StoredVectors
) -> None:
    for seen in (
        ANA,
        everything("acme", "ben", [], receives_public=True),
        everything("beta", "ana", ["sales"], receives_public=True),
    ):
        await remembering.search(seen, Query("annual leave"))

    assert embedder.texts == ["annual leave"] * 3
    assert len(kept.vectors) == 3


@pytest.mark.parametrize("poison", [b"", b"12345678", b"\0" * 4096])
async def test_what_is_no_vector_of_the_space_is_embedded_again(
    remembering: Searcher, embedder: RecordingEmbedder, kept: StoredVectors, poison: bytes
) -> None:
    first = await remembering.search(ANA, Query("annual leave"))
    kept.vectors = dict.fromkeys(kept.vectors, poison)

    again = await remembering.search(ANA, Query("annual leave"))

    assert len(embedder.texts) == 2
    assert first.hits == again.hits
