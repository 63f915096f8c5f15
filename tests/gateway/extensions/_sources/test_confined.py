"""What is opened within a folder lies in it, whatever links somebody makes meanwhile."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gateway.extensions._ingest import path_kinds
from gateway.extensions._sources import confined
from gateway.extensions._sources.kinds import open_source
from gateway.extensions._sources.source import Defaults, RefusedItem

pytestmark = pytest.mark.slow

KINDS = path_kinds.path_kinds("")
INSIDE, OUTSIDE = b"inside", b"outside"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tenant's folder, beside another tenant's of the same names."""
    for name, content in (("acme", INSIDE), ("beta", OUTSIDE)):
        below = tmp_path / name / "handbook" / "hr"
        below.mkdir(parents=True)
        (below / "leave.md").write_bytes(content)
    return (tmp_path / "acme").resolve()


def read(path: Path, folder: Path) -> bytes:
    return confined.read_file(path, 999, folder)


class TestOneFile:
    def test_it_is_read_through_links_that_stay_in_the_folder(self, folder: Path) -> None:
        (folder / "link.md").symlink_to("handbook/hr/leave.md")
        (folder / "folder").symlink_to(folder / "handbook")

        assert read(folder / "link.md", folder) == INSIDE
        assert read(folder / "folder" / "hr" / "leave.md", folder) == INSIDE

    @pytest.mark.parametrize(
        "path", ["../beta/handbook/hr/leave.md", "handbook/../../beta/handbook/hr/leave.md"]
    )
    def test_it_is_refused_where_its_path_leaves_the_folder(self, folder: Path, path: str) -> None:
        with pytest.raises(ValueError, match="outside the folder"):
            read(folder / path, folder)

    @pytest.mark.parametrize("path", ["handbook", "handbook/hr", "handbook/hr/leave.md"])
    @pytest.mark.parametrize("is_relative", [True, False])
    def test_it_is_refused_where_a_part_of_its_path_links_outside(
        self, folder: Path, path: str, *, is_relative: bool
    ) -> None:
        replace_by_link(folder, path, is_relative=is_relative)

        with pytest.raises(ValueError, match="outside the folder"):
            read(folder / "handbook" / "hr" / "leave.md", folder)

    def test_what_a_link_reaches_between_the_start_and_the_folder_is_outside(
        self, folder: Path
    ) -> None:
        (folder / "other.md").write_bytes(OUTSIDE)
        (folder / "handbook" / "link.md").symlink_to(folder / "other.md")

        with pytest.raises(ValueError, match="outside the folder"):
            confined.read_file(folder / "handbook" / "link.md", 999, folder / "handbook", folder)

    def test_a_folder_whose_name_only_begins_alike_is_outside(
        self, folder: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "acme-secrets").mkdir()
        (tmp_path / "acme-secrets" / "key.md").write_bytes(OUTSIDE)

        with pytest.raises(ValueError, match="outside the folder"):
            read(folder / "../acme-secrets/key.md", folder)


class TestWhileLinksAreSwapped:
    """Another thread keeps swapping a part of the path for a link to the other tenant's."""

    @pytest.mark.sampled("handbook/hr/leave.md")
    @pytest.mark.parametrize("part", ["handbook", "handbook/hr", "handbook/hr/leave.md"])
    def test_no_file_of_outside_is_ever_read(self, folder: Path, part: str) -> None:
        path = folder / "handbook" / "hr" / "leave.md"
        found = set()
        with swapping(folder / part, folder.parent / "beta" / part):
            for _ in range(3_000):
                try:
                    found.add(read(path, folder))
                except (OSError, ValueError):
                    found.add(b"refused")

        assert found <= {INSIDE, b"refused"}
        assert read(path, folder) == INSIDE

    @pytest.mark.sampled("handbook")
    @pytest.mark.parametrize("part", ["handbook", "handbook/hr"])
    def test_no_name_of_outside_is_ever_listed(self, folder: Path, part: str) -> None:
        (folder.parent / "beta" / "handbook" / "hr" / "secret.md").write_bytes(OUTSIDE)
        found = set()
        with swapping(folder / part, folder.parent / "beta" / part):
            for _ in range(3_000):
                try:
                    found |= set(confined.names_within(folder / "handbook" / "hr", folder))
                except (OSError, ValueError):
                    found.add("refused")

        assert found <= {"leave.md", "refused"}
        assert confined.names_within(folder / "handbook" / "hr", folder) == ["leave.md"]


class TestSources:
    @pytest.mark.sampled("csv-leave.csv-id,text\\n1,Leave\\n")
    @pytest.mark.parametrize(
        ("kind", "name", "content"),
        [
            ("folder", "leave.md", "# Leave\n"),
            ("csv", "leave.csv", "id,text\n1,Leave\n"),
            ("parquet", "leave.parquet", "PAR1"),
            ("faqs", "leave.yaml", "- question: Leave?\n  answer: Yes.\n"),
            ("conversations", "leave.jsonl", '{"messages": [{"text": "Leave?"}]}\n'),
        ],
    )
    def test_a_source_that_becomes_a_link_once_it_is_opened_is_refused_whole(
        self, folder: Path, kind: str, name: str, content: str
    ) -> None:
        for tenant in ("acme", "beta"):
            (folder.parent / tenant / "handbook" / name).write_text(content)
        path = folder / "handbook" if kind == "folder" else folder / "handbook" / name
        source = open_source(KINDS.get(kind), path, Defaults(), name="x", columns={}, within=folder)
        replace_by_link(folder, str(path.relative_to(folder)), is_relative=False)

        (item,) = source.documents()

        assert isinstance(item, RefusedItem)
        assert item.reason == "is a link to outside the folder"
        assert item.holds == "" or Path(item.path) == Path()  # so that nothing of it is removed


def replace_by_link(folder: Path, path: str, *, is_relative: bool) -> None:
    """By one to the same path of the other tenant."""
    (folder / path).rename(folder / "before")
    target = folder.parent / "beta" / path
    (folder / path).symlink_to(
        os.path.relpath(target, (folder / path).parent) if is_relative else target
    )


@contextmanager
def swapping(path: Path, target: Path) -> Iterator[None]:
    kept, link, stop = path.with_name("kept"), path.with_name("link"), threading.Event()

    def swap() -> None:
        while not stop.is_set():
            path.rename(kept)
            link.symlink_to(target)
            link.rename(path)
            path.unlink()
            kept.rename(path)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
