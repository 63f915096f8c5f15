"""Clones a repository in a process within limits: some kilobytes can unpack to gigabytes.

Run as a module, this file is that process, and each `git` inherits its limits. It answers requests
until its parent ends it: `[FOLDER, URL, BRANCH]` as JSON, or nothing, which asks whether it lives.
"""

import json
import os
import subprocess
from contextlib import suppress
from pathlib import Path

from common.processes.module_process import connect
from ingest.errors import JobRefused

# Starting values, not measured.
CHECKOUT_BYTES_MAX = 4 * 2**30
CHECKOUT_FILES_MAX = 500_000
CLONE_S_MAX = 600.0  # the longest time of `git clone`, and of `git checkout`
_LINE_BYTES_MAX = 65_536
_REQUEST_BYTES_MAX = 2**20
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


def clone(folder: Path, url: str, branch: str | None) -> None:
    """Clone the newest commit of the branch, without history, into the folder, which is empty.

    Raises `JobRefused`.
    """
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


def _answer(request: bytes) -> bytes:
    """Nothing, or the reason why the repository can't be cloned."""
    if request:
        folder, url, branch = json.loads(request)
        try:
            clone(Path(folder), url, branch)
        except JobRefused as error:
            return str(error).encode()
    return b""


if __name__ == "__main__":
    connection = connect()
    with suppress(EOFError):
        while True:
            connection.send_bytes(_answer(connection.recv_bytes(_REQUEST_BYTES_MAX)))
