"""A draft: all of a document's next version but the vectors; takes CPU time and nothing else."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pgvector import HalfVector

from index.documents.chunk_store import AddedChunk, KeptChunk
from index.documents.document_store import StoredDocument
from index.documents.document_writes import Write
from index.embedders import vectors
from index.model.document import NO_SUMMARIES, Document
from index.model.scope import PUBLIC
from index.text import lexical, spelling
from ingest.chunkers import registry
from ingest.chunkers.chunk import Chunk
from ingest.chunkers.registry import chunks, rebuild_chunks
from ingest.errors import DocumentTooLong
from ingest.summaries.summary import summaries
from ingest.threads import Threads
from ingest.write.plan import ChunkPlan, StoredChunk, plan_chunks

_COMMON = {"tenant", PUBLIC}
INLINE_CHARACTERS_MAX = 1_000  # a few milliseconds at the worst; more goes to a thread
CHUNKS_MAX = 5_000  # of a document; a starting value: an ordinary book has half of it


@dataclass(frozen=True, slots=True)
class LlmResult:
    """What a model has done for a document.

    cut: its chunks, if the model has cut them. said: by the text of a part, its summary.
    """

    cut: Sequence[Chunk] | None = None
    said: Mapping[str, str] = field(default_factory=dict)


NO_ASSISTANCE = LlmResult()


@dataclass(frozen=True, slots=True)
class DocumentPlan:
    """version: the stored one that it was planned from, 0 if none.

    added_words: the lexical vector of each added chunk, as it is sent.
    learned: what the tenant's vocabulary learns of it.
    strays: further chunks to remove, which the plan knows nothing of.
    """

    document: Document
    stored: Document | None
    version: int
    added: Sequence[Chunk]
    added_words: Sequence[bytes]
    kept: Sequence[KeptChunk]
    removed: Sequence[int]
    learned: Collection[str]
    strays: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class PlannedBatch:
    """Drafts, what is committed of each, and the digests that were embedded for them."""

    drafts: Sequence[DocumentPlan]
    writes: Sequence[Write]
    embedded: Collection[bytes]

    def each_embedded(self) -> Iterator[int]:
        """How many of the embedded digests each draft is the first to hold."""
        unclaimed = set(self.embedded)
        for draft in self.drafts:
            own = unclaimed.intersection(chunk.digest for chunk in draft.added)
            unclaimed -= own
            yield len(own)


def plan_document(
    stored: StoredDocument | None, document: Document, assistance: LlmResult = NO_ASSISTANCE
) -> DocumentPlan:
    """The smallest change that makes the stored document this one. Raises `DocumentTooLong`."""
    new = [*_chunks(stored, document, assistance.cut), *_summaries(document, assistance.said)]
    if len(new) > CHUNKS_MAX:
        raise DocumentTooLong(f"has {len(new):,} chunks; at most {CHUNKS_MAX:,} make a document")
    planned = _plan(stored, new)
    spread = (
        stored is not None
        and not is_tenant_visible(stored.document)
        and is_tenant_visible(document)
    )
    reweigh = stored is not None and (
        stored.document.title != document.title or stored.document.language != document.language
    )
    added = [new[place] for place in planned.added]
    return DocumentPlan(
        document=document,
        stored=stored.document if stored else None,
        version=stored.version if stored else 0,
        added=added,
        added_words=[_words(document, chunk) for chunk in added],
        kept=[
            _kept(chunk_id, new[place], _words(document, new[place]) if reweigh else None)
            for chunk_id, place in planned.kept
        ],
        removed=planned.removed,
        learned=_learned(document, new if spread else added),
    )


def to_write(draft: DocumentPlan, space: str | None, dense: Mapping[bytes, HalfVector]) -> Write:
    """What is committed of the draft; dense: of its added chunks' digests, in the space."""
    return Write(
        document=draft.document,
        version=draft.version,
        added=[
            AddedChunk(new.digest, new.start, new.end, new.text, dense[new.digest], words, new.kind)
            for new, words in zip(draft.added, draft.added_words, strict=True)
        ],
        kept=draft.kept,
        removed=draft.removed,
        space=space if draft.added else None,
        words=draft.learned,
        strays=draft.strays,
        stored=draft.stored,
    )


