"""A document that a source has under another name now, and one that is gone."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.extensions._sources.folder import FolderSource
from gateway.extensions._sources.source import Defaults
from gateway.extensions._sources.sync.pruning import PrunePolicy
from gateway.extensions._sources.sync.report import Report
from gateway.extensions._sources.sync.source_sync import SourceSync
from index.documents.document_store import DocumentStore
from ingest.write.writer import Writer
from tests.gateway.extensions._sources.files import write

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in "abcd":
        write(tmp_path / f"{name}.md", f"Of harbour {name}.")
    return tmp_path


def rename_one(folder: Path) -> None:
    (folder / "a.md").rename(folder / "z.md")


def rename_all(folder: Path) -> None:
    (folder / "sub").mkdir()
    for path in folder.glob("*.md"):
        path.rename(folder / "sub" / path.name)


def rename_and_edit(folder: Path) -> None:
    rename_one(folder)
    write(folder / "z.md", "Of another harbour.")


def rename_for_others(folder: Path) -> None:
    rename_one(folder)
    write(folder / "z.md", "---\nreaders: [user:bob]\n---\nOf harbour a.")


def delete_one(folder: Path) -> None:
    (folder / "a.md").unlink()


def delete_copy(folder: Path) -> None:
    delete_one(folder)
    write(folder / "b.md", "Of harbour a.")


def delete_all(folder: Path) -> None:
    for path in folder.glob("*.md"):
        path.unlink()


def swap(folder: Path) -> None:
    a, b = (folder / name for name in ("a.md", "b.md"))
    a.rename(folder / "x")
    b.rename(a)
    (folder / "x").rename(b)


@pytest.mark.parametrize(
    ("change", "renamed", "missing"),
    [
        (rename_one, 1, 0),
        (rename_all, 4, 0),
        (rename_and_edit, 0, 1),
        (rename_for_others, 0, 1),
        (delete_one, 0, 1),
        (delete_copy, 1, 0),
        (delete_all, 0, 4),
        (swap, 0, 0),
    ],
)
async def test_a_renamed_document_has_its_new_name_only_and_one_that_is_gone_is_counted(
    folder: Path,
    writer: Writer,
    documents: DocumentStore,
    change: Callable[[Path], None],
    renamed: int,
    missing: int,
) -> None:
    await read(folder, writer, documents)
    change(folder)

    report = await read(folder, writer, documents)

    assert (report.renamed, report.missing, report.removed) == (renamed, missing, renamed)
    files = names(folder)
    stored = set(await documents.of_source("acme", "notes"))
    assert stored >= files
    assert len(stored - files) == missing


async def test_the_old_name_stays_if_the_new_one_is_refused(
    folder: Path, writer: Writer, documents: DocumentStore
) -> None:
    await read(folder, writer, documents)
    (folder / "a.md").rename(folder / "z.md")
    write(folder / "z.md", "---\nreaders: [public]\n---\nOf harbour a.")

    report = await read(folder, writer, documents)

    assert (report.refused_items, report.renamed, report.missing) == (1, 0, 1)


async def test_a_renamed_folder_needs_no_confirmation(
    folder: Path, writer: Writer, documents: DocumentStore
) -> None:
    await read(folder, writer, documents)
    rename_all(folder)

    report = await read(folder, writer, documents, prune=PrunePolicy())

    assert (report.renamed, report.removed, report.pending) == (4, 4, None)


async def test_one_file_of_a_folder_tells_nothing_about_the_others(
    folder: Path, writer: Writer, documents: DocumentStore
) -> None:
    write(folder / "b.md", "Of harbour a.")
    await read(folder, writer, documents)

    report = await read(folder / "a.md", writer, documents, is_whole=False)

    assert (report.documents, report.renamed, report.missing) == (1, 0, 0)
    assert len(await documents.of_source("acme", "notes")) == 4


def names(folder: Path) -> set[str]:
    return {f"notes/{path.relative_to(folder)}" for path in folder.rglob("*.md")}


async def read(
    path: Path,
    writer: Writer,
    documents: DocumentStore,
    *,
    prune: PrunePolicy | None = None,
    is_whole: bool = True,
) -> Report:
    return await SourceSync(
        FolderSource(path, Defaults(readers=("tenant",)), name="notes"),
        "acme",
        writer,
        documents,
        prune,
    ).read(is_whole=is_whole)
