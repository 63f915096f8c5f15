"""The write path: chunk, plan, embed what is new, commit once, invalidate, acknowledge.

A document is planned from what is stored, without a lock; the commit takes place only if that is
still what is stored, else everything is planned again.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from index import lexical, spelling
from index.document import Document
from index.documents import Added, Committed, Documents, Kept, Stored, Write
from ingest.chunk import Chunk, chunks
from ingest.errors import DocumentContended, DocumentTooLong
from ingest.plan import Plan, plan
from ingest.plan import Stored as StoredChunk

_ATTEMPTS_MAX = 20  # a starting value: each lost attempt means that another writer got through
_PAUSE_S = 0.01  # after a lost attempt, longer each time, so that many writers take turns
_INLINE_CHARACTERS_MAX = 1_000  # a few milliseconds at the worst; more goes to a thread
CHUNKS_MAX = 5_000  # of a document; a starting value: an ordinary book has half of it


class Embedder(Protocol):
    """Texts to unit vectors, one row each. Raises `EmbeddingUnavailable`."""

    @property
    def space(self) -> str: ...
    @property
    def batch_texts_max(self) -> int: ...
    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


class Invalidation(Protocol):
    async def drain(self, partition: str, revision: int) -> None: ...


Revise = Callable[[Document | None], Document]


@dataclass(frozen=True, slots=True)
class Written:
    """The revision that a write made, and how many chunks it added, kept, removed and embedded.

    changed: False if everything was so already, and the revision is an older one.
    """

    document_id: str
    revision: int
    changed: bool = True
    added: int = 0
    kept: int = 0
    removed: int = 0
    embedded: int = 0


class Writer:
    """Raises `DatabaseUnavailable`, `EmbeddingUnavailable`, and what `ingest.errors` lists."""

    def __init__(
        self, documents: Documents, embedder: Embedder, invalidation: Invalidation
    ) -> None:
        self._documents = documents
        self._embedder = embedder
        self._invalidation = invalidation

    async def put(self, tenant: str, document_id: str, revise: Revise) -> Written:
        """Store what `revise` makes of the stored document, or of None.

        `revise` may be called several times, and may raise to refuse. A document that is already
        so costs one look-up, and makes no revision.
        """

        async def attempt(stored: Stored | None) -> Written | None:
            document = revise(stored.document if stored else None)
            if stored is not None and stored.document == document:
                return _unchanged(stored)
            write, embedded = await self._prepare(tenant, stored, document)
            committed = await self._documents.apply(tenant, write)
            if committed is None:
                return None
            return Written(
                document_id,
                await self._invalidated(tenant, committed),
                added=len(write.added),
                kept=len(write.kept),
                removed=len(write.removed),
                embedded=embedded,
            )

        return await self._settled(tenant, document_id, attempt)

    async def put_access(self, tenant: str, document_id: str, revise: Revise) -> Written:
        """Change owner and readers to what `revise` says; embeds nothing, moves no vector."""

        async def attempt(stored: Stored | None) -> Written | None:
            document = revise(stored.document if stored else None)
            assert stored is not None, "revise refuses what is not there"
            if stored.document == document:
                return _unchanged(stored)
            committed = await self._documents.put_access(
                tenant, stored, owner=document.owner, readers=document.readers
            )
            if committed is None:
                return None
            revision = await self._invalidated(tenant, committed)
            return Written(document_id, revision, kept=len(stored.chunk_ids))

        return await self._settled(tenant, document_id, attempt)

    async def remove(
        self, tenant: str, document_id: str, permit: Callable[[Document | None], object]
    ) -> Written:
        """Remove the document with its chunks; `permit` raises to refuse."""

        async def attempt(stored: Stored | None) -> Written | None:
            permit(stored.document if stored else None)
            assert stored is not None, "permit refuses what is not there"
            committed = await self._documents.remove(tenant, stored)
            if committed is None:
                return None
            revision = await self._invalidated(tenant, committed)
            return Written(document_id, revision, removed=len(stored.chunk_ids))

        return await self._settled(tenant, document_id, attempt)

    async def _settled(
        self,
        tenant: str,
        document_id: str,
        attempt: Callable[[Stored | None], Awaitable[Written | None]],
    ) -> Written:
        """What an attempt wrote; None means that somebody else got through first, so once more."""
        for lost in range(_ATTEMPTS_MAX):
            written = await attempt(await self._documents.stored(tenant, document_id))
            if written is not None:
                return written
            await asyncio.sleep(random.uniform(0, lost * _PAUSE_S))  # noqa: S311  no secret
        raise DocumentContended(document_id)

    async def _prepare(
        self, tenant: str, stored: Stored | None, document: Document
    ) -> tuple[Write, int]:
        """The smallest write that makes the document so, and how many texts were embedded."""
        await asyncio.to_thread(lexical.load, [document.language])
        if len(document.text) > _INLINE_CHARACTERS_MAX:
            draft = await asyncio.to_thread(_draft, stored, document)
        else:
            draft = _draft(stored, document)
        vectors, embedded = await self._vectors(tenant, draft.added_chunks)
        write = Write(
            document=document,
            version=stored.version if stored else 0,
            added=[
                Added(new.digest, new.start, new.end, new.text, vectors[new.digest], words)
                for new, words in zip(draft.added_chunks, draft.added_words, strict=True)
            ],
            kept=draft.kept,
            removed=draft.removed,
            words=draft.learned,
        )
        return write, embedded

    async def _vectors(
        self, tenant: str, added: Sequence[Chunk]
    ) -> tuple[Mapping[bytes, HalfVector], int]:
        """A vector for each digest, embedding only what the tenant has never embedded."""
        wanted = {chunk.digest: chunk.embedded_text for chunk in added}
        if not wanted:
            return {}, 0
        space = self._embedder.space
        known = await self._documents.known_embeddings(tenant, space, wanted)
        missing = [digest for digest in wanted if digest not in known]
        if not missing:
            return known, 0
        for at in range(0, len(missing), self._embedder.batch_texts_max):
            batch = missing[at : at + self._embedder.batch_texts_max]
            rows = await self._embedder.embed_passages([wanted[digest] for digest in batch])
            new = {digest: HalfVector(row) for digest, row in zip(batch, rows, strict=True)}
            await self._documents.keep_embeddings(tenant, space, new)  # paid for, come what may
            known |= new
        return known, len(missing)

    async def _invalidated(self, tenant: str, committed: Committed) -> int:
        """The tenant's revision, once caches are drained up to it, or readers left to do so."""
        revisions = committed.revisions
        await asyncio.gather(*(self._invalidation.drain(*changed) for changed in revisions.items()))
        return revisions[tenant]


