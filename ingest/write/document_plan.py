"""Plans a document's next version, without its vectors; CPU work only, no I/O."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import orjson
from pgvector import HalfVector

from common.shares.threads import FairThreads
from index.documents.chunk_store import AddedChunk, KeptChunk
from index.documents.document_writes import DocumentWrite, text_bytes
from index.documents.stored_document import StoredDocument
from index.embedders import vectors
from index.model.document import NO_SUMMARIES, Document
from index.model.quota import StoredAmounts
from index.text import lexical, spelling
from index.text.word_lists import analysed_languages
from index.vocabulary import vocabulary
from ingest.chunkers import registry
from ingest.chunkers.chunk import Chunk
from ingest.chunkers.registry import chunks, rebuild_chunks
from ingest.errors import DocumentTooLong
from ingest.summaries.summary import summaries
from ingest.write.plan import ChunkPlan, StoredChunk, plan_chunks
from ingest.write.write_warning import WriteWarning, warnings_of

INLINE_CHARACTERS_MAX = 1_000  # at most a few milliseconds; longer texts run in a thread
# Of a document, as JSON: what Pinecone stores with a record, by its limits of October 2025.
METADATA_BYTES_MAX = 40_960
CHUNKS_MAX = 5_000  # of a document; a starting value: an ordinary book has half of it


@dataclass(frozen=True, slots=True)
class LlmResult:
    """The results of a language model for one document.

    chunks: None unless the model has chunked it. summaries: by the text of their part.
    """

    chunks: Sequence[Chunk] | None = None
    summaries: Mapping[str, str] = field(default_factory=dict)


NO_LLM_RESULT = LlmResult()


@dataclass(frozen=True, slots=True)
class DocumentPlan:
    """A write whose added chunks have no vectors yet.

    write:       the write without its added chunks.
    added:       the chunks that it adds.
    added_words: the encoded lexical vector of each of them.
    warnings:    of its text.
    """

    write: DocumentWrite
    added: Sequence[Chunk]
    added_words: Sequence[bytes]
    warnings: tuple[WriteWarning, ...]

    @property
    def growth(self) -> StoredAmounts:
        """What the tenant stores more after the write, without new sources."""
        write = self.write
        return StoredAmounts(
            documents=int(not write.version),
            chunks=len(self.added) - len(write.removed),
            bytes=text_bytes(write.document)
            - (0 if write.stored is None else text_bytes(write.stored)),
        )

    def with_vectors(self, space: str | None, dense: Mapping[bytes, HalfVector]) -> DocumentWrite:
        """The write to commit. dense: vectors in the space, by added digest."""
        chunks = [
            AddedChunk(
                chunk.digest,
                chunk.start,
                chunk.end,
                chunk.text,
                dense[chunk.digest],
                words,
                chunk.kind,
            )
            for chunk, words in zip(self.added, self.added_words, strict=True)
        ]
        return replace(self.write, added=chunks, space=space if chunks else None)


# A plan for each document that can be written; by `document_id`, why another one is too long.
Planned: TypeAlias = tuple[list[DocumentPlan], dict[str, DocumentTooLong]]


@dataclass(frozen=True, slots=True)
class PlannedBatch:
    """Writes to commit together, the warnings of each, and the digests that were embedded."""

    writes: Sequence[DocumentWrite]
    warnings: Sequence[tuple[WriteWarning, ...]]
    embedded: Collection[bytes]

    def embedded_counts(self) -> Iterator[int]:
        """For each write, the number of embedded digests that no earlier write contains."""
        unclaimed = set(self.embedded)
        for write in self.writes:
            first_seen = unclaimed.intersection(chunk.digest for chunk in write.added)
            unclaimed -= first_seen
            yield len(first_seen)


def plan_document(
    stored: StoredDocument | None, document: Document, llm_result: LlmResult = NO_LLM_RESULT
) -> DocumentPlan:
    """The smallest change from the stored document to this one. Raises `DocumentTooLong`."""
    new_chunks: list[Chunk] = []
    # What no search may find has none: docs/design/writing.md#an-inactive-document-has-no-chunks.
    if document.is_active:
        new_chunks += _chunks(stored, document, llm_result.chunks)
        new_chunks += _summaries(document, llm_result.summaries)
    require_short_metadata(stored, document)
    if len(new_chunks) > CHUNKS_MAX:
        raise DocumentTooLong(f"has {len(new_chunks):,} chunks; the limit is {CHUNKS_MAX:,}")
    chunk_plan = _plan(stored, new_chunks)
    has_new_readers = stored is not None and teaches_others(stored.document, document)
    has_new_weights = stored is not None and (
        stored.document.title != document.title or stored.document.language != document.language
    )
    added = [new_chunks[index] for index in chunk_plan.added]
    added_words, added_pieces = _words(document, added)
    write = DocumentWrite(
        document=document,
        version=stored.version if stored else 0,
        added=(),
        kept=_kept_chunks(document, new_chunks, chunk_plan.kept, has_new_weights=has_new_weights),
        removed=chunk_plan.removed,
        words=_vocabulary_words(document, new_chunks if has_new_readers else (), added_pieces),
        stored=stored.document if stored else None,
    )
    return DocumentPlan(write, added, added_words, warnings_of(document))


def require_short_metadata(stored: StoredDocument | None, document: Document) -> None:
    """Raises `DocumentTooLong`, unless the metadata is that of a document stored before."""
    if stored is not None and stored.document.metadata == document.metadata:
        return
    size_bytes = len(orjson.dumps(dict(document.metadata)))
    if size_bytes > METADATA_BYTES_MAX:
        raise DocumentTooLong(
            f"has {size_bytes:,} bytes as JSON; the limit is {METADATA_BYTES_MAX:,}", "metadata"
        )


async def plan_in_thread(
    threads: FairThreads,
    tenant: str,
    changed: Sequence[tuple[StoredDocument | None, Document]],
    llm_results: Mapping[str, LlmResult],
) -> Planned:
    """As `plan_all`, with long work in a thread. Raises `Saturated`."""
    if characters(changed) > INLINE_CHARACTERS_MAX:
        return await threads.run(tenant, prepare_and_plan, changed, llm_results)
    await threads.run(tenant, prepare, [document for _, document in changed])
    return plan_all(changed, llm_results)


def characters(changed: Iterable[tuple[StoredDocument | None, Document]]) -> int:
    return sum(len(document.text) for _, document in changed)


def prepare_and_plan(
    changed: Sequence[tuple[StoredDocument | None, Document]], llm_results: Mapping[str, LlmResult]
) -> Planned:
    """As `plan_all`, with what the documents need."""
    prepare([document for _, document in changed])
    return plan_all(changed, llm_results)


def plan_all(
    changed: Iterable[tuple[StoredDocument | None, Document]], llm_results: Mapping[str, LlmResult]
) -> Planned:
    """The plans, and by document the errors of those too long; llm_results: by document."""
    plans, too_long = [], {}
    for stored, document in changed:
        llm_result = llm_results.get(document.document_id, NO_LLM_RESULT)
        try:
            plans.append(plan_document(stored, document, llm_result))
        except DocumentTooLong as error:
            too_long[document.document_id] = error
    return plans, too_long


def prepare(documents: Collection[Document]) -> None:
    """Load the analysers and chunkers that the documents need; takes up to a second."""
    analysed_languages.load({document.language for document in documents})
    registry.load({document.chunker for document in documents})


def has_same_chunking(stored: StoredDocument | None, document: Document) -> bool:
    """Whether the chunks of the stored document are those of this one's text and chunker."""
    return (
        stored is not None
        and bool(stored.document.is_active)
        and stored.document.text == document.text
        and stored.document.chunker == document.chunker
    )


