"""Files and folders opened so that no link leads out of a folder, even one made a moment before."""

import os
import stat
from pathlib import Path
from typing import BinaryIO

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NO_LINK = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # a pipe would be waited for


def open_within(path: Path, folder: Path, start: Path | None = None) -> int:
    """A descriptor of a file or folder that lies in `folder`; links within it are followed.

    The race: the path is resolved first, and somebody may put a link in its place before it is
    opened. So each part of the resolved path is opened from the folder before it, and a part that
    is a link by then raises `OSError`.

    folder: resolved. start: from where the parts are opened one by one; a resolved folder around
    `folder` that nobody but the operator can replace; `folder` itself unless given.
    Raises `OSError`, and `ValueError` if the path leaves the folder.
    """
    start = start or folder
    real = Path(os.path.realpath(path))  # Path.resolve raises RuntimeError for a loop of links
    if not (real.is_relative_to(folder) and real.is_relative_to(start)):
        raise ValueError("links to outside the folder")
    descriptor = os.open(start, _FOLDER)
    for part in real.relative_to(start).parts:
        try:
            below = os.open(part, _NO_LINK, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = below
    return descriptor


def names_within(path: Path, folder: Path, start: Path | None = None) -> list[str]:
    """The names in a folder. Arguments and errors are those of `open_within`."""
    descriptor = open_within(path, folder, start)
    try:
        return os.listdir(descriptor)  # noqa: PTH208  a path could be replaced
    finally:
        os.close(descriptor)


def open_file(
    path: Path, size_bytes_max: int, folder: Path | None = None, start: Path | None = None
) -> BinaryIO:
    """A regular file, open for reading; without a folder it may lie anywhere.

    Other arguments and errors are those of `open_within`; also raises `ValueError` if it is no
    regular file or is too large.
    """
    if folder is None:
        folder = Path(os.path.realpath(path)).parent
    descriptor = open_within(path, folder, start)
    try:
        _check(os.fstat(descriptor), size_bytes_max)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_file(
    path: Path, size_bytes_max: int, folder: Path | None = None, start: Path | None = None
) -> bytes:
    """The content of a file. Arguments and errors are those of `open_file`."""
    with open_file(path, size_bytes_max, folder, start) as file:
        content = file.read(size_bytes_max + 1)
    if len(content) > size_bytes_max:  # it has grown since
        raise ValueError(f"over {size_bytes_max:,} bytes")
    return content


def _check(found: os.stat_result, size_bytes_max: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise ValueError("not a regular file")
    if found.st_size > size_bytes_max:
        raise ValueError(f"over {size_bytes_max:,} bytes")
