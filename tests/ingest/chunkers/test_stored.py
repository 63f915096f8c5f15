"""Documents keep the cut that they are written with, and an edit is compared under it."""

from dataclasses import replace

import pytest

from common.shares.threads import TenantThreads
from gateway.extensions.preprocessing.llm_chunker import StoredModelChunks
from gateway.extensions.preprocessing.llm_preprocessor import LlmPreprocessor
from gateway.extensions.reembed.embedding_migration import EmbeddingMigration
from gateway.extensions.reembed.reembedder import Reembedder
from index.documents.document_store import DocumentStore
from index.embedders.hashing_embedder import HashingEmbedder
from index.postgres.database import Database
from ingest.chunkers import characters
from ingest.chunkers.chunk import Chunk
from ingest.write.revision import Written
from ingest.write.writer import Writer
from tests.index.support.samples import RecordingEmbedder, RecordingInvalidation, a_document, put
from tests.threads import new_threads

pytestmark = pytest.mark.anyio

PARAGRAPHS = [
    f"Harbour {number} has lamps. They burn oil of {number} whales." for number in range(60)
]
TEXT = "\n\n".join(PARAGRAPHS)


class Halves:
    """A model that parts each text in the middle, and remembers what was known of it."""

    def __init__(self) -> None:
        self.known: list[StoredModelChunks | None] = []

    async def chunks(
        self, text: str, known: StoredModelChunks | None, _threads: TenantThreads
    ) -> list[Chunk]:
        self.known.append(known)
        return characters.chunks(text, len(text) // 2 + 100, 0)


@pytest.fixture
def halves() -> Halves:
    return Halves()


@pytest.fixture
def halving(
    documents: DocumentStore,
    embedder: RecordingEmbedder,
    invalidation: RecordingInvalidation,
    halves: Halves,
) -> Writer:
    return Writer(documents, embedder, invalidation, preprocessor=LlmPreprocessor(chunker=halves))


@pytest.mark.slow
async def test_another_cut_makes_other_chunks_of_the_same_text(
    writer: Writer, documents: DocumentStore
) -> None:
    await put(writer, a_document("harbours", TEXT, chunker="characters:500/100"))

    written = await put(writer, a_document("harbours", TEXT, chunker="whole"))

    stored = await documents.stored("acme", "harbours")
    assert stored is not None
    assert (stored.document.chunker, stored.spans) == ("whole", ((0, len(TEXT)),))
    assert (written.added, written.kept) == (1, 0)


async def test_an_appended_message_embeds_the_last_window_alone(writer: Writer) -> None:
    await put(writer, a_document("talk", TEXT, chunker="messages:10"))

    appended = f"{TEXT}\n\nAnd one more harbour."
    written = await put(writer, a_document("talk", appended, chunker="messages:10"))

    assert (written.added, written.kept, written.embedded) == (1, 6, 1)


async def test_chunks_that_overlap_are_kept_and_found_by_their_places(
    writer: Writer, documents: DocumentStore
) -> None:
    document = a_document("harbours", TEXT, chunker="characters:500/100")
    first = await put(writer, document)

    written = await put(writer, replace(document, title="Harbours"))

    stored = await documents.stored("acme", "harbours")
    assert stored is not None
    assert (written.added, written.kept, written.removed) == (0, first.added, 0)
    assert stored.spans == tuple(
        (chunk.start, chunk.end) for chunk in characters.chunks(TEXT, 500, 100)
    )


async def test_a_model_is_asked_once_for_a_text_and_told_how_the_one_before_is_cut(
    halving: Writer, halves: Halves
) -> None:
    document = a_document("harbours", TEXT, chunker="model")
    await put(halving, document)
    await put(halving, replace(document, title="Harbours"))

    await put(halving, replace(document, text=f"{TEXT}\n\nMore."))

    (first, second) = halves.known
    assert first is None
    assert second is not None
    assert (second.text, len(second.spans)) == (TEXT, 2)


async def test_without_a_model_what_it_would_cut_is_cut_by_structure(writer: Writer) -> None:
    by_structure = await put(writer, a_document("one", TEXT))

    written = await put(writer, a_document("two", TEXT, chunker="model"))

    assert written == Written("two", 2, added=by_structure.added, embedded=0)


@pytest.mark.slow
async def test_another_embedder_embeds_every_chunk_whoever_has_cut_it(
    halving: Writer,
    database: Database,
    documents: DocumentStore,
    invalidation: RecordingInvalidation,
) -> None:
    chunkers = [
        "structure",
        "characters:500/100",
        "tokens:64/16",
        "messages:10/2",
        "whole",
        "model",
    ]
    for chunker in chunkers:
        await put(halving, a_document(chunker, TEXT, chunker=chunker))
    coming = RecordingEmbedder(HashingEmbedder(64))
    reembedder = Reembedder(
        documents, EmbeddingMigration(database), coming, invalidation, new_threads()
    )

    moved = await reembedder.run("acme", coming.dimensions, lambda _progress: None)

    assert moved
    assert len(coming.texts) == len(set(coming.texts))
