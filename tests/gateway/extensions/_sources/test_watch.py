"""A folder kept in step: what changes is written, what goes is removed, all failures made good."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gateway.extensions._ingest.watch import Changes, Watch, changes
from gateway.extensions._sources.folder import FolderSource
from gateway.extensions._sources.source import Defaults
from gateway.extensions._sources.sync.pruning import PrunePolicy
from gateway.extensions._sources.sync.report import Report
from gateway.extensions._sources.sync.source_sync import SourceSync
from index.documents.document_store import DocumentStore
from index.errors import EmbeddingUnavailable
from ingest.write.writer import Writer
from tests.gateway.extensions._sources.files import write
from tests.index.support.samples import RecordingEmbedder, RecordingInvalidation

pytestmark = pytest.mark.anyio


class Watched:
    """A watch that is told by the test what has changed, and remembers what it told."""

    def __init__(self, folder: Path, writer: Writer, documents: DocumentStore) -> None:
        self.source = FolderSource(folder, Defaults(readers=("tenant",)), name="notes")
        self.reports: asyncio.Queue[Report] = asyncio.Queue()
        self.failures: list[str] = []
        self._documents = documents
        self._changed: asyncio.Queue[Collection[Path]] = asyncio.Queue()
        self._watch = Watch(
            self.source,
            SourceSync(self.source, "acme", writer, documents, PrunePolicy(confirmed=2)),
            on_report=self.reports.put_nowait,
            on_failure=self.failures.append,
        )

    @asynccontextmanager
    async def running(self, changed: Changes | None = None) -> AsyncIterator["Watched"]:
        task = asyncio.create_task(self._watch.run(changed or self._told()))
        try:
            yield self
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def tell(self, *names: str) -> Report:
        """What the reading of these came to, which has to have done something."""
        self._changed.put_nowait({self.source.folder / name for name in names})
        return await self.next()

    async def next(self) -> Report:
        return await asyncio.wait_for(self.reports.get(), timeout=20)

    async def stored(self) -> list[str]:
        found = await self._documents.of_source("acme", "notes")
        return [document_id.removeprefix("notes/") for document_id in sorted(found)]

    async def _told(self) -> Changes:
        while True:
            yield await self._changed.get()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.md", "b.md", "sub/c.md", "sub/d.md"):
        write(tmp_path / "notes" / name, f"# {name}\n\nOf harbours.")
    return tmp_path / "notes"


@pytest.fixture
def watched(folder: Path, writer: Writer, documents: DocumentStore) -> Watched:
    return Watched(folder, writer, documents)


async def test_first_all_of_it_is_read_and_what_is_gone_is_removed(
    watched: Watched, folder: Path
) -> None:
    async with watched.running():
        await watched.next()
    (folder / "a.md").unlink()

    async with watched.running():
        report = await watched.next()

    assert (report.unchanged, report.removed) == (3, 1)
    assert await watched.stored() == ["b.md", "sub/c.md", "sub/d.md"]


async def test_what_changes_is_written_and_nothing_else_is_read(
    watched: Watched, folder: Path, embedder: RecordingEmbedder
) -> None:
    async with watched.running():
        await watched.next()
        embedder.texts.clear()
        write(folder / "a.md", "# a\n\nOf lamps.")

        report = await watched.tell("a.md")

    assert (report.documents, report.embedded) == (1, 1)
    assert embedder.texts == ["# a\n\nOf lamps."]


async def test_a_file_that_moves_is_removed_and_written_without_embedding(
    watched: Watched, folder: Path, embedder: RecordingEmbedder
) -> None:
    async with watched.running():
        await watched.next()
        embedder.texts.clear()
        (folder / "a.md").rename(folder / "sub" / "z.md")

        report = await watched.tell("a.md", "sub/z.md")

    assert (report.documents, report.removed, embedder.texts) == (1, 1, [])
    assert await watched.stored() == ["b.md", "sub/c.md", "sub/d.md", "sub/z.md"]


async def test_a_folder_that_goes_takes_its_files_along_and_brings_them_back(
    watched: Watched, folder: Path
) -> None:
    async with watched.running():
        await watched.next()
        (folder / "sub").rename(folder.parent / "away")
        gone = await watched.tell("sub")
        between = await watched.stored()
        (folder.parent / "away").rename(folder / "sub")

        back = await watched.tell("sub")

    assert (gone.removed, between) == (2, ["a.md", "b.md"])
    assert (back.documents, back.embedded) == (2, 0)


async def test_a_file_that_can_no_longer_be_read_is_told_and_stays_as_it_was(
    watched: Watched, folder: Path
) -> None:
    async with watched.running():
        await watched.next()
        write(folder / "a.md", b"\x89PNG\r\n\x1a\n\0\0\0\r")

        report = await watched.tell("a.md")

    assert [refused.path for refused in report.refused] == ["a.md"]
    assert "a.md" in await watched.stored()


async def test_a_file_that_is_emptied_takes_its_document_along(
    watched: Watched, folder: Path
) -> None:
    async with watched.running():
        await watched.next()
        write(folder / "a.md", "")

        report = await watched.tell("a.md")

    assert (report.removed, report.blank) == (1, 1)
    assert await watched.stored() == ["b.md", "sub/c.md", "sub/d.md"]


async def test_a_folder_that_goes_as_a_whole_takes_nothing_along(
    watched: Watched, folder: Path
) -> None:
    async with watched.running():
        await watched.next()
        shutil.rmtree(folder)

        report = await watched.tell("a.md", "")

    assert (report.removed, len(report.refused)) == (0, 1)
    assert len(await watched.stored()) == 4


class AwayOnce(RecordingEmbedder):
    """An embedder that is away the second time."""

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        found = await super().embed_passages(texts)
        if self.calls == 2:
            raise EmbeddingUnavailable("just now")
        return found


@pytest.mark.thorough
@pytest.mark.slow
async def test_what_could_not_be_written_is_told_and_written_a_little_later(
    folder: Path,
    documents: DocumentStore,
    embedder: RecordingEmbedder,
    invalidation: RecordingInvalidation,
) -> None:
    writer = Writer(documents, AwayOnce(embedder), invalidation)
    async with Watched(folder, writer, documents).running() as watched:
        await watched.next()
        write(folder / "a.md", "# a\n\nOf lamps.")

        report = await watched.tell("a.md")

    assert watched.failures == ["just now"]
    assert (report.documents, report.embedded) == (4, 1)


async def test_the_file_system_tells_what_changes_from_before_the_first_reading_on(
    watched: Watched, folder: Path
) -> None:
    async with watched.running(changes(watched.source)):
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        write(folder / "new.md", "While the others are read.")
        write(folder / ".hidden.md")
        while "new.md" not in await watched.stored():
            await watched.next()
        (folder / "new.md").unlink()

        # A report of what was read before may still come.
        while not (gone := await watched.next()).removed:
            pass

    assert gone.removed == 1
    assert await watched.stored() == ["a.md", "b.md", "sub/c.md", "sub/d.md"]
