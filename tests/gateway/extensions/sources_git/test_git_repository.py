"""A Git repository: its files at HEAD, its tags, and its changelog by the month."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.extensions._files import installed_formats
from gateway.extensions._sources.bounded.reader_request import ReaderRequest
from gateway.extensions._sources.source import BlankItem, Defaults, Item, RefusedItem
from gateway.extensions.sources_git.git_repository import GitSource
from index.model.document import Document
from tests.gateway.extensions._sources.files import write

Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Commands in the repository `handbook`; `at` is the day of a commit."""
    root = tmp_path / "handbook"
    root.mkdir()

    def run(*arguments: str, at: str = "2026-01-15") -> str:
        return subprocess.run(  # noqa: S603  ours
            ["git", "-c", "init.defaultBranch=main", *arguments],  # noqa: S607
            cwd=root,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(tmp_path),
                "GIT_AUTHOR_NAME": "Ana",
                "GIT_COMMITTER_NAME": "Ana",
                "GIT_AUTHOR_EMAIL": "ana@example.org",
                "GIT_COMMITTER_EMAIL": "ana@example.org",
                "GIT_AUTHOR_DATE": f"{at}T12:00:00Z",
                "GIT_COMMITTER_DATE": f"{at}T12:00:00Z",
            },
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    run("init", "--quiet")
    return run


@pytest.fixture
def root(tmp_path: Path, git: Git) -> Path:
    """Two months, three commits, a tag with a message and one without."""
    root = tmp_path / "handbook"
    write(root / "leave.md", "# Leave\n\nEverybody gets 20 days.\n")
    write(root / "travel" / "trains.md", "---\ntitle: Trains\n---\nTrains first.\n")
    commit(git, "Leave and travel", at="2026-01-15")
    git("tag", "--annotate", "v1", "--message", "The first edition.", at="2026-01-16")
    write(root / "leave.md", "# Leave\n\nEverybody gets 25 days.\n")
    commit(git, "Five more days\n\nAs the council has decided.", at="2026-02-03")
    write(root / "image.png", b"\x89PNG")
    commit(git, "An image", at="2026-02-20")
    git("tag", "v2")
    return root


def commit(git: Git, message: str, at: str = "2026-01-15") -> None:
    git("add", "--all")
    git("commit", "--quiet", "--message", message, at=at)


def read(root: Path) -> list[Item]:
    return items_of(root, Defaults(readers=("tenant",), formats=installed_formats.formats("")))


def items_of(root: Path, defaults: Defaults) -> list[Item]:
    name = root.name.removesuffix(".git")
    return list(GitSource(ReaderRequest(root, defaults, name)).documents())


def by_uri(items: list[Item]) -> dict[str, Document]:
    return {item.uri: item for item in items if isinstance(item, Document)}


def refused(items: list[Item]) -> list[tuple[str, str]]:
    return [(item.path, item.reason) for item in items if isinstance(item, RefusedItem)]


def test_files_tags_and_months_are_documents(root: Path) -> None:
    items = read(root)

    assert list(by_uri(items)) == [
        "leave.md",
        "travel/trains.md",
        "@tags/v2",
        "@tags/v1",
        "@log/2026-02",
        "@log/2026-01",
    ]
    assert refused(items) == []


def test_a_file_says_which_commit_has_changed_it_last_and_when(root: Path, git: Git) -> None:
    found = by_uri(read(root))

    leave, trains = found["leave.md"], found["travel/trains.md"]
    changed = git("log", "--max-count=1", "--format=%h", "--", "leave.md").strip()
    assert (leave.document_id, leave.text) == (
        "handbook/leave.md",
        "# Leave\n\nEverybody gets 25 days.\n",
    )
    assert leave.metadata == {"commit": changed, "committed_at": "2026-02-03T12:00:00+00:00"}
    assert trains.title == "Trains"
    assert trains.metadata["committed_at"] == "2026-01-15T12:00:00+00:00"


def test_a_month_tells_its_commits_and_a_tag_its_message(root: Path) -> None:
    found = by_uri(read(root))

    month, tag, plain = found["@log/2026-02"], found["@tags/v1"], found["@tags/v2"]
    assert month.text.startswith("# Changes of 2026-02\n\n## An image\n\n2026-02-20, ")
    assert "## Five more days\n\n2026-02-03, " in month.text
    assert month.text.endswith(", Ana\n\nAs the council has decided.")
    assert month.metadata["commits"] == 2
    assert tag.text == "# v1, 2026-01-16\n\nThe first edition."
    assert plain.text == "# v2, 2026-02-20\n\nAn image"


