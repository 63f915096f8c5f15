"""Reads a complete source into a tenant."""

import asyncio
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Sequence,
)
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Protocol, TypeAlias

from common import background_tasks
from gateway.extensions._batches.write_batches import batches
from gateway.extensions._sources.source import (
    BlankItem,
    DocumentOfOtherOrigin,
    Item,
    ItemWarning,
    RefusedItem,
    SkippedFiles,
    Source,
    UnchangedItem,
)
from gateway.extensions._sources.sync.pruning import PrunePolicy
from gateway.extensions._sources.sync.read_documents import ReadDocuments
from gateway.extensions._sources.sync.report import PendingRemoval, Report
from index.documents.write_causes import Reading
from index.model.document import Document, DocumentContent
from index.model.form import composed
from index.model.provenance import Author
from ingest.errors import (
    DocumentTooLong,
    JobRefused,
    PublishingRefused,
)
from ingest.worker import job_slot
from ingest.write.revision import Outcome, Put, Written
from ingest.write.write_coordination import PipelineLocks

# Of a worker; a starting value: 20,000 pages at one a second take half of it.
READING_S_MAX = 43_200.0
_COMPARED_MAX = 1_000  # documents at once
_WRITING_MAX = 2  # batches: one is planned, one committed
_NOT_PUBLISHED = (
    "its readers include public, and this source may not publish; a command may with --publish"
)

_Writing: TypeAlias = asyncio.Task[list[Outcome]]


class SourceWriter(Protocol):
    """`ingest.write.writer.Writer`, or `DryRunWriter`."""

    async def put_all(
        self, tenant: str, puts: Sequence[Put], reading: Reading, locks: PipelineLocks, /
    ) -> list[Outcome]: ...

    async def remove(
        self,
        tenant: str,
        document_id: str,
        permit: Callable[[Document | None], object],
        reading: Reading,
        /,
    ) -> Written: ...


class StoredDocuments(Protocol):
    """`index.documents.document_store.DocumentStore`, or `OriginDocuments`."""

    async def next_sequence(self) -> int: ...

    async def of_source(self, tenant: str, source: str, /) -> list[str]: ...

    async def contents(
        self, tenant: str, document_ids: Sequence[str], /
    ) -> dict[str, DocumentContent]: ...


def _ignore(_report: Report) -> None:
    """Nobody follows the reading."""