def _unchanged(stored: Stored) -> Written:
    document_id, kept = stored.document.document_id, len(stored.chunk_ids)
    return Written(document_id, stored.revision, changed=False, kept=kept)


@dataclass(frozen=True, slots=True)
class _Draft:
    added_chunks: Sequence[Chunk]
    added_words: Sequence[Mapping[int, float]]
    kept: Sequence[Kept]
    removed: Sequence[int]
    learned: Collection[str]


def _draft(stored: Stored | None, document: Document) -> _Draft:
    """All of a write but the vectors; takes CPU time and nothing else."""
    new = chunks(document.text)
    if len(new) > CHUNKS_MAX:
        raise DocumentTooLong(f"has {len(new):,} chunks; at most {CHUNKS_MAX:,} make a document")
    planned = _plan(stored, new)
    reweigh = stored is not None and (
        stored.document.title != document.title or stored.document.language != document.language
    )
    added = [new[place] for place in planned.added]
    return _Draft(
        added_chunks=added,
        added_words=[_words(document, chunk) for chunk in added],
        kept=[
            _kept(chunk_id, new[place], _words(document, new[place]) if reweigh else None)
            for chunk_id, place in planned.kept
        ],
        removed=planned.removed,
        learned=spelling.words_of([document.title, *(chunk.embedded_text for chunk in added)]),
    )


def _plan(stored: Stored | None, new: Sequence[Chunk]) -> Plan:
    if stored is None:
        return plan([], new)
    pairs = zip(stored.chunk_ids, stored.digests, strict=True)
    return plan([StoredChunk(chunk_id, digest) for chunk_id, digest in pairs], new)


def _kept(chunk_id: int, chunk: Chunk, words: Mapping[int, float] | None) -> Kept:
    return Kept(chunk_id, chunk.digest, chunk.start, chunk.end, chunk.text, words)


def _words(document: Document, chunk: Chunk) -> Mapping[int, float]:
    """The title counts as words of each chunk; it is not embedded, so a new title costs nothing."""
    return lexical.chunk(f"{document.title}\n{chunk.embedded_text}", document.language)
