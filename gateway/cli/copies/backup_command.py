"""`nearhit backup`: writes the database to one file, which `nearhit restore` reads."""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import IO, Annotated

import typer

from gateway.cli import atomic_file, common
from gateway.cli.common import AsJson
from gateway.cli.copies import postgres_programs
from gateway.errors import CommandError


def backup(
    file: Annotated[Path, typer.Argument(help="The file to write.", dir_okay=False)],
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Replace the file if it exists, once the new one is whole."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write the whole database, of one instant, to a file; searches and writers keep running.

    The file is a dump in pg_dump's custom format, readable by its owner alone. It appears under its
    name once it is complete and on disk; a run that fails leaves an existing file as it is.

        nearhit backup nearhit.dump --replace
    """
    with common.connected() as settings:
        assert settings.database_url is not None
        if file.exists() and not replace:
            raise CommandError(f"{file} exists: choose another name, or use --replace")
        if not file.absolute().parent.is_dir():
            raise CommandError(f"{file.absolute().parent} is not a folder")
        with atomic_file.writing(file, replace=replace) as (part, written):
            _dump(settings.database_url.get_secret_value(), part, written)
            size_bytes = part.stat().st_size
    text = f"backed up {size_bytes / 1e6:,.1f} MB to {file}"
    common.print_result(text, {"file": str(file), "bytes": size_bytes}, as_json=as_json)


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
                reason = postgres_programs.output(errors)
                reason = reason or f"{command[0]} ended with {ended.returncode}"
                raise CommandError(f"nothing was backed up: {reason}")