def teaches_others(stored: Document, document: Document) -> bool:
    """Whether the vocabulary keeps words of the document for callers who could not find it."""
    if not document.is_active:
        return False
    readers = stored.readers if stored.is_active else ()
    if vocabulary.is_shared(document.readers):
        return not vocabulary.is_shared(readers)
    known = set() if vocabulary.is_shared(readers) else {*vocabulary.groups(readers)}
    return not known.issuperset(vocabulary.groups(document.readers))


def _vocabulary_words(
    document: Document, chunks: Sequence[Chunk], pieces: set[str]
) -> Collection[str]:
    """The words for the vocabulary: of the title, the chunks, and the pieces of other texts."""
    if not document.is_active:
        return ()
    texts = [document.title, *(chunk.embedded_text for chunk in chunks)]
    return spelling.words_of_pieces(pieces.union(*map(str.split, texts)))


def _chunks(
    stored: StoredDocument | None, document: Document, llm_chunks: Sequence[Chunk] | None
) -> Sequence[Chunk]:
    if llm_chunks is not None:
        return llm_chunks
    if stored is not None and has_same_chunking(stored, document):
        return rebuild_chunks(document.text, document.chunker, stored.spans)
    return chunks(document.text, document.chunker)


def _summaries(document: Document, llm_summaries: Mapping[str, str]) -> Sequence[Chunk]:
    return [] if document.summaries == NO_SUMMARIES else summaries(document.text, llm_summaries)


def _plan(stored: StoredDocument | None, new: Sequence[Chunk]) -> ChunkPlan:
    if stored is None:
        return plan_chunks([], new)
    pairs = zip(stored.chunk_ids, stored.digests, strict=True)
    chunks = [StoredChunk(chunk_id, digest) for chunk_id, digest in pairs]
    summaries = [StoredChunk(summary.chunk_id, summary.digest) for summary in stored.summaries]
    return plan_chunks([*chunks, *summaries], new)


def _kept_chunks(
    document: Document,
    chunks: Sequence[Chunk],
    kept: Sequence[tuple[int, int]],
    *,
    has_new_weights: bool,
) -> list[KeptChunk]:
    """kept: of each kept chunk its id, and its index in the chunks."""
    kept_chunks = [chunks[index] for _, index in kept]
    all_words: Sequence[bytes | None] = (
        _words(document, kept_chunks)[0] if has_new_weights else [None] * len(kept)
    )
    return [
        KeptChunk(chunk_id, chunk.digest, chunk.start, chunk.end, chunk.text, words)
        for (chunk_id, _), chunk, words in zip(kept, kept_chunks, all_words, strict=True)
    ]


def _words(document: Document, chunks: Sequence[Chunk]) -> tuple[list[bytes], set[str]]:
    """The chunks' lexical vectors with the title's words, and the pieces of all their texts.

    The title itself is not embedded.
    """
    texts = [chunk.embedded_text for chunk in chunks]
    weights, pieces = lexical.chunks(texts, document.language, document.title)
    return [vectors.sparse(chunk, lexical.DIMENSION) for chunk in weights], pieces