@dataclass(frozen=True, slots=True)
class SourceSync:
    """Makes the documents of a source in a tenant what the source has.

    prune: remove the stored documents that the source no longer has, as far as the policy allows;
    None keeps and counts them. One that the reading has under another name is always removed, so
    that no answer cites a name that is gone, and so is one whose file has no text any more. The
    stored versions of unreadable items are kept.
    may_publish: whether documents may be public; others are refused, and stay as they are stored.
    """

    source: Source
    tenant: str
    writer: SourceWriter
    documents: StoredDocuments
    prune: PrunePolicy | None
    may_publish: bool = False

    async def read(
        self,
        on_item: Callable[[Report], None] = _ignore,
        *,
        reading: Reading | None = None,
        is_whole: bool = True,
        time_s_max: float | None = None,
    ) -> Report:
        """Write every document of the source; calls `on_item` after each item.

        is_whole: whether the source gives all its documents, unlike one file of a folder.
        reading: the time of the request, now if None; documents written later stay unchanged. If it
        names a job lease, the reading ends with `JobLost` when the lease is lost.
        time_s_max: until the reading ends with `JobRefused`; what was written before it stays.
        """
        reading = reading or await self.begin()
        read, name = ReadDocuments(self.source.name), self.source.name
        try:
            async with job_slot.timeout(time_s_max) as limit:
                report = await self._write(self.source.documents(), read, reading, on_item)
        except TimeoutError:
            if not limit.expired():
                raise
            raise JobRefused(
                f"The reading takes longer than the limit of {time_s_max:,.0f} s. What it has read "
                "is stored, and nothing was removed."
            ) from None
        finally:
            self.source.stop()  # a thread may still read: after a failure, or if this is cancelled
        read_ids = read.document_ids | read.blank_ids

        def is_missing(document_id: str) -> bool:
            return document_id not in read_ids and not _is_refused(report, name, document_id)

        is_empty = not read.document_ids and not report.refused
        await self._remove(
            report, read, reading, is_missing if is_whole else None, is_empty=is_empty
        )
        return report

    async def begin(self) -> Reading:
        """A reading whose time is now."""
        return Reading(await self.documents.next_sequence())

    async def read_part(
        self, items: Iterator[Item], reading: Reading, is_gone: Callable[[str], bool] | None
    ) -> Report:
        """Write these items of the source. is_gone: whether it lacks a document; None: none."""
        read = ReadDocuments(self.source.name)
        report = await self._write(items, read, reading, _ignore)
        await self._remove(report, read, reading, is_gone)
        return report

    async def remove_pending(self, report: Report) -> None:
        """Remove the documents that a reading has kept, and count them in its report."""
        pending = report.pending
        assert pending is not None, "the caller has asked about them"
        report.pending = None
        await self._remove_all(report, pending.document_ids, pending.reading)

    async def _write(
        self,
        items: Iterator[Item],
        read: ReadDocuments,
        reading: Reading,
        on_item: Callable[[Report], None],
    ) -> Report:
        return await read_items(
            read.note(items),
            self.tenant,
            writer=self.writer,
            on_item=on_item,
            reading=reading,
            may_publish=self.may_publish,
        )

    async def _remove(
        self,
        report: Report,
        read: ReadDocuments,
        reading: Reading,
        is_missing: Callable[[str], bool] | None,
        *,
        is_empty: bool = False,
    ) -> None:
        """Remove what the source no longer has. is_missing: None if no document may be missing."""
        if is_missing is None and not read.blank_ids:
            return
        stored = await self.documents.of_source(self.tenant, self.source.name)
        await self._remove_all(report, filter(read.blank_ids.__contains__, stored), reading)
        if is_missing is None:
            return
        missing = await self._remove_renamed(
            report, list(filter(is_missing, stored)), read, reading
        )
        if self.prune is None:
            report.missing = len(missing)
        elif missing and (
            because := self.prune.kept_because(len(missing), len(stored), is_empty=is_empty)
        ):
            report.pending = PendingRemoval(missing, len(stored), because, reading)
        else:
            await self._remove_all(report, missing, reading)

    async def _remove_renamed(
        self, report: Report, missing: Sequence[str], read: ReadDocuments, reading: Reading
    ) -> list[str]:
        """Remove the missing documents that were read under another name; the others remain."""
        if not read.document_ids:
            return list(missing)
        others = []
        for start in range(0, len(missing), _COMPARED_MAX):
            compared = missing[start : start + _COMPARED_MAX]
            contents = await self.documents.contents(self.tenant, compared)
            for document_id in compared:
                content = contents.get(document_id)
                name = None if content is None else read.name_of(content)
                if name is None or _is_refused(report, read.source, name):
                    others.append(document_id)
                else:
                    before = report.removed
                    await self._remove_all(report, [document_id], reading)
                    report.renamed += report.removed - before
        return others

    async def _remove_all(
        self, report: Report, document_ids: Iterable[str], reading: Reading
    ) -> None:
        """Remove documents; one that was written after the reading stays, and does not count."""
        for document_id in document_ids:
            written = await job_slot.in_turns(
                self.writer.remove(self.tenant, document_id, lambda stored: stored, reading)
            )
            report.removed += written.changed


def _source_of(document: Document) -> Author:
    """A source, with what it has found out; pages of the web say that they are such."""
    found = document.provenance
    return Author(replace(found, by=found.by or "source"))


