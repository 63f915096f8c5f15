"""Opens files and folders within a folder; no link leads out of it, even one made meanwhile."""

import os
import stat
from pathlib import Path
from typing import BinaryIO

from ingest.errors import JobRefused

_REMEDY = "put it there, or set the source's path to its place in that folder."
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_OPEN_NO_LINK = (
    os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
)  # without O_NONBLOCK, opening a pipe waits


def open_within(path: Path, folder: Path, start: Path | None = None) -> int:
    """A descriptor of a file or folder in `folder`; follows links that stay within it.

    The race: between resolving the path and opening it, somebody may replace a part by a link. So
    each part of the resolved path is opened relative to the one before it, and a part that has
    become a link raises `OSError`.

    folder: resolved. start: the resolved folder from which the parts are opened; `folder`, or one
    around it that only the operator can replace; None means `folder`.
    Raises `OSError`, and `ValueError` if the path leaves the folder.
    """
    start = start or folder
    real = Path(os.path.realpath(path))  # Path.resolve raises RuntimeError for a loop of links
    if not (real.is_relative_to(folder) and real.is_relative_to(start)):
        raise ValueError("is a link to outside the folder")
    if path.is_symlink() and not path.exists():
        raise ValueError("is a link that leads nowhere")
    descriptor = os.open(start, _OPEN_FOLDER)
    for part in real.relative_to(start).parts:
        try:
            child = os.open(part, _OPEN_NO_LINK, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = child
    return descriptor


def locate(base: Path, path: str, label: str, *, is_folder: bool) -> Path:
    """The resolved path of a folder or file in `base`, which is resolved; label: names `base`.

    Raises `JobRefused` if it leads outside, or does not exist.
    """
    real = Path(os.path.realpath(base / path))  # a link may lead outside
    if not real.is_relative_to(base):
        raise JobRefused(f"{path} leads outside {label}.")
    if not (real.is_dir() if is_folder else real.is_file()):
        kind = "folder" if is_folder else "file"
        raise JobRefused(f"There is no {kind} {path} in {label}; {_REMEDY}")
    return real


def names_within(path: Path, folder: Path, start: Path | None = None) -> list[str]:
    """The names in a folder. Arguments and errors are those of `open_within`."""
    descriptor = open_within(path, folder, start)
    try:
        return os.listdir(descriptor)  # noqa: PTH208  a path could be replaced by a link
    finally:
        os.close(descriptor)


def open_file(
    path: Path, size_bytes_max: int, folder: Path | None = None, start: Path | None = None
) -> BinaryIO:
    """A regular file, open for reading. folder: None allows any location.

    Other arguments and errors are those of `open_within`; also raises `ValueError` if the file is
    not regular or is too large.
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
    if len(content) > size_bytes_max:  # it has grown since `open_file` checked it
        raise ValueError(f"over {size_bytes_max:,} bytes")
    return content


def _check(status: os.stat_result, size_bytes_max: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("not a regular file")
    if status.st_size > size_bytes_max:
        raise ValueError(f"over {size_bytes_max:,} bytes")
