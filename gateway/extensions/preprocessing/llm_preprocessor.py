"""The results of a language model for the documents that ask for them.

What it has made of a stored document is reused as far as the text is equal.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from common.shares.threads import TenantThreads
from gateway.extensions.preprocessing.llm_chunker import StoredModelChunks
from index.documents.stored_document import StoredDocument, StoredSummary
from index.errors import BudgetSpent
from index.model import chunking_config
from index.model.document import Document
from ingest.chunkers.chunk import Chunk
from ingest.summaries.extract import extract
from ingest.write.document_plan import LlmResult, has_same_chunking


class Chunker(Protocol):
    """Chunks a text with a model, reusing the stored chunks. Raises only `Saturated`."""

    async def chunks(
        self, text: str, stored: StoredModelChunks | None, threads: TenantThreads, /
    ) -> list[Chunk]: ...


class Summarizer(Protocol):
    """Summarises the parts of a text with a model, reusing the stored summaries.

    Raises only `Saturated`.
    """

    async def summaries_by_text(
        self, text: str, stored: Mapping[str, str], threads: TenantThreads, /
    ) -> Mapping[str, str]: ...


async def _no_budget() -> None:
    """Of a tenant that may spend what it wants."""


@dataclass(frozen=True, slots=True)
class LlmPreprocessor:
    """chunker: for documents with the `model` chunker; None chunks them by structure.

    summarizer: for documents with `model` summaries; None uses extracts.
    check_budget: raises `BudgetSpent` if the billed tenant's budget is spent: neither is called.
    """

    chunker: Chunker | None = None
    summarizer: Summarizer | None = None
    check_budget: Callable[[], Awaitable[None]] = _no_budget

    async def preprocess(
        self,
        changed: Sequence[tuple[StoredDocument | None, Document]],
        threads: TenantThreads,
    ) -> dict[str, LlmResult]:
        """The model's results, by the identifier of each document that uses the model.

        threads: for the work beside the model's. Raises `Saturated`.
        """
        return {
            document.document_id: LlmResult(
                await self._chunks(stored, document, threads),
                await self._summaries(stored, document, threads),
            )
            for stored, document in changed
            if document.is_active
            and chunking_config.MODEL in (document.chunker, document.summaries)
        }

    async def _chunks(
        self, stored: StoredDocument | None, document: Document, threads: TenantThreads
    ) -> Sequence[Chunk] | None:
        if (
            self.chunker is None
            or document.chunker != chunking_config.MODEL
            or has_same_chunking(stored, document)
            or await self._is_budget_spent()
        ):
            return None
        stored_chunks = (
            StoredModelChunks(stored.document.text, stored.spans)
            if stored is not None
            and stored.document.is_active
            and stored.document.chunker == chunking_config.MODEL
            else None
        )
        return await self.chunker.chunks(document.text, stored_chunks, threads)

    async def _summaries(
        self, stored: StoredDocument | None, document: Document, threads: TenantThreads
    ) -> Mapping[str, str]:
        """Summaries by the text of their part; a stored one is reused while that text is equal."""
        if document.summaries != "model":
            return {}
        reusable: Mapping[str, str] = {}
        if stored is not None and stored.document.summaries == "model":
            reusable = await threads.run(_llm_summary_texts, stored.document.text, stored.summaries)
        if self.summarizer is None or await self._is_budget_spent():
            return reusable
        return await self.summarizer.summaries_by_text(document.text, reusable, threads)

    async def _is_budget_spent(self) -> bool:
        try:
            await self.check_budget()
        except BudgetSpent:
            return True
        return False


def _llm_summary_texts(text: str, stored: Sequence[StoredSummary]) -> dict[str, str]:
    """The stored summaries that a model has written, by the text of their part.

    Extracts are left out: they replaced a failed call, which can be repeated.
    """
    by_body = {text[summary.start : summary.end]: summary.text for summary in stored}
    return {body: summary for body, summary in by_body.items() if summary != extract(body)}