def test_a_commit_changes_what_it_touches_and_its_month_alone(root: Path, git: Git) -> None:
    before = by_uri(read(root))
    write(root / "leave.md", "# Leave\n\nEverybody gets 26 days.\n")
    commit(git, "One more", at="2026-03-01")

    after = by_uri(read(root))

    changed = {uri for uri, document in after.items() if before.get(uri) != document}
    assert changed == {"leave.md", "@log/2026-03"}


def test_what_is_not_committed_is_not_there(root: Path) -> None:
    write(root / "leave.md", "Not yet.")
    write(root / "new.md", "Not yet.")

    found = by_uri(read(root))

    assert "new.md" not in found
    assert found["leave.md"].text != "Not yet."


def test_a_bare_repository_is_read_alike(root: Path, git: Git, tmp_path: Path) -> None:
    git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare" / "handbook.git"))

    assert read(tmp_path / "bare" / "handbook.git") == read(root)


@pytest.mark.slow
def test_a_bad_file_is_refused_and_the_rest_read(root: Path, git: Git) -> None:
    write(root / "broken.md", b"\0\x01\x02\x03\xff")
    write(root / "large.md", "x" * 2_000_001)
    write(root / "lfs.pdf", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    write(root / "no.pdf", "Not a PDF.")
    write(root / ".hidden.md")
    (root / "link.md").symlink_to("/etc/passwd")
    commit(git, "Bad files")

    items = read(root)

    assert {"leave.md", "@tags/v1", "@log/2026-01"} <= by_uri(items).keys()
    assert [(path, reason.partition(":")[0]) for path, reason in refused(items)] == [
        ("broken.md", "is no text"),
        ("large.md", "over 2,000,000 bytes"),
        ("lfs.pdf", "is stored in Git LFS, not in the repository"),
        ("link.md", "is a link"),
        ("no.pdf", "is not a PDF that can be read"),
    ]


def test_a_file_without_text_is_no_document(root: Path, git: Git) -> None:
    write(root / "package" / "__init__.py", "")
    commit(git, "A package")

    items = read(root)

    assert BlankItem("handbook/package/__init__.py", "package/__init__.py") in items
    assert "package/__init__.py" not in by_uri(items)


def test_names_of_any_kind_are_read(root: Path, git: Git) -> None:
    names = ["a b.md", "férias.md", "tab\there.md", "-rf.md", 'quote".md', "-> arrow.md"]
    for name in names:
        write(root / name)
    commit(git, "Names")

    items = read(root)

    assert set(names) - {"tab\there.md"} <= by_uri(items).keys()
    assert [path for path, _ in refused(items)] == ["tab\there.md"]
    assert by_uri(items)["férias.md"].metadata["commit"]


def test_nothing_that_the_repository_names_is_run(root: Path, tmp_path: Path, git: Git) -> None:
    witness = tmp_path / "witness"
    script = write(tmp_path / "script", f"#!/bin/sh\ntouch {witness}\ncat\n")
    script.chmod(0o755)
    for key in (
        "core.fsmonitor",
        "core.pager",
        "log.showSignature",
        "gpg.program",
        "diff.external",
    ):
        git("config", key, "true" if key == "log.showSignature" else str(script))
    git("config", "filter.evil.smudge", str(script))
    write(root / ".gitattributes", "*.md filter=evil diff=evil\n")
    git("config", "diff.evil.textconv", str(script))
    git("config", "filter.evil.clean", "cat")
    commit(git, "Attributes")
    witness.unlink(missing_ok=True)

    items = read(root)

    assert len(by_uri(items)) == 6
    assert not witness.exists()


@pytest.mark.parametrize("kind", ["empty", "none", "nowhere"])
def test_what_is_no_repository_is_refused(tmp_path: Path, git: Git, kind: str) -> None:
    place = {"empty": tmp_path / "handbook", "none": tmp_path / "other"}
    (tmp_path / "other").mkdir()

    items = read(place.get(kind, tmp_path / "nowhere"))

    ((_, reason),) = refused(items)
    assert len(items) == 1
    assert "\n" not in reason


def test_files_open_below_the_base_and_what_is_no_file_does_not(root: Path) -> None:
    defaults = Defaults(readers=("tenant",), base_url="https://git.example/blob/main/")

    documents = by_uri(items_of(root, defaults))

    assert "https://git.example/blob/main/travel/trains.md" in documents
    assert {"@tags/v1", "@log/2026-01"} <= documents.keys()
