"""Plans the chunks of documents, and embeds those that are new."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from pgvector import HalfVector

from common.billing_context import bill_to
from common.processes.worker_pool import WorkerPool
from common.shares.threads import FairThreads, TenantThreads
from common.shares.turns import long_step, map_in_steps
from index.documents.document_store import DocumentStore
from index.documents.document_writes import DocumentWrite
from index.documents.stored_document import StoredDocument
from index.errors import EmbeddingUnavailable
from index.model.document import Document
from index.model.quota import StoredAmounts
from index.text.word_lists import analysed_languages
from ingest.write.document_plan import (
    DocumentPlan,
    LlmResult,
    Planned,
    PlannedBatch,
    characters,
    plan_in_thread,
)
from ingest.write.embed import PassageEmbedder, embed_missing
from ingest.write.planning_process import PlanningProcess
from ingest.write.revision import PlannedUpdate
from ingest.write.write_warning import without_vectors

PROCESS_CHARACTERS_MIN = 20_000  # as many take some milliseconds, which a search may wait


class Preprocessor(Protocol):
    """Chunks and summarises documents with a language model before they are planned.

    The plan uses the built-in chunker and extracts where it gives no result.
    """

    async def preprocess(
        self, changed: Sequence[tuple[StoredDocument | None, Document]], threads: TenantThreads, /
    ) -> Mapping[str, LlmResult]:
        """The results by document. threads: for the work beside the model's.

        Raises only `Saturated`.
        """
        ...


class WritePlanner:
    """Makes plans and vectors; writes nothing but new vectors. Raises as `Writer` does."""

    def __init__(
        self,
        documents: DocumentStore,
        embedders: Sequence[PassageEmbedder],
        preprocessor: Preprocessor | None,
        threads: FairThreads,
        processes: WorkerPool[PlanningProcess] | None,
    ) -> None:
        """embedders: the first is for tenants without vectors. processes: for long texts."""
        self._documents = documents
        self._first = embedders[0].space
        self._embedders = {model.space: model for model in embedders}
        self._preprocessor = preprocessor
        self._threads = threads
        self._processes = processes

    async def plan(
        self, tenant: str, changed: Sequence[tuple[StoredDocument | None, Document]]
    ) -> Planned:
        """The plans, and by document the errors of those that are too long."""
        llm_results: Mapping[str, LlmResult] = {}
        if self._preprocessor is not None:
            with bill_to(tenant):
                llm_results = await self._preprocessor.preprocess(changed, self._threads.of(tenant))
        if self._processes is None or characters(changed) < PROCESS_CHARACTERS_MIN:
            return await plan_in_thread(self._threads, tenant, changed, llm_results)
        # Searches of this process need the word lists of the texts too.
        await self._threads.run(
            tenant, analysed_languages.load, {document.language for _, document in changed}
        )
        async with long_step(tenant):
            return await self._processes.run(tenant, PlanningProcess.plan, changed, llm_results)

    async def embed(
        self, tenant: str, plans: Sequence[DocumentPlan], revisions: Mapping[str, PlannedUpdate]
    ) -> PlannedBatch:
        texts = {chunk.digest: chunk.embedded_text for plan in plans for chunk in plan.added}
        growth = sum((plan.growth for plan in plans), StoredAmounts())
        space, vectors, embedded = await self._vectors(tenant, texts, growth)

        def write_of(plan: DocumentPlan) -> DocumentWrite:
            write = plan.with_vectors(space, vectors)
            revised = revisions[write.document_id]
            return replace(write, parts=revised.parts, missing=revised.missing)

        writes = await map_in_steps(write_of, plans)
        warnings = [
            (*plan.warnings, *without_vectors(write.added))
            for plan, write in zip(plans, writes, strict=True)
        ]
        return PlannedBatch(writes, warnings, embedded)

    async def _vectors(
        self, tenant: str, texts: Mapping[bytes, str], growth: StoredAmounts
    ) -> tuple[str | None, Mapping[bytes, HalfVector], Collection[bytes]]:
        """The tenant's embedding space, a vector for each digest, and the digests embedded now.

        The commit is refused if the space changes meanwhile. Without texts there is no space.
        """
        if not texts:
            return None, {}, ()
        space, known = await self._documents.planned_embeddings(tenant, self._first, texts, growth)
        embedder = self._embedders.get(space)
        if embedder is None:
            raise EmbeddingUnavailable(
                f"{tenant} has vectors of {space}, for which no embedder is configured here"
            )
        return space, *await embed_missing(self._documents, embedder, tenant, texts, known)
