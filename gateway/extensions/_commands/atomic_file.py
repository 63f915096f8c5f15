"""Files that commands write: a file appears under its name once it is whole and on disk."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from common.command_errors import CommandError


@contextmanager
def writing(file: Path, *, replace: bool = True) -> Iterator[tuple[Path, BinaryIO]]:
    """A new file beside `file`, readable by its owner alone, which takes its name at the end.

    Yields the name that it has until then, and the open file.

    An error leaves an existing file as it is. The name of a link is that of the file it leads to;
    a device or a pipe is written to directly. Raises `CommandError`.
    """
    file = file.resolve()
    if file.exists() and not file.is_file():
        try:
            with file.open("wb") as written:
                yield file, written
        except OSError as error:
            raise CommandError(f"{file} was not written: {error.strerror}") from None
        return
    try:
        number, name = tempfile.mkstemp(".part", f".{file.name}.", file.parent)  # mode 600
    except OSError as error:
        raise CommandError(f"{file.parent} is not writable: {error.strerror}") from None
    part = Path(name)
    try:
        with open(number, "wb") as written:  # noqa: PTH123  its number is all there is
            yield part, written
            written.flush()
            os.fsync(written.fileno())
        if replace:
            part.replace(file)
        else:
            file.hardlink_to(part)  # unlike a renaming, it fails if the file has appeared meanwhile
        _sync_folder(file.parent)
    except FileExistsError:
        raise CommandError(f"{file} was created meanwhile: choose another name") from None
    except OSError as error:
        raise CommandError(f"{file} was not written: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


def write(file: Path, text: str) -> None:
    """Raises `CommandError`."""
    with writing(file) as (_, written):
        written.write(text.encode())


def _sync_folder(folder: Path) -> None:
    """Return once the file's name is on disk too."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
