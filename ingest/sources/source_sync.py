"""Reads a complete source into a tenant."""

import asyncio
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Coroutine,
    Iterator,
    Sequence,
)
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from pathlib import PurePosixPath
from typing import Protocol, TypeAlias

from common import background_tasks
from index.documents.event_versions import Reading
from index.model.document import Document, DocumentContent
from index.model.form import composed
from ingest.errors import (
    DocumentOfOtherOrigin,
    DocumentTooLong,
    JobRefused,
    PublishingRefused,
)
from ingest.sources.pruning import PrunePolicy
from ingest.sources.read_documents import ReadDocuments
from ingest.sources.report import PendingRemoval, Report
from ingest.sources.source import (
    BlankItem,
    Item,
    ItemWarning,
    RefusedItem,
    SkippedFiles,
    Source,
    UnchangedItem,
)
from ingest.write.batch import batches
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


async def read_source(
    source: Source,
    tenant: str,
    *,
    writer: SourceWriter,
    documents: StoredDocuments,
    prune: PrunePolicy | None,
    on_item: Callable[[Report], None],
    reading: Reading | None = None,
    may_publish: bool = False,
    is_whole: bool = True,
    time_s_max: float | None = None,
) -> Report:
    """Write every document of the source; calls `on_item` after each item.

    prune: remove the stored documents that the source no longer has, as far as the policy allows;
    None keeps and counts them. One that the reading has under another name is always removed, so
    that no answer cites a name that is gone, and so is one whose file has no text any more. The
    stored versions of unreadable items are kept.
    is_whole: whether the source gives all its documents, unlike one file of a folder.
    reading: the time of the request, now if None; documents written later stay unchanged. If it
    names a job lease, the reading ends with `JobLost` when the lease is lost.
    time_s_max: until the reading ends with `JobRefused`; what was written before it stays.
    may_publish: whether documents may be public; others are refused, and stay as they are stored.
    """
    reading = reading or Reading(await documents.next_sequence())
    read = ReadDocuments(source.name)
    items = source.documents()
    try:
        async with asyncio.timeout(time_s_max) as limit:
            report = await read_items(
                read.note(items),
                tenant,
                writer=writer,
                on_item=on_item,
                reading=reading,
                may_publish=may_publish,
            )
    except TimeoutError:
        if not limit.expired():
            raise
        raise JobRefused(
            f"The reading takes longer than the limit of {time_s_max:,.0f} s. What it has read is "
            "stored, and nothing was removed."
        ) from None
    finally:
        source.stop()  # a thread may still read: after a failure, or if this is cancelled
    if not is_whole and not read.blank_ids:
        return report
    stored = await documents.of_source(tenant, source.name)
    await remove_blank(report, stored, read, tenant, writer, reading)
    if not is_whole:
        return report
    read_ids = read.document_ids | read.blank_ids
    missing = [
        document_id
        for document_id in stored
        if document_id not in read_ids and not _is_refused(report, source.name, document_id)
    ]
    missing = await remove_renamed(report, missing, read, tenant, writer, documents, reading)
    if prune is None:
        report.missing = len(missing)
    else:
        is_empty = not read.document_ids and not report.refused
        await remove_missing(
            report, missing, len(stored), tenant, writer, reading, prune, is_empty=is_empty
        )
    return report


async def remove_blank(
    report: Report,
    stored: Sequence[str],
    read: ReadDocuments,
    tenant: str,
    writer: SourceWriter,
    reading: Reading,
) -> None:
    """Remove the stored documents whose files have no text any more."""
    for document_id in stored:
        if document_id in read.blank_ids and await remove_stored(
            writer, tenant, document_id, reading
        ):
            report.removed += 1


async def remove_renamed(
    report: Report,
    missing: Sequence[str],
    read: ReadDocuments,
    tenant: str,
    writer: SourceWriter,
    documents: StoredDocuments,
    reading: Reading,
) -> list[str]:
    """Remove the missing documents that were read under another name; the others are returned."""
    if not read.document_ids:
        return list(missing)
    others = []
    for start in range(0, len(missing), _COMPARED_MAX):
        compared = missing[start : start + _COMPARED_MAX]
        contents = await documents.contents(tenant, compared)
        for document_id in compared:
            content = contents.get(document_id)
            name = None if content is None else read.name_of(content)
            if name is None or _is_refused(report, read.source, name):
                others.append(document_id)
            elif await remove_stored(writer, tenant, document_id, reading):
                report.renamed += 1
                report.removed += 1
    return others


async def remove_missing(
    report: Report,
    missing: Sequence[str],
    stored: int,
    tenant: str,
    writer: SourceWriter,
    reading: Reading,
    prune: PrunePolicy,
    *,
    is_empty: bool = False,
) -> None:
    """Remove the missing documents and count them, or note why they stay."""
    because = prune.kept_because(len(missing), stored, is_empty=is_empty) if missing else None
    if because is not None:
        report.pending = PendingRemoval(missing, stored, because, reading)
        return
    report.pending = None
    for document_id in missing:
        if await remove_stored(writer, tenant, document_id, reading):
            report.removed += 1


async def read_items(
    items: Iterator[Item],
    tenant: str,
    *,
    writer: SourceWriter,
    on_item: Callable[[Report], None],
    reading: Reading,
    may_publish: bool = False,
) -> Report:
    """Write every document among the items; calls `on_item` after each.

    may_publish: as in `read_source`.
    """
    report, ids_being_written, locks = Report(), set[str](), PipelineLocks()

    async def write(batch: Sequence[Item], before: Sequence[_Writing]) -> list[Outcome]:
        documents = [item for item in batch if isinstance(item, Document)]
        document_ids = {document.document_id for document in documents}
        if not ids_being_written.isdisjoint(document_ids):  # the later version must win
            await asyncio.wait(before)
        ids_being_written.update(document_ids)
        puts = [
            Put(document.document_id, _as_read(document), may_publish=may_publish)
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


async def remove_stored(
    writer: SourceWriter, tenant: str, document_id: str, reading: Reading
) -> bool:
    """Remove a document that the source no longer has; False if it was written later."""
    return (await writer.remove(tenant, document_id, lambda stored: stored, reading)).changed


async def _ahead(reading: Iterator[list[Item]]) -> AsyncGenerator[list[Item], None]:
    """The batches; the next one is read in a thread while one is written.

    The thread is dedicated, so slow files delay only this reading.
    """
    thread = ThreadPoolExecutor(1, thread_name_prefix="read")
    loop = asyncio.get_running_loop()
    next_batch = loop.run_in_executor(thread, next, reading, None)
    try:
        while batch := await next_batch:
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
                yield writing[0][0], await writing[0][1]
                writing.popleft()
        while writing:
            yield writing[0][0], await writing[0][1]
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
