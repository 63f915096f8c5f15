"""Repositories that name more than they send, and readings that end before them."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.extensions._sources.source import Defaults, RefusedItem
from gateway.extensions.sources_git import clone
from gateway.extensions.sources_git.git_source import GitHostSource
from ingest.errors import JobRefused
from tests.gateway.extensions._sources.files import write
from tests.gateway.servers.git_server import commit, git, git_server

pytestmark = pytest.mark.slow


@pytest.fixture
def bomb(tmp_path: Path) -> Iterator[str]:
    """The URL of a repository of some kilobytes: a million bytes, ten thousand times."""
    root = tmp_path / "git" / "bomb"
    root.mkdir(parents=True)
    git(root, "init", "--quiet", "--initial-branch", "main")
    write(root / "zeros.txt", bytes(1_000_000))
    name = output(root, "hash-object", "-w", "zeros.txt")
    kind, mode = "blob", "100644"
    for _ in range(4):
        entries = "".join(f"{mode} {kind} {name}\t{number}.md\n" for number in range(10))
        name, kind, mode = output(root, "mktree", entries=entries), "tree", "040000"
    head = output(
        root,
        "-c",
        "user.name=Ana",
        "-c",
        "user.email=ana@example.org",
        "commit-tree",
        "-m",
        "x",
        name,
    )
    git(root, "update-ref", "refs/heads/main", head)
    with git_server(tmp_path / "git") as host:
        yield f"http://{host}/bomb/.git"


def output(root: Path, *arguments: str, entries: str | None = None) -> str:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(  # noqa: S603  ours
        command, input=entries, check=True, capture_output=True, text=True
    ).stdout.strip()


def test_a_repository_that_unpacks_to_gigabytes_is_not_checked_out(
    bomb: str, tmp_path: Path
) -> None:
    folder = tmp_path / "clone"
    folder.mkdir()

    with pytest.raises(JobRefused, match=f"over {clone.CHECKOUT_BYTES_MAX:,} bytes"):
        clone.clone(folder, bomb, None)

    assert [path.name for path in folder.iterdir()] == [".git"]


def test_a_reading_that_is_stopped_says_that_it_is_not_whole(tmp_path: Path) -> None:
    root = tmp_path / "git" / "docs"
    for number in range(3):
        write(root / f"{number}.md", f"Page {number}.")
    git(root, "init", "--quiet", "--initial-branch", "main")
    commit(root, "pages")
    with git_server(tmp_path / "git") as host:
        url, defaults = f"http://{host}/docs/.git", Defaults(readers=("tenant",))
        source = GitHostSource(url, None, ".", defaults, name="x")
        items = source.documents()
        next(items)

        source.stop()

        (last,) = items
    assert isinstance(last, RefusedItem)
    assert last.holds == ""  # of all that is stored, nothing is removed
