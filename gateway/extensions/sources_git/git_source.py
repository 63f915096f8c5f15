"""The source of a repository on another host: a folder of its newest commit."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from common.processes.bounded_process import ProcessLimits
from common.processes.module_process import ModuleProcess
from gateway.extensions._sources import confined
from gateway.extensions._sources.folder import FolderSource
from gateway.extensions._sources.source import Defaults, Item, RefusedItem
from gateway.extensions.sources_git import clone
from ingest.errors import JobRefused

# Starting values, not measured.
MEMORY_BYTES_MAX = 2**30
CPU_S_MAX = 6 * 3_600
PACK_BYTES_MAX = 2 * 2**30  # each file of the repository that is cloned
_CLONED_S_MAX = clone.CLONE_S_MAX + 300.0
_ALIVE_S_MAX = 60.0
_ANSWER_BYTES_MAX = 65_536
_LIMITS = ProcessLimits(MEMORY_BYTES_MAX, CPU_S_MAX, PACK_BYTES_MAX)
_MODULE = f"{__package__}.clone"
_ENDED = "takes more memory or time to clone than the limits; the rest is not read"


class GitHostSource:
    """path: of the folder to read, relative to the repository's root."""

    def __init__(
        self, url: str, branch: str | None, path: str, defaults: Defaults, *, name: str
    ) -> None:
        self.name = name
        self._url, self._branch, self._path = url, branch, path
        self._defaults = defaults
        self._process: ModuleProcess | None = None
        self._is_stopped = False

    def documents(self) -> Iterator[Item]:
        """As of `FolderSource`, after the repository is cloned. Raises `JobRefused`.

        The clone is removed when the process that made it ends, also if this one is killed. So the
        reading is whole only if that process still answers after the last file.
        """
        folder = Path(tempfile.mkdtemp(prefix="nearhit-git-")).resolve()
        try:
            with ModuleProcess(_MODULE, _LIMITS, folder=folder) as self._process:
                self._require_running()
                request = json.dumps([str(folder), self._url, self._branch])
                _ask(self._process, request.encode(), _CLONED_S_MAX)
                path = confined.locate(folder, self._path, "the repository", is_folder=True)
                files = FolderSource(path, self._defaults, name=self.name, within=folder)
                yield from takewhile(lambda _: not self._is_stopped, files.documents())
                self._require_running()
                _ask(self._process, b"", _ALIVE_S_MAX)
        except (EOFError, OSError):
            yield RefusedItem(self.name, _ENDED, holds="")
        finally:
            shutil.rmtree(folder, ignore_errors=True)  # if the supervisor has been killed

    def _require_running(self) -> None:
        """Raises `EOFError` if this is stopped: its process may still answer for a moment."""
        if self._is_stopped:
            raise EOFError

    def stop(self) -> None:
        """End `documents` soon; another thread calls it."""
        self._is_stopped = True  # first: the other thread may be about to start the process
        if self._process is not None:
            self._process.kill()


def _ask(process: ModuleProcess, message: bytes, seconds: float) -> None:
    """Raises `JobRefused` if the answer is a reason, and `OSError` or `EOFError` if none comes."""
    process.send(message)
    answer = process.receive(_ANSWER_BYTES_MAX, seconds)
    if answer is None:
        raise TimeoutError
    if answer:
        raise JobRefused(answer.decode())
