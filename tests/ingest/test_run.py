"""A reading of a source: every document is written or refused, told one by one, in batches."""

from pathlib import Path

import pytest

from index.documents import Documents
from index.errors import EmbeddingUnavailable
from index.tenants import Tenants
from ingest.run import Report, read_source
from ingest.source import Defaults
from ingest.sources.folder import FolderSource
from ingest.write import Writer
from tests.index.samples import AbsentEmbedder, RecordingInvalidation

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """150 notes, one file that is no text and one that has too many chunks."""
    for number in range(150):
        (tmp_path / f"note-{number:03}.md").write_text(f"# Note {number}\n\nOf harbour {number}.")
    (tmp_path / "note-010-broken.md").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "note-020-endless.md").write_text("# Part\n\nText.\n\n" * 5_001)
    return tmp_path


def source(folder: Path) -> FolderSource:
    return FolderSource(folder, Defaults(readers=("tenant",)), name="notes")


async def read(
    folder: Path, writer: Writer, documents: Documents, *, prune: bool = False
) -> Report:
    return await read_source(
        source(folder),
        "acme",
        writer=writer,
        documents=documents,
        prune=prune,
        on_item=lambda _report: None,
    )


async def test_what_can_not_be_written_is_refused_alone_and_all_the_rest_is_there(
    folder: Path, writer: Writer, documents: Documents, tenants: Tenants
) -> None:
    report = await read(folder, writer, documents)

    assert (report.documents, report.chunks_added, report.unchanged) == (150, 150, 0)
    assert [refused.path for refused in report.refused] == [
        "note-010-broken.md",
        "note-020-endless.md",
    ]
    assert len(await documents.of_source("acme", "notes")) == 150
    assert (await tenants.revisions(["acme"]))["acme"].revision < 10


async def test_a_second_reading_changes_nothing(
    folder: Path, writer: Writer, documents: Documents
) -> None:
    await read(folder, writer, documents)

    report = await read(folder, writer, documents)

    assert (report.documents, report.unchanged, report.embedded) == (150, 150, 0)


async def test_pruning_removes_what_is_gone_and_keeps_what_was_refused(
    folder: Path, writer: Writer, documents: Documents
) -> None:
    (folder / "note-020-endless.md").write_text("Short.")
    await read(folder, writer, documents)
    (folder / "note-020-endless.md").write_text("# Part\n\nText.\n\n" * 5_001)
    (folder / "note-149.md").unlink()

    report = await read(folder, writer, documents, prune=True)

    stored = await documents.of_source("acme", "notes")
    assert (report.removed, len(stored)) == (1, 150)
    assert "notes/note-020-endless.md" in stored


async def test_each_item_is_told_once_in_its_order(
    folder: Path, writer: Writer, documents: Documents
) -> None:
    told: list[int] = []

    await read_source(
        source(folder),
        "acme",
        writer=writer,
        documents=documents,
        prune=False,
        on_item=lambda report: told.append(report.documents + len(report.refused)),
    )

    assert told == list(range(1, 153))


async def test_an_absent_embedder_ends_the_reading(
    folder: Path, documents: Documents, invalidation: RecordingInvalidation
) -> None:
    with pytest.raises(EmbeddingUnavailable):
        await read(folder, Writer(documents, AbsentEmbedder(), invalidation), documents)

    assert await documents.of_source("acme", "notes") == []
