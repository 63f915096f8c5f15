"""An index of three tenants whose documents change in every way, by a story."""

from collections.abc import Sequence
from copy import deepcopy
from datetime import date, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from gateway.extensions.popularity.popularity_rollup import PopularityRollup
from gateway.extensions.popularity.popularity_store import PopularityStore, opening
from gateway.extensions.reembed.embedding_migration import EmbeddingMigration
from gateway.extensions.reembed.reembedder import Reembedder
from index.documents.document_store import DocumentStore
from index.documents.visible_documents import VisibleDocuments
from index.embedders.hashing_embedder import HashingEmbedder
from index.embedders.static_embedder import StaticEmbedder
from index.model.document import Document
from index.model.query import Filter
from index.postgres.database import Database
from index.search.query_embedder import Embedder
from index.search.searcher import Searcher
from index.tenants.tenant_store import TenantStore
from ingest.write.writer import Writer
from tests.index.support import worlds
from tests.index.support.random_changes import Story
from tests.index.support.samples import RecordingEmbedder, RecordingInvalidation, as_put
from tests.threads import new_threads

DOCUMENTS = 12  # a tenant has at most
UNEMBEDDED_SHARE = 0.1


class Choosy(RecordingEmbedder):
    """Has no vector for some texts at its first attempts at them."""

    def __init__(self, embedder: Embedder, story: Story) -> None:
        super().__init__(embedder)
        self._story = story

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = await super().embed_passages(texts)
        vectors[[self._story.chance(UNEMBEDDED_SHARE) for _ in texts]] = 0
        return vectors


class ChangingIndex:
    openings_share = 0.06  # of what happens

    def __init__(self, database: Database, static: StaticEmbedder, story: Story) -> None:
        self.story = story
        self._static = static
        embedders = [Choosy(embedder, self.story) for embedder in (static, HashingEmbedder(32))]
        self.database = database
        self.documents = DocumentStore(database)
        self.visible_documents = VisibleDocuments(database)
        self.tenants = TenantStore(database)
        self.searcher = Searcher(database, *embedders)
        self.writer = Writer(self.documents, embedders[0], RecordingInvalidation(), *embedders[1:])
        self.popularity = PopularityStore(database)
        self.rollup = PopularityRollup(database, interval_s=0)
        self.today = date(2026, 1, 1)
        self.embedders: Sequence[Embedder] = embedders
        self.stored: dict[tuple[str, str], Document] = {}

    def at(self, database: Database) -> "ChangingIndex":
        """The same index in a copy of its database, to which the same will happen."""
        copy = ChangingIndex(database, self._static, deepcopy(self.story))
        copy.stored = dict(self.stored)
        return copy

    async def begin(self) -> None:
        for tenant in worlds.TENANTS:
            await self.tenants.create(tenant, tenant)
            await self.popularity.put_counted(tenant, "feedback")
        await self._go_on()
        for tenant in worlds.TENANTS:
            for number in range(DOCUMENTS - 4):
                await self._put(tenant, f"d{number}")

    async def happen(self) -> None:
        """One commit of one of the tenants."""
        await self._go_on()
        tenant = self.story.random.choice(worlds.TENANTS)
        document_id = f"d{self.story.random.randrange(DOCUMENTS)}"
        stored = self.stored.get((tenant, document_id))
        if self.story.chance(0.03):
            await self._move(tenant)
        elif self.story.chance(0.05):
            await self._backfill(tenant)
        elif self.story.chance(self.openings_share):
            await self._open_documents(tenant)
        elif stored is None or self.story.chance(0.1):
            await self._put(tenant, document_id)
        elif self.story.chance(0.12):
            del self.stored[tenant, document_id]
            await self.writer.remove(tenant, document_id, lambda document: document)
        elif self.story.chance(0.2):
            document = self.story.re_permitted(stored)
            self.stored[tenant, document_id] = document
            await self.writer.put_access(
                tenant, document_id, lambda _stored: document, may_publish=True
            )
        elif self.story.chance(0.1):
            await self._put_all(tenant)
        else:
            await self._put(tenant, document_id)

    async def _move(self, tenant: str) -> None:
        space = await self.documents.space(tenant)
        (coming,) = [embedder for embedder in self.embedders if embedder.space != space]
        await self._reembedder(coming).run(tenant, coming.dimensions, lambda _progress: None)

    async def _backfill(self, tenant: str) -> None:
        space = await self.documents.space(tenant)
        for embedder in self.embedders:
            if embedder.space == space:
                await self._reembedder(embedder).fill(tenant, lambda _progress: None)

    def _reembedder(self, embedder: Embedder) -> Reembedder:
        spaces = EmbeddingMigration(self.database)
        invalidation = RecordingInvalidation()
        return Reembedder(self.documents, spaces, embedder, invalidation, new_threads())

    async def _open_documents(self, tenant: str) -> None:
        """Some subjects open some, also another tenant's public ones, often after some months."""
        random = self.story.random
        self.today += timedelta(days=random.choice([0, 0, 1, 90]))
        scope = self.story.scope(tenant)
        chosen = random.sample(sorted(self.stored), k=min(4, len(self.stored)))
        keys = await self.visible_documents.openable(scope, Filter(), chosen)
        subjects = range(random.choice([2, 4, 8]))
        await self.popularity.add(
            opening(tenant, str(subject), key, self.today) for subject in subjects for key in keys
        )
        await self.rollup.roll_up(tenant, self.today)

    async def _put(self, tenant: str, document_id: str) -> None:
        document = self._next(tenant, document_id)
        await self.writer.put_all(tenant, [as_put(document)])

    async def _put_all(self, tenant: str) -> None:
        every = [self._next(tenant, f"d{number}") for number in range(4)]
        await self.writer.put_all(tenant, [as_put(document) for document in every])

    def _next(self, tenant: str, document_id: str) -> Document:
        stored = self.stored.get((tenant, document_id))
        if stored is None or self.story.chance(0.1):
            document = self.story.document(document_id)
        else:
            document = self.story.edited(stored)
        self.stored[tenant, document_id] = document
        return document

    async def _go_on(self) -> None:
        async with self.database.session() as session:
            now: datetime = await session.connection.fetchval("SELECT now()")
        self.story.go_on(now)
