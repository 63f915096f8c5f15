"""Writes and reads dumps of a database, in pg_dump's custom format."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from gateway.extension import CommandError
from gateway.extensions.backup import postgres_programs
from index.postgres import connections
from index.postgres.setup import prerequisites

# Entries such as "2; 3079 16389 EXTENSION - vector": a dump's number, and the object's.
_ADMINISTRATORS = re.compile(rb"\d+; \d+ \d+ ((COMMENT|ACL) - )?(SCHEMA|EXTENSION) ")
# Each entry ends with its owner. No other program's table in a dump has this name.
_OWNER = re.compile(rb"\d+; \d+ \d+ TABLE \S+ chunk_partitions( .+\n)")
_OBJECT = re.compile(rb"\d+; \d+ \d+ (?:TABLE|VIEW|SEQUENCE|FUNCTION|TYPE) (?!DATA )\S+ (\S+)")
_EXTENSION = re.compile(rb"\d+; \d+ \d+ EXTENSION ")
# Patterns of pg_dump: the schema, and what others than the owner of the tables have in it.
_PATTERNS = """
SELECT quote_ident(current_schema()) AS schema, array(
    SELECT format('%I.%I', current_schema(), relname) FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace
      AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND relowner <> (
          SELECT min(relowner) FROM pg_class
          WHERE relnamespace = current_schema()::regnamespace AND relname = 'tenants'
      )
) AS of_others"""
_CREATE_EXTENSION = re.compile(rb"CREATE EXTENSION (?:IF NOT EXISTS )?(\S+) WITH SCHEMA ([^;]+);")


@dataclass(frozen=True, slots=True)
class DumpedParts:
    """The schema that pg_dump reads, and the tables, views and sequences of others in it, which it
    leaves out.
    """

    schema: str
    of_others: Sequence[str]


async def parts_of(url: str) -> DumpedParts:
    """Raises `DatabaseUnavailable`."""
    async with connections.direct_connection(url) as connection:
        row = await connection.fetchrow(_PATTERNS)
    assert row is not None
    return DumpedParts(**row)


def write(url: str, parts: DumpedParts, part: Path, written: IO[bytes]) -> None:
    """Write a dump to the open file `part`, and read its table of contents.

    Raises `CommandError`.
    """
    selection = [
        f"--schema={parts.schema}",
        *(f"--extension={name}" for name in prerequisites.EXTENSIONS),
        *(f"--exclude-table={name}" for name in parts.of_others),
    ]
    with tempfile.TemporaryFile() as errors:
        for command, output in (
            # Read leases are in an unlogged table: those of a restored database hold for nobody.
            (["pg_dump", "--format=custom", "--no-unlogged-table-data", *selection], written),
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


def require_same_schemas(file: Path, present: Mapping[str, str]) -> None:
    """Raises `CommandError` if the dump has the extensions in another schema: it names theirs."""
    with tempfile.TemporaryFile() as errors, tempfile.NamedTemporaryFile() as contents:
        lines = _contents(file, errors)
        contents.writelines(line for line in lines if _EXTENSION.match(line))
        contents.flush()
        made = subprocess.run(  # noqa: S603  a program of PostgreSQL's
            [
                *(postgres_programs.program("pg_restore"), f"--use-list={contents.name}"),
                *("--file=-", str(file)),
            ],
            stdout=subprocess.PIPE,
            stderr=errors,
            check=False,
        )
    dumped = {
        name.decode(): schema.decode() for name, schema in _CREATE_EXTENSION.findall(made.stdout)
    }
    moved = {name: schema for name, schema in dumped.items() if present.get(name, schema) != schema}
    if not moved:
        return
    places = ", ".join(f"{name} is in {moved[name]}, here in {present[name]}" for name in moved)
    remedies = [
        f"CREATE SCHEMA IF NOT EXISTS {schema};" for schema in dict.fromkeys(moved.values())
    ]
    remedies += [f"ALTER EXTENSION {name} SET SCHEMA {schema};" for name, schema in moved.items()]
    raise CommandError(
        f"nothing was restored: in the backup {places}. An administrator runs, in this database: "
        f"{' '.join(remedies)}"
    )


def restore(url: str, file: Path, begin: str) -> Sequence[str]:
    """Restore in one transaction, which commits only if the whole dump was read and written.

    Returns the names of what is left out, because it does not belong to the owner of the tables.
    """
    with tempfile.TemporaryFile() as errors, tempfile.NamedTemporaryFile() as contents:
        own, of_others = _sorted_contents(file, errors)
        contents.writelines(own)
        contents.flush()
        read = subprocess.Popen(  # noqa: S603  a program of PostgreSQL's
            [
                postgres_programs.program("pg_restore"),
                "--no-owner",
                f"--use-list={contents.name}",
                "--file=-",
                str(file),
            ],
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        write = subprocess.Popen(  # noqa: S603  a program of PostgreSQL's
            [
                postgres_programs.program("psql"),
                "--no-psqlrc",
                "--quiet",
                "--set",
                "ON_ERROR_STOP=1",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=os.environ | postgres_programs.environment(url),
        )
        assert read.stdout is not None
        assert write.stdin is not None
        with suppress(BrokenPipeError), read.stdout, write.stdin:
            write.stdin.write(f"BEGIN;\n{begin}".encode())
            shutil.copyfileobj(read.stdout, write.stdin)
            # pg_restore can't drop a schema with partitions; psql can't detect a truncated dump.
            # psql waits for the end of the transaction, so no lock outlasts this command.
            write.stdin.write(b"ROLLBACK;\n" if read.wait() else b"COMMIT;\n")
        if read.wait() or write.wait():
            raise CommandError(f"nothing was restored: {postgres_programs.output(errors)}")
    return [found[1].decode() for line in of_others if (found := _OBJECT.match(line))]


def _sorted_contents(file: Path, errors: IO[bytes]) -> tuple[list[bytes], list[bytes]]:
    """The dump's table of contents without what the administrator makes: ours, and others'."""
    lines = [line for line in _contents(file, errors) if not _ADMINISTRATORS.match(line)]
    owner = next((found[1] for line in lines if (found := _OWNER.match(line))), b"")
    return [line for line in lines if line.endswith(owner)], [
        line for line in lines if not line.endswith(owner)
    ]


def _contents(file: Path, errors: IO[bytes]) -> list[bytes]:
    listed = subprocess.run(  # noqa: S603  a program of PostgreSQL's
        [postgres_programs.program("pg_restore"), "--list", str(file)],
        stdout=subprocess.PIPE,
        stderr=errors,
        check=False,
    )
    if listed.returncode:
        raise CommandError(f"nothing was restored: {postgres_programs.output(errors)}")
    return listed.stdout.splitlines(keepends=True)