async def plan_in_thread(
    threads: Threads,
    tenant: str,
    changed: Sequence[tuple[StoredDocument | None, Document]],
    assisted: Mapping[str, LlmResult],
) -> tuple[list[DocumentPlan], dict[str, DocumentTooLong]]:
    """As `draft_all`; what takes long, in a thread. Raises `Saturated`."""
    if sum(len(document.text) for _, document in changed) > INLINE_CHARACTERS_MAX:
        return await threads.run(tenant, _prepare_and_draft, changed, assisted)
    await threads.run(tenant, prepare, [document for _, document in changed])
    return plan_all(changed, assisted)


def _prepare_and_draft(
    changed: Sequence[tuple[StoredDocument | None, Document]], assisted: Mapping[str, LlmResult]
) -> tuple[list[DocumentPlan], dict[str, DocumentTooLong]]:
    prepare([document for _, document in changed])
    return plan_all(changed, assisted)


def plan_all(
    changed: Iterable[tuple[StoredDocument | None, Document]], assisted: Mapping[str, LlmResult]
) -> tuple[list[DocumentPlan], dict[str, DocumentTooLong]]:
    """The drafts, and by document those that are too long for one; assisted: by document."""
    drafts, too_long = [], {}
    for stored, document in changed:
        assistance = assisted.get(document.document_id, NO_ASSISTANCE)
        try:
            drafts.append(plan_document(stored, document, assistance))
        except DocumentTooLong as error:
            too_long[document.document_id] = error
    return drafts, too_long


def prepare(documents: Collection[Document]) -> None:
    """Read now what their drafts need: up to a second."""
    lexical.load({document.language for document in documents})
    registry.load({document.cut for document in documents})


def has_same_chunking(stored: StoredDocument | None, document: Document) -> bool:
    """Whether the stored document is cut as this one is: the same text the same way."""
    return (
        stored is not None
        and stored.document.text == document.text
        and stored.document.cut == document.cut
    )


def is_tenant_visible(document: Document) -> bool:
    """Whether the whole tenant may read it, and so may know its words."""
    return not _COMMON.isdisjoint(document.readers)


def _learned(document: Document, chunks: Sequence[Chunk]) -> Collection[str]:
    """Nothing of what only some may read: who is corrected, and who isn't, would tell its words."""
    if not is_tenant_visible(document):
        return ()
    return spelling.vocabulary_words([document.title, *(chunk.embedded_text for chunk in chunks)])


def _chunks(
    stored: StoredDocument | None, document: Document, cut: Sequence[Chunk] | None
) -> Sequence[Chunk]:
    if cut is not None:
        return cut
    if stored is not None and has_same_chunking(stored, document):
        return rebuild_chunks(document.text, document.cut, stored.places)
    return chunks(document.text, document.cut)


def _summaries(document: Document, said: Mapping[str, str]) -> Sequence[Chunk]:
    return [] if document.summaries == NO_SUMMARIES else summaries(document.text, said)


def _plan(stored: StoredDocument | None, new: Sequence[Chunk]) -> ChunkPlan:
    if stored is None:
        return plan_chunks([], new)
    pairs = zip(stored.chunk_ids, stored.digests, strict=True)
    chunks = [StoredChunk(chunk_id, digest) for chunk_id, digest in pairs]
    told = [StoredChunk(summary.chunk_id, summary.digest) for summary in stored.summaries]
    return plan_chunks([*chunks, *told], new)


def _kept(chunk_id: int, chunk: Chunk, words: bytes | None) -> KeptChunk:
    return KeptChunk(chunk_id, chunk.digest, chunk.start, chunk.end, chunk.text, words)


def _words(document: Document, chunk: Chunk) -> bytes:
    """The title counts as words of each chunk; it is not embedded, so a new title costs nothing."""
    weights = lexical.chunk(f"{document.title}\n{chunk.embedded_text}", document.language)
    return vectors.sparse(weights, lexical.DIMENSION)
