"""Word lists in files of the user's cache folder, which all processes of the machine map.

A file is written once, under a name that says from what it was made, and checked as it is mapped.
Without a usable folder each process makes its own lists.
"""

import fcntl
import hashlib
import mmap
import os
import stat
import sys
import tempfile
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

import platformdirs

from index.text import tokens
from index.text.word_lists import building, stemming, word_list
from index.text.word_lists.word_list import WordList

FILE_BYTES_MAX = 64_000_000  # of one list; the longest, German's, takes 5 MB
_DIGEST = hashlib.sha256
_DIGEST_BYTES = 32
_UNUSED_S_MAX = 30 * 86_400.0  # the age after which a list of another version is removed
_NICENESS = 10  # of the process that makes lists while others answer
_MADE_BY = (tokens, stemming, building, word_list)


def folder() -> Path:
    """The folder of the installation, if it has one, as the image does; else the user's cache."""
    installed = Path(sys.prefix) / "share" / "nearhit" / "word-lists"
    if installed.is_dir():
        return installed
    return platformdirs.user_cache_path("nearhit") / "word-lists"


def find(language: str, place: Path) -> WordList | None:
    """The list of the folder's file, in milliseconds; None without a file that can be trusted."""
    try:
        mapped = _map(_path(language, place))
    except (OSError, ValueError):
        return None
    with memoryview(mapped) as whole, whole[_DIGEST_BYTES:] as encoded:
        is_whole = mapped[:_DIGEST_BYTES] == _DIGEST(encoded).digest()
    return WordList.of(memoryview(mapped)[_DIGEST_BYTES:]) if is_whole else None


def make(language: str, place: Path) -> WordList:
    """Make the list, in up to 2 s of processor time, and store it if the folder is usable."""
    encoded = building.build(language)
    try:
        _store(language, place, encoded)
    except OSError as error:
        import structlog  # takes longer to load than a list

        structlog.get_logger().warning("word_lists", state="not_stored", reason=str(error))
    return find(language, place) or WordList.of(memoryview(encoded))


def _map(path: Path) -> mmap.mmap:
    """Raises `OSError`, and `ValueError` if others could have written the file."""
    # A named pipe must not block, and a link is not followed.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or not _is_trusted(status):
            raise ValueError("not a file that only this user or root can have written")
        if not _DIGEST_BYTES < status.st_size <= FILE_BYTES_MAX:
            raise ValueError("too short or too long")
        return mmap.mmap(descriptor, status.st_size, access=mmap.ACCESS_READ)
    finally:
        os.close(descriptor)


def _is_trusted(status: os.stat_result) -> bool:
    return status.st_uid in (0, os.geteuid()) and not status.st_mode & 0o022


def _store(language: str, place: Path, encoded: bytes) -> None:
    """Raises `OSError`."""
    place.mkdir(parents=True, exist_ok=True)
    with _unfinished(place) as file:
        descriptor, path = file
        with os.fdopen(descriptor, "wb") as written:
            written.write(_DIGEST(encoded).digest())
            written.write(encoded)
        path.chmod(0o644)  # of an image's lists, root is the owner and another user the reader
        path.replace(_path(language, place))
    for other in place.iterdir():
        with suppress(FileNotFoundError):
            if other.stat().st_mtime < time.time() - _UNUSED_S_MAX:
                other.unlink()


@contextmanager
def _unfinished(place: Path) -> Iterator[tuple[int, Path]]:
    descriptor, name = tempfile.mkstemp(suffix=".new", dir=place)
    try:
        yield descriptor, Path(name)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _path(language: str, place: Path) -> Path:
    return place / f"{language}-{_edition()}.words"


@cache
def _edition() -> str:
    """Of all that a list is made from: the packages' versions, Unicode's, and these modules."""
    digest = _DIGEST()
    versions = version("wordfreq"), version("PyStemmer"), unicodedata.unidata_version
    digest.update(" ".join((*versions, sys.byteorder)).encode())
    for module in _MADE_BY:
        assert module.__file__ is not None
        digest.update(Path(module.__file__).read_bytes())
    return digest.hexdigest()[:16]


def main() -> None:
    """Make and store the lists that are missing, for a process of its own; 8 s of a processor.

    Of concurrent processes one makes them. Raises `OSError`.
    """
    os.nice(_NICENESS)
    place = folder()
    place.mkdir(parents=True, exist_ok=True)
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for language in (*stemming.SNOWBALL, stemming.UNDETERMINED):
            if find(language, place) is None:
                _store(language, place, building.build(language))


if __name__ == "__main__":
    main()
