"""Compares the index with the stored texts; reports problems, and repairs them on request.

Each document is read in one snapshot, so a concurrent write is not reported as a problem.
"""

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from gateway.extension import IndexProblem
from gateway.extensions.audits.consistency_counts import (
    ConsistencyReader,
    StoredChunks,
    StoredPiece,
)
from index.documents.stored_document import StoredDocument
from index.jobs.job_queue import JobLease
from index.model.document import NO_SUMMARIES
from ingest.chunkers import registry
from ingest.chunkers.chunk import Chunk
from ingest.errors import DocumentTooLong
from ingest.summaries import summary
from ingest.worker import job_slot
from ingest.write.writer import Writer

_PAGE_DOCUMENTS = 20  # a starting value, not measured


@dataclass(frozen=True, slots=True)
class IndexAudit:
    """spaces: those in use beside the tenant's own. repair: whether to repair the problems."""

    inventory: ConsistencyReader
    writer: Writer
    spaces: Collection[str]
    repair: bool

    async def problems(
        self, tenant: str, on_documents: Callable[[int], None], run: JobLease | None = None
    ) -> AsyncIterator[IndexProblem]:
        """The tenant's problems; a problem is repaired before it is returned.

        on_documents: receives the number of documents checked since the last call. run: the job's.
        Raises `DatabaseUnavailable`, `EmbeddingUnavailable`, `JobLost`, `DocumentContended` and
        `Saturated`.
        """
        async for problem in self._document_problems(tenant, on_documents, run):
            yield problem
        counts = await self.inventory.counts(tenant)
        if counts is not None and counts.recorded != counts.counted:
            detail = f"{_join(counts.recorded)} chunks are recorded, {_join(counts.counted)} exist"
            if self.repair:
                await self.inventory.recount(tenant)
            yield IndexProblem("count", "", detail, self.repair)
        for space, vectors in (await self.inventory.old_spaces(tenant, self.spaces)).items():
            if self.repair:
                await self.inventory.forget_space(tenant, space)
            yield IndexProblem("space", space, f"{vectors:,} unused vectors", self.repair)

    async def _document_problems(
        self, tenant: str, on_documents: Callable[[int], None], run: JobLease | None
    ) -> AsyncIterator[IndexProblem]:
        after = ""
        while page := await self.inventory.documents(tenant, after=after, limit=_PAGE_DOCUMENTS):
            checking = self.writer.threads.run(tenant, _check, page)
            for chunks, problems in await job_slot.in_turns(checking):
                is_repaired = (
                    bool(problems) and self.repair and await self._repair(tenant, chunks, run)
                )
                for problem in problems:
                    yield replace(problem, is_repaired=is_repaired)
            after = page[-1].document_id
            on_documents(len(page))

    async def _repair(self, tenant: str, stored: StoredChunks, run: JobLease | None) -> bool:
        if stored.text is None:
            return False
        try:
            await self.writer.write_again(
                tenant, stored.document_id, _without_digests, run, stored.strays
            )
        except DocumentTooLong:
            return False
        return True


def _without_digests(stored: StoredDocument) -> StoredDocument:
    """So that each of its chunks is written as if it were new."""
    return replace(
        stored,
        digests=(b"",) * len(stored.digests),
        summaries=tuple(replace(summary, digest=b"") for summary in stored.summaries),
    )


def _check(page: Sequence[StoredChunks]) -> list[tuple[StoredChunks, list[IndexProblem]]]:
    registry.load({stored.chunker for stored in page})
    return [(stored, [*_problems(stored)]) for stored in page]


def _problems(stored: StoredChunks) -> Iterator[IndexProblem]:
    if stored.text is None:
        yield IndexProblem(
            "text", stored.document_id, "its text is missing; write the document again"
        )
    elif stored.chunks != _chunk(stored.text, stored):
        yield IndexProblem("digest", stored.document_id, "its chunks differ from those of its text")
    if stored.text is not None and stored.summary_chunks != _summaries(stored.text, stored):
        yield IndexProblem(
            "summary", stored.document_id, "its summaries differ from those of its text"
        )
    if stored.strays:
        yield IndexProblem(
            "orphan", stored.document_id, f"{len(stored.strays)} chunks are in only one table"
        )
    if stored.wrong_vector_count:
        detail = f"{stored.wrong_vector_count} chunks have no vector, or that of another text"
        yield IndexProblem("vector", stored.document_id, detail)
    count = len(stored.chunks) + len(stored.summary_chunks)
    if stored.expected_count != count:
        detail = f"{stored.expected_count} chunks are recorded, {count} exist"
        yield IndexProblem("count", stored.document_id, detail)


def _chunk(text: str, stored: StoredChunks) -> tuple[StoredPiece, ...]:
    """The chunks that the text should have."""
    if not stored.is_active:
        return ()
    spans = [(chunk.start, chunk.end) for chunk in stored.chunks]
    return _pieces(registry.rebuild_chunks(text, stored.chunker, spans))


def _summaries(text: str, stored: StoredChunks) -> tuple[StoredPiece, ...]:
    """The summaries that the text should have; those of a model are taken as they are stored."""
    if stored.summaries == NO_SUMMARIES or not stored.is_active:
        return ()
    by_model = stored.summaries == "model"
    llm_summaries = {
        text[chunk.start : chunk.end]: chunk.text for chunk in stored.summary_chunks if by_model
    }
    return _pieces(summary.summaries(text, llm_summaries))


def _pieces(chunks: Iterable[Chunk]) -> tuple[StoredPiece, ...]:
    return tuple(StoredPiece(chunk.start, chunk.end, chunk.digest, chunk.text) for chunk in chunks)


def _join(numbers: Sequence[int]) -> str:
    return "/".join(f"{number:,}" for number in numbers)
