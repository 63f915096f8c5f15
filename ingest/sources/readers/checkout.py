"""The source of a repository on another host: a folder of its newest commit.

It runs in a process with limits (`ingest.sources.bounded_source`), and so does each `git`, which
inherits them: some kilobytes that git unpacks can name gigabytes.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from ingest.errors import JobRefused
from ingest.sources.reader_request import ReaderRequest
from ingest.sources.readers import confined
from ingest.sources.readers.folder import FolderSource
from ingest.sources.source import Item

# Starting values, not measured.
CHECKOUT_BYTES_MAX = 4 * 2**30
CHECKOUT_FILES_MAX = 500_000
CLONE_S_MAX = 600.0  # the longest time of `git clone`, and of `git checkout`
_LINE_BYTES_MAX = 65_536
# git never prompts, follows redirects, runs code of a repository, or reads files of this machine.
# It maps little of a pack at once, and leaves no process behind.
_GIT = (
    "git",
    *("-c", "protocol.allow=never", "-c", "protocol.http.allow=always"),
    *("-c", "protocol.https.allow=always", "-c", "http.followRedirects=false"),
    *("-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=false", "-c", "credential.helper="),
    *("-c", "core.packedGitWindowSize=32m", "-c", "core.packedGitLimit=256m"),
    *("-c", "core.bigFileThreshold=32m", "-c", "pack.threads=1", "-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
)
_ENVIRONMENT = {"GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent"}
_NOT_CLONED = "git can't clone the repository. Check its URL and branch."


def documents(request: ReaderRequest, folder: Path) -> Iterator[Item]:
    """As of `FolderSource`, after the repository is cloned into the folder, which is empty.

    Raises `JobRefused`.
    """
    _clone(folder, request.url, request.branch)
    base, name = folder.resolve(), request.name
    path = confined.locate(base, str(request.path), "the repository", is_folder=True)
    yield from FolderSource(path, request.defaults, name=name, within=base).documents()


def _clone(folder: Path, url: str, branch: str | None) -> None:
    """Clone the newest commit of the branch, without history."""
    chosen = ["--branch", branch] if branch else []
    options = ("--quiet", "--depth", "1", "--single-branch", "--no-tags", "--no-checkout")
    _run(folder, "clone", *options, *chosen, "--", url, ".")
    _require_small(folder)
    _run(folder, "checkout", "--quiet", "HEAD")


def _run(folder: Path, *arguments: str) -> None:
    with _git(folder, arguments) as git:
        try:
            status = git.wait(CLONE_S_MAX)
        except subprocess.TimeoutExpired:
            git.kill()
            raise JobRefused("git takes too long to clone the repository.") from None
    if status:
        raise JobRefused(_NOT_CLONED)


def _require_small(folder: Path) -> None:
    """Add up the sizes of the files before git writes them: a file may be there many times."""
    total_bytes = files = 0
    with _git(folder, ("ls-tree", "-r", "--long", "HEAD")) as git:
        assert git.stdout is not None
        try:
            while line := git.stdout.readline(_LINE_BYTES_MAX):
                size = line.partition(b"\t")[0].split()[-1]
                files += 1
                total_bytes += int(size) if size.isdigit() else 0
                if total_bytes > CHECKOUT_BYTES_MAX or files > CHECKOUT_FILES_MAX:
                    raise JobRefused(
                        f"The repository has over {CHECKOUT_FILES_MAX:,} files, or over "
                        f"{CHECKOUT_BYTES_MAX:,} bytes."
                    )
        finally:
            git.kill()


def _git(folder: Path, arguments: tuple[str, ...]) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(  # noqa: S603  the URL and branch are checked
            [*_GIT, *arguments],
            cwd=folder,
            env={"PATH": os.environ.get("PATH", os.defpath), **_ENVIRONMENT},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if arguments[0] == "ls-tree" else subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        raise JobRefused("git is not installed on the worker's machine. Install it.") from None
