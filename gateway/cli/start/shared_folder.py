"""A folder for the processes that one command starts; it ends with the command."""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# A file system in memory. The folder in it has a random name and is for this user alone.
_MEMORY = Path("/dev/shm")  # noqa: S108
_YOUNG_S = 60.0  # a folder of this age may not be locked yet


@contextmanager
def shared_folder(prefix: str, size_bytes: int | None) -> Iterator[Path]:
    """A folder for this user alone; in memory if there is room for so many bytes, else on disk.

    size_bytes: None for a folder on disk.

    A command that is killed can't remove its folder: the next one that uses the prefix does.
    """
    parent = Path(tempfile.gettempdir())
    if size_bytes is not None and _MEMORY.is_dir():
        parent = _MEMORY if shutil.disk_usage(_MEMORY).free > size_bytes else parent
    _remove_abandoned(parent, prefix)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=parent) as name:
        descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # as long as this process lives
            yield Path(name)
        finally:
            os.close(descriptor)


def _remove_abandoned(parent: Path, prefix: str) -> None:
    """Remove the folders of this user whose process has ended."""
    for folder in parent.glob(f"{prefix}*"):
        with suppress(OSError):  # it is another user's, or its process lives
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                status = os.fstat(descriptor)
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if status.st_uid == os.geteuid() and status.st_mtime < time.time() - _YOUNG_S:
                    shutil.rmtree(folder, ignore_errors=True)  # it leaves a link as it is
            finally:
                os.close(descriptor)
