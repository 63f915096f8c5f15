"""`nearhit backup`: writes the database to one file, which `nearhit restore` reads."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated

import typer

from gateway.cli import common, postgres_programs
from gateway.cli.common import console
from gateway.errors import CommandError
from gateway.settings import Settings


def backup(
    file: Annotated[Path, typer.Argument(help="The file to write.", dir_okay=False)],
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Replace the file if it exists, once the new one is whole."),
    ] = False,
) -> None:
    """Write the whole database, of one instant, to a file; searches and writers keep running.

    The file is a dump in pg_dump's custom format, readable by its owner alone. It appears under its
    name once it is complete and on disk; a run that fails leaves an existing file as it is.
    """
    with common.errors(), common.servers(Settings()) as settings:
        assert settings.database_url is not None
        if file.exists() and not replace:
            raise CommandError(f"{file} exists: choose another name, or use --replace")
        if not file.absolute().parent.is_dir():
            raise CommandError(f"{file.absolute().parent} is not a folder")
        with _appearing(file, replace=replace) as (part, written):
            _dump(settings.database_url.get_secret_value(), part, written)
            size_bytes = part.stat().st_size
    console.print(f"backed up {size_bytes / 1e6:,.1f} MB to {file}", markup=False)


@contextmanager
def _appearing(file: Path, *, replace: bool) -> Iterator[tuple[Path, IO[bytes]]]:
    """A new file beside `file`, which takes its name at the end; it is removed after an error."""
    folder = file.absolute().parent
    try:
        number, name = tempfile.mkstemp(".part", f".{file.name}.", folder)  # mode 600
    except OSError as error:
        raise CommandError(f"{folder} is not writable: {error.strerror}") from None
    part = Path(name)
    try:
        with open(number, "wb") as written:  # noqa: PTH123  its number is all there is
            yield part, written
            os.fsync(written.fileno())
        if replace:
            part.replace(file)
        else:
            file.hardlink_to(part)  # unlike a renaming, it fails if the file has appeared meanwhile
        _sync_folder(folder)
    except FileExistsError:
        raise CommandError(f"{file} was created meanwhile: choose another name") from None
    except OSError as error:
        raise CommandError(f"nothing was backed up: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


def _dump(url: str, part: Path, written: IO[bytes]) -> None:
    """Write the dump, and read its table of contents."""
    with tempfile.TemporaryFile() as errors:
        for command, output in (
            # Read leases are in an unlogged table: those of a restored database hold for nobody.
            (["pg_dump", "--format=custom", "--no-unlogged-table-data"], written),
            (["pg_restore", "--list", str(part)], subprocess.DEVNULL),
        ):
            ended = subprocess.run(  # noqa: S603  a program of PostgreSQL's
                [postgres_programs.program(command[0]), *command[1:]],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                env=os.environ | postgres_programs.environment(url),
                check=False,
            )
            if ended.returncode:
                reason = postgres_programs.output(errors) or f"it ended with {ended.returncode}"
                raise CommandError(f"nothing was backed up: {command[0]}: {reason}")


def _sync_folder(folder: Path) -> None:
    """Return once the file's name is on disk too."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
