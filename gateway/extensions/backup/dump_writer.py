"""Writes a database to a file, in pg_dump's custom format."""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import IO

from gateway.extension import CommandError
from gateway.extensions.backup import postgres_programs


def write(url: str, part: Path, written: IO[bytes]) -> None:
    """Write a dump to the open file `part`, and read its table of contents.

    Raises `CommandError`.
    """
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
