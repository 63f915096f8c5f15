"""Moves a tenant's chunks to another embedder's space while searches and writes continue.

First each digest gets a vector in the new space beside the old one, including digests written
meanwhile. Then all chunks switch in one commit. An interrupted run leaves the tenant unchanged, and
the next run embeds only the missing vectors.
"""

from collections.abc import Callable
from dataclasses import dataclass

from cache.protocol import Revisions
from index.documents.document_store import DocumentStore
from index.embedders.embedding_migration import EmbeddingMigration, StoredText
from ingest.chunkers.registry import rebuild_chunks
from ingest.errors import NotReembedded
from ingest.summaries import summary
from ingest.write.embed import PassageEmbedder, embed_missing
from ingest.write.writer import CacheInvalidation

_PAGE_DOCUMENTS = 50
_ROUNDS_MAX = 20  # each but the first embeds the texts written during the last


@dataclass(frozen=True, slots=True)
class ReembedProgress:
    """documents: processed in this round; embedded: texts embedded so far."""

    round: int
    documents: int
    embedded: int


@dataclass(frozen=True, slots=True)
class Reembedder:
    """Raises `DatabaseUnavailable`, `EmbeddingUnavailable`, `TenantMissing` and `NotReembedded`."""

    documents: DocumentStore
    spaces: EmbeddingMigration
    embedder: PassageEmbedder
    invalidation: CacheInvalidation

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
        await self.spaces.prepare(tenant)
        for number in range(1, _ROUNDS_MAX + 1):
            before = embedded
            embedded = await self._fill(tenant, number, embedded, on_progress)
            committed = await self.spaces.switch(tenant, space)
            if committed is not None:
                revisions = Revisions(committed.history, committed.revisions)
                await self.invalidation.drain(tenant, revisions)
                await self.spaces.finish(tenant, space, dimensions)
                return True
            if number > 1 and embedded == before:
                break
        missing = await self.spaces.missing_vectors(tenant, space, limit=5)
        raise NotReembedded(
            f"{tenant} stays in its space: some chunks differ from those of their texts. Write "
            f"these documents again: {', '.join(missing)}"
        )

    async def fill(self, tenant: str, on_progress: Callable[[ReembedProgress], None]) -> int:
        """Embed the texts without a vector in the embedder's space; returns their number."""
        return await self._fill(tenant, 1, 0, on_progress)

    async def _fill(
        self,
        tenant: str,
        number: int,
        embedded: int,
        on_progress: Callable[[ReembedProgress], None],
    ) -> int:
        """Embed the texts without a vector in the new space; returns `embedded` plus the count."""
        after = documents = 0
        while page := await self.spaces.texts(tenant, after=after, limit=_PAGE_DOCUMENTS):
            _, digests = await embed_missing(self.documents, self.embedder, tenant, _texts(page))
            embedded += len(digests)
            after, documents = page[-1].key, documents + len(page)
            on_progress(ReembedProgress(number, documents, embedded))
        return embedded


def _texts(page: list[StoredText]) -> dict[bytes, str]:
    """The texts to embed, by digest."""
    return {
        chunk.digest: chunk.embedded_text
        for document in page
        for chunk in (
            *rebuild_chunks(document.text, document.cut, document.spans),
            *summary.rebuild_summaries(document.text, document.summaries),
        )
    }
