"""Watches a folder: writes its changed documents, and removes its deleted ones."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from functools import partial
from pathlib import Path, PurePosixPath

from gateway.extensions._sources.folder import FolderSource
from gateway.extensions._sources.sync.report import Report
from gateway.extensions._sources.sync.source_sync import SourceSync
from index.errors import DatabaseUnavailable, EmbeddingUnavailable
from index.model.form import composed
from ingest.errors import DocumentContended

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
    """source: of the sync.

    on_report: receives the first report, and each later one that changed something.
    on_failure: receives the reason of a failed reading; everything is read again after a pause.
    """

    def __init__(
        self,
        source: FolderSource,
        sync: SourceSync,
        *,
        on_report: Callable[[Report], None],
        on_failure: Callable[[str], None],
    ) -> None:
        self._source = source
        self._sync = sync
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
                return await self._sync.read()
            except (DatabaseUnavailable, DocumentContended, EmbeddingUnavailable) as error:
                self._on_failure(str(error))
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, PAUSE_S_MAX)

    async def _read_changed(self, paths: Collection[Path]) -> Report:
        """Write the existing paths; remove the documents at and below the missing ones."""
        reading = await self._sync.begin()
        existing, gone = await asyncio.to_thread(self._split, paths)
        items = self._source.documents_of(existing)
        is_gone = partial(self._is_below, gone) if gone else None
        return await self._sync.read_part(items, reading, is_gone)

    def _is_below(self, gone: set[PurePosixPath], document_id: str) -> bool:
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