async def read_items(
    items: Iterator[Item],
    tenant: str,
    *,
    writer: SourceWriter,
    on_item: Callable[[Report], None],
    reading: Reading,
    may_publish: bool = False,
    author_of: Callable[[Document], Author] = _source_of,
) -> Report:
    """Write every document among the items; calls `on_item` after each.

    may_publish: as of `SourceSync`. author_of: of each document.
    """
    report, ids_being_written, locks = Report(), set[str](), PipelineLocks()

    async def write(batch: Sequence[Item], before: Sequence[_Writing]) -> list[Outcome]:
        documents = [item for item in batch if isinstance(item, Document)]
        document_ids = {document.document_id for document in documents}
        if not ids_being_written.isdisjoint(document_ids):  # the later version must win
            await asyncio.wait(before)
        ids_being_written.update(document_ids)
        puts = [
            Put(
                document.document_id,
                _as_read(document),
                may_publish=may_publish,
                author=author_of(document),
            )
            for document in documents
        ]
        try:
            return await writer.put_all(tenant, puts, reading, locks)
        finally:
            ids_being_written.difference_update(document_ids)

    async with (
        aclosing(_ahead(batches(items, _characters))) as ahead,
        aclosing(_written(ahead, write)) as written,
    ):
        async for batch, batch_outcomes in written:
            outcomes = iter(batch_outcomes)
            for item in batch:
                _count(report, item, outcomes)
                on_item(report)
    return report


async def _ahead(reading: Iterator[list[Item]]) -> AsyncGenerator[list[Item], None]:
    """The batches; the next one is read in a thread while one is written.

    The thread is dedicated, so slow files delay only this reading.
    """
    thread = ThreadPoolExecutor(1, thread_name_prefix="read")
    loop = asyncio.get_running_loop()
    next_batch = loop.run_in_executor(thread, next, reading, None)
    try:
        while batch := await job_slot.in_turns(next_batch):
            next_batch = loop.run_in_executor(thread, next, reading, None)
            yield batch
    finally:
        next_batch.cancel()
        thread.shutdown(wait=False)


async def _written(
    reading: AsyncIterator[list[Item]],
    write: Callable[[Sequence[Item], Sequence[_Writing]], Coroutine[None, None, list[Outcome]]],
) -> AsyncGenerator[tuple[list[Item], list[Outcome]], None]:
    """The batches with their outcomes; two are written at a time.

    write: also receives the tasks that are already running.
    """
    writing: deque[tuple[list[Item], _Writing]] = deque()
    try:
        async for batch in reading:
            before = [task for _, task in writing]
            writing.append((batch, asyncio.create_task(write(batch, before))))
            if len(writing) == _WRITING_MAX:
                yield writing[0][0], await job_slot.in_turns(writing[0][1])
                writing.popleft()
        while writing:
            yield writing[0][0], await job_slot.in_turns(writing[0][1])
            writing.popleft()
    finally:
        await background_tasks.end(*(task for _, task in writing))


def _is_refused(report: Report, source: str, document_id: str) -> bool:
    """Whether the document is inside a refused item, so that it may still exist."""
    path = PurePosixPath(document_id.removeprefix(f"{source}/"))
    return any(path.is_relative_to(_holds(refused)) for refused in report.refused)


def _holds(refused: RefusedItem) -> str:
    return composed(refused.path if refused.holds is None else refused.holds)


def _count(report: Report, item: Item, outcomes: Iterator[Outcome]) -> None:
    """Count the item, with the next outcome if it is a document; raises what ends the reading."""
    if isinstance(item, RefusedItem):
        report.refuse(item)
        return
    if isinstance(item, SkippedFiles):
        report.skipped.append(item)
        return
    if isinstance(item, BlankItem):
        report.skip_blank(item.path)
        return
    if isinstance(item, ItemWarning):
        report.warn(item.path, item.detail)
        return
    if isinstance(item, UnchangedItem):
        report.documents += 1
        report.unchanged += 1
        return
    match next(outcomes):
        case Written() as written:
            report.count(written)
            path = item.document_id.removeprefix(f"{item.source}/")
            report.warn(path, *(warning.detail for warning in written.warnings))
        case DocumentTooLong() | DocumentOfOtherOrigin() | PublishingRefused() as error:
            path = item.document_id.removeprefix(f"{item.source}/")
            is_denied = type(error) is PublishingRefused
            report.refuse(RefusedItem(path, _NOT_PUBLISHED if is_denied else str(error)))
        case error:
            raise error


def _characters(item: Item) -> int:
    return len(item.text) if isinstance(item, Document) else 0


def _as_read(document: Document) -> Callable[[Document | None], Document]:
    return lambda _stored: document
