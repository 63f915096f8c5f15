"""Watches a folder: writes its changed documents, and removes its deleted ones."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from pathlib import Path, PurePosixPath

from index.documents.event_versions import Reading
from index.errors import DatabaseUnavailable, EmbeddingUnavailable
from index.model.form import composed
from ingest.errors import DocumentContended
from ingest.sources.folder import FolderSource
from ingest.sources.pruning import PrunePolicy
from ingest.sources.read_documents import ReadDocuments
from ingest.sources.report import Report
from ingest.sources.source_sync import (
    SourceWriter,
    StoredDocuments,
    read_items,
    read_source,
    remove_blank,
    remove_missing,
    remove_renamed,
)

PAUSE_S, PAUSE_S_MAX = 1.0, 60.0  # after a failure, doubled each time; starting values
DEBOUNCE_MS = 400  # an editor writes a file in several steps; a starting value, not measured

Changes = AsyncIterator[Collection[Path]]


async def changes(source: FolderSource) -> Changes:
    """The paths that change after the first iteration, in groups, until cancelled."""
    from watchfiles import awatch

    async for batch in awatch(
        source.folder,
        debounce=DEBOUNCE_MS,
        watch_filter=lambda _change, path: not source.is_hidden(Path(path)),
    ):
        yield {Path(path) for _, path in batch}


class Watch:
    """on_report: receives the first report, and each later one that changed something.

    on_failure: receives the reason of a failed reading; everything is read again after a pause.
    """

    def __init__(
        self,
        source: FolderSource,
        tenant: str,
        *,
        writer: SourceWriter,
        documents: StoredDocuments,
        prune: PrunePolicy,
        on_report: Callable[[Report], None],
        on_failure: Callable[[str], None],
        may_publish: bool = False,
    ) -> None:
        self._may_publish = may_publish
        self._source = source
        self._tenant = tenant
        self._writer = writer
        self._documents = documents
        self._prune = prune
        self._on_report = on_report
        self._on_failure = on_failure

    async def run(self, changed: Changes) -> None:
        """Read the whole folder, and then the changed paths, until `changed` ends."""
        # Watching begins before the first reading, so that no change is missed between the two.
        next_paths = asyncio.ensure_future(anext(changed, None))
        try:
            await asyncio.sleep(0)
            self._on_report(await self._read_all())
            while (paths := await next_paths) is not None:
                next_paths = asyncio.ensure_future(anext(changed, None))
                report = await self._read(paths)
                if report.did_something:
                    self._on_report(report)
        finally:
            next_paths.cancel()

    async def _read(self, paths: Collection[Path]) -> Report:
        try:
            return await self._read_changed(paths)
        except (DatabaseUnavailable, DocumentContended, EmbeddingUnavailable) as error:
            self._on_failure(str(error))
            await asyncio.sleep(PAUSE_S)
            return await self._read_all()

    async def _read_all(self) -> Report:
        pause_s = PAUSE_S
        while True:
            try:
                return await read_source(
                    self._source,
                    self._tenant,
                    writer=self._writer,
                    documents=self._documents,
                    prune=self._prune,
                    on_item=lambda _report: None,
                    may_publish=self._may_publish,
                )
            except (DatabaseUnavailable, DocumentContended, EmbeddingUnavailable) as error:
                self._on_failure(str(error))
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, PAUSE_S_MAX)

    async def _read_changed(self, paths: Collection[Path]) -> Report:
        """Write the existing paths; remove the documents at and below the missing ones."""
        reading = Reading(await self._documents.next_sequence())
        existing, gone = await asyncio.to_thread(self._split, paths)
        read = ReadDocuments(self._source.name)
        report = await read_items(
            read.note(self._source.documents_of(existing)),
            self._tenant,
            writer=self._writer,
            on_item=lambda _report: None,
            reading=reading,
            may_publish=self._may_publish,
        )
        if not gone and not read.blank_ids:
            return report
        stored = await self._documents.of_source(self._tenant, self._source.name)
        await remove_blank(report, stored, read, self._tenant, self._writer, reading)
        missing = [document_id for document_id in stored if self._is_below(document_id, gone)]
        missing = await remove_renamed(
            report,
            missing,
            read,
            self._tenant,
            self._writer,
            self._documents,
            reading,
        )
        await remove_missing(
            report, missing, len(stored), self._tenant, self._writer, reading, self._prune
        )
        return report

    def _is_below(self, document_id: str, gone: set[PurePosixPath]) -> bool:
        path = PurePosixPath(document_id.removeprefix(f"{self._source.name}/"))
        return not gone.isdisjoint((path, *path.parents))

    def _split(self, paths: Collection[Path]) -> tuple[set[Path], set[PurePosixPath]]:
        """The paths to read, and the missing paths relative to the folder."""
        folder = self._source.folder
        if not folder.is_dir():  # perhaps an unmounted disk: refused, nothing is removed
            return {folder}, set()
        gone = {path for path in paths if not path.exists() and not path.is_symlink()}
        existing = {path for path in paths if path.is_dir() or self._source.is_included(path)}
        names = (composed(path.relative_to(folder).as_posix()) for path in gone)
        return existing - gone, set(map(PurePosixPath, names))
