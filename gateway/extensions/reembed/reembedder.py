"""Moves a tenant's chunks to another embedder's space while searches and writes continue.

First each digest gets a vector in the new space beside the old one, including digests written
meanwhile. Then all chunks switch in one commit. An interrupted run leaves the tenant unchanged, and
the next run embeds only the missing vectors.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from cache.protocol import Revisions
from common.shares.threads import FairThreads
from gateway.extensions.reembed.embedding_migration import (
    EmbeddingMigration,
    MissingVector,
    StoredText,
)
from gateway.extensions.reembed.errors import NotReembedded
from index.documents.document_store import DocumentStore
from index.documents.outbox import CommitResult
from ingest.chunkers.registry import rebuild_chunks
from ingest.summaries import summary
from ingest.worker import job_slot
from ingest.write.embed import PassageEmbedder, embed_missing
from ingest.write.writer import CacheInvalidation

_PAGE_DOCUMENTS = 10  # in memory with their chunks, of at most 2 million characters each
_ROUNDS_MAX = 100  # each but the first embeds the texts written during the last
_MISSING_MAX = 10_000  # chunks that are compared from round to round; about 2 MB
_NAMED_MAX = 5  # documents in an error


@dataclass(frozen=True, slots=True)
class ReembedProgress:
    """documents: processed in this round; embedded: texts embedded so far."""

    round: int
    documents: int
    embedded: int


@dataclass(frozen=True, slots=True)
class Reembedder:
    """Raises `DatabaseUnavailable`, `EmbeddingUnavailable`, `TenantMissing` and `NotReembedded`.

    threads: for the chunks of long texts, which would hold the event loop for seconds.
    """

    documents: DocumentStore
    spaces: EmbeddingMigration
    embedder: PassageEmbedder
    invalidation: CacheInvalidation
    threads: FairThreads

    async def run(
        self, tenant: str, dimensions: int, on_progress: Callable[[ReembedProgress], None]
    ) -> bool:
        """Move the tenant into the embedder's space; False if it is there already."""
        space = self.embedder.space
        if await self.documents.space(tenant) == space:
            await self.spaces.finish(
                tenant, space, dimensions
            )  # an earlier run may have ended here
            return False
        embedded = 0
        missing: set[MissingVector] = set()
        await self.spaces.prepare(tenant)
        for number in range(1, _ROUNDS_MAX + 1):
            embedded = await self._fill(tenant, number, embedded, on_progress)
            committed = await self.spaces.switch(tenant, space)
            if committed is not None:
                await self._invalidate(tenant, committed)
                await self.spaces.finish(tenant, space, dimensions)
                return True
            missing_before = missing
            missing = {*await self.spaces.missing_vectors(tenant, space, limit=_MISSING_MAX)}
            # A chunk written since this round read its document is missing for the first time.
            if stuck := missing & missing_before:
                raise NotReembedded(_not_rebuilt(tenant, stuck))
        raise NotReembedded(
            f"{tenant} stays in its space: its documents are written faster than they are "
            "embedded. Run the command again when there are fewer writes."
        )

    async def fill(self, tenant: str, on_progress: Callable[[ReembedProgress], None]) -> int:
        """Embed the texts without a vector in the embedder's space; returns their number.

        If it is the tenant's space, their chunks get the vectors. A text that can't be embedded
        stays without one.
        """
        embedded = await self._fill(tenant, 1, 0, on_progress)
        committed = await self.spaces.fill(tenant, self.embedder.space)
        if committed is not None:
            await self._invalidate(tenant, committed)
        return embedded

    async def _invalidate(self, tenant: str, committed: CommitResult) -> None:
        revisions = Revisions(committed.history, committed.revisions)
        await self.invalidation.drain(tenant, revisions)

    async def _fill(
        self,
        tenant: str,
        number: int,
        embedded: int,
        on_progress: Callable[[ReembedProgress], None],
    ) -> int:
        """Embed the texts without a vector in the new space; returns `embedded` plus the count.

        The first round reads all documents, the others read those with a missing vector.
        """
        after, documents = "", 0
        missing_in = None if number == 1 else self.embedder.space
        while page := await self.spaces.texts(
            tenant, after=after, limit=_PAGE_DOCUMENTS, missing_in=missing_in
        ):
            texts = await self.threads.run(tenant, _texts, page)
            known = await self.documents.known_embeddings(tenant, self.embedder.space, texts)
            _, digests = await job_slot.in_turns(
                embed_missing(self.documents, self.embedder, tenant, texts, known)
            )
            embedded += len(digests)
            after, documents = page[-1].document_id, documents + len(page)
            on_progress(ReembedProgress(number, documents, embedded))
        return embedded


def _not_rebuilt(tenant: str, stuck: Collection[MissingVector]) -> str:
    documents = sorted({missing.document_id for missing in stuck})[:_NAMED_MAX]
    return (
        f"{tenant} stays in its space: some chunks are none that its documents are cut into "
        f"today. Write these documents again: {', '.join(documents)}"
    )


def _texts(page: list[StoredText]) -> dict[bytes, str]:
    """The texts to embed, by digest."""
    return {
        chunk.digest: chunk.embedded_text
        for document in page
        for chunk in (
            *rebuild_chunks(document.text, document.chunker, document.spans),
            *summary.rebuild_summaries(document.text, document.summaries),
        )
    }
