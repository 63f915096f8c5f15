"""The index held against its own texts: what is not as it should be is told, and mended if asked.

A document is read as of one instant, so whoever writes meanwhile is taken for no flaw.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from index.documents.consistency_counts import ConsistencyReader, StoredChunks, StoredPiece
from index.jobs.job_queue import JobLease
from index.model.document import NO_SUMMARIES
from ingest.chunkers import registry
from ingest.chunkers.chunk import Chunk
from ingest.errors import DocumentTooLong
from ingest.summaries import summary
from ingest.write.writer import Writer

_PAGE_DOCUMENTS = 20  # a starting value, not measured

# text: the document's is lost. orphan: chunks that not all tables hold. vector: chunks without one,
# or with another one than their digest's. digest: the chunks are none that the text is cut into.
# summary: its summaries are others than it should have.
# count: there are more or fewer chunks than is told. space: vectors of a space that nobody uses.
# behind: the source has other documents by now.
Kind: TypeAlias = Literal[
    "text", "orphan", "vector", "digest", "summary", "count", "space", "behind"
]


@dataclass(frozen=True, slots=True)
class Flaw:
    """where: the document, space or source that has it; empty if it is the tenant."""

    kind: Kind
    where: str
    detail: str
    is_mended: bool = False


@dataclass(frozen=True, slots=True)
class IndexAudit:
    """spaces: those that are in use beside the tenant's own. repair: whether flaws are mended."""

    inventory: ConsistencyReader
    writer: Writer
    spaces: Collection[str]
    repair: bool

    async def flaws(
        self, tenant: str, on_documents: Callable[[int], None], run: JobLease | None = None
    ) -> AsyncIterator[Flaw]:
        """All of the tenant's, each once it is mended if it is to be.

        on_documents: told how many more have been looked at. run: of the job that does it.
        Raises `DatabaseUnavailable`, `EmbeddingUnavailable`, `JobLost` and `DocumentContended`.
        """
        async for flaw in self._of_documents(tenant, on_documents, run):
            yield flaw
        counts = await self.inventory.counts(tenant)
        if counts is not None and counts.recorded != counts.counted:
            detail = f"{_listed(counts.recorded)} chunks are told, {_listed(counts.counted)} found"
            if self.repair:
                await self.inventory.recount(tenant)
            yield Flaw("count", "", detail, self.repair)
        for space, vectors in (await self.inventory.old_spaces(tenant, self.spaces)).items():
            if self.repair:
                await self.inventory.forget_space(tenant, space)
            yield Flaw("space", space, f"{vectors:,} vectors that nobody uses", self.repair)

    async def _of_documents(
        self, tenant: str, on_documents: Callable[[int], None], run: JobLease | None
    ) -> AsyncIterator[Flaw]:
        after = 0
        while page := await self.inventory.documents(tenant, after=after, limit=_PAGE_DOCUMENTS):
            for held, flaws in await asyncio.to_thread(_judged, page):
                is_mended = bool(flaws) and self.repair and await self._mended(tenant, held, run)
                for flaw in flaws:
                    yield replace(flaw, is_mended=is_mended)
            after = page[-1].key
            on_documents(len(page))

    async def _mended(self, tenant: str, held: StoredChunks, run: JobLease | None) -> bool:
        if held.text is None:
            return False
        try:
            await self.writer.rewrite_chunks(tenant, held.document_id, held.strays, run)
        except DocumentTooLong:
            return False
        return True


def _judged(page: Sequence[StoredChunks]) -> list[tuple[StoredChunks, list[Flaw]]]:
    registry.load({held.cut for held in page})
    return [(held, [*_flaws(held)]) for held in page]


def _flaws(held: StoredChunks) -> Iterator[Flaw]:
    if held.text is None:
        yield Flaw("text", held.document_id, "its text is lost; write it again")
    elif held.chunks != _cut(held.text, held):
        yield Flaw("digest", held.document_id, "its chunks are none that its text is cut into")
    if held.text is not None and held.summary_chunks != _summaries(held.text, held):
        yield Flaw("summary", held.document_id, "its summaries are others than its text has today")
    if held.strays:
        yield Flaw("orphan", held.document_id, f"{len(held.strays)} chunks are in one table alone")
    if held.wrong_vector_count:
        detail = (
            f"{held.wrong_vector_count} chunks have no vector, or another one than their text's"
        )
        yield Flaw("vector", held.document_id, detail)
    found = len(held.chunks) + len(held.summary_chunks)
    if held.expected_count != found:
        detail = f"{held.expected_count} chunks are told, {found} found"
        yield Flaw("count", held.document_id, detail)


def _cut(text: str, held: StoredChunks) -> tuple[StoredPiece, ...]:
    """The chunks that the text is cut into today."""
    places = [(each.start, each.end) for each in held.chunks]
    return _pieces(registry.rebuild_chunks(text, held.cut, places))


def _summaries(text: str, held: StoredChunks) -> tuple[StoredPiece, ...]:
    """What the text is summed up in today; a model would not say it in the same words twice."""
    if held.summaries == NO_SUMMARIES:
        return ()
    by_model = held.summaries == "model"
    said = {text[each.start : each.end]: each.text for each in held.summary_chunks if by_model}
    return _pieces(summary.summaries(text, said))


def _pieces(chunks: Iterable[Chunk]) -> tuple[StoredPiece, ...]:
    return tuple(StoredPiece(each.start, each.end, each.digest, each.text) for each in chunks)


def _listed(numbers: Sequence[int]) -> str:
    return "/".join(f"{number:,}" for number in numbers)
