"""Writes and reads dumps of a database, in pg_dump's custom format."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from gateway.extension import CommandError
from gateway.extensions.backup import postgres_programs
from index.postgres.setup import own_objects, prerequisites
from index.postgres.setup.own_objects import SchemaContents
from index.postgres.setup.prerequisites import DumpNeeds

# Its number, two of the object; kind, schema, name and owner; the numbers of what it depends on.
_ENTRY = re.compile(r"^(\d+); \d+ \d+ (.+)\n(?:;\tdepends on:(.*)\n)?", re.MULTILINE)
# No other program's table in a dump has this name.
_PLACE = re.compile(r"^\d+; \d+ \d+ TABLE (?!DATA )(.+) chunk_partitions (.+)$", re.MULTILINE)
# What an administrator makes, and what pg_restore adds by itself.
_NOT_RESTORED = re.compile(
    r"((COMMENT|ACL|SECURITY LABEL) - )?"
    r"(ENCODING|STDSTRINGS|SEARCHPATH|DATABASE( PROPERTIES)?|SCHEMA|EXTENSION) "
)
# What belongs to the table or function that it depends on.
_PART = re.compile(
    r"((TABLE|MATERIALIZED VIEW) DATA|TABLE ATTACH|SEQUENCE( SET| OWNED BY)?|DEFAULT"
    r"|((CHECK|FK) )?CONSTRAINT|INDEX( ATTACH)?|TRIGGER|RULE|POLICY|ROW SECURITY|STATISTICS|ACL"
    r"|COMMENT|SECURITY LABEL) "
    r"(?!ACL )"  # default privileges
)
_CREATE_EXTENSION = re.compile(
    r"^CREATE EXTENSION (?:IF NOT EXISTS )?(\S+) WITH SCHEMA ([^;]+);", re.MULTILINE
)
_NAME = r'"(?:[^"]|"")+"|\w+'
_GRANTEE = re.compile(
    rf"^(?:GRANT|REVOKE) .+ (?:TO|FROM) (?!PUBLIC)({_NAME})(?: WITH GRANT OPTION)?;$", re.MULTILINE
)
# Before what another role than the owner has granted, which only a superuser may grant for it.
_GRANTOR = re.compile(r"^(?:RE)?SET SESSION AUTHORIZATION.*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Dump:
    """own: the numbers of the entries that are restored, and grants: the SQL that grants rights.

    left_out: the other objects.
    """

    file: Path
    own: Sequence[str]
    grants: str
    left_out: Sequence[str]
    needs: DumpNeeds


def write(url: str, schema: SchemaContents, part: Path, written: IO[bytes]) -> None:
    """Write a dump to the open file `part`, and read its table of contents.

    Raises `CommandError`.
    """
    selection = [
        f"--schema={schema.name}",
        *(f"--extension={name}" for name in prerequisites.EXTENSIONS),
        *(f"--exclude-table={name}" for name in schema.relations_of_others),
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


def read(file: Path) -> Dump:
    """Raises `CommandError`."""
    contents = _output(file, "--list", "--verbose")
    place = _PLACE.search(contents)
    if place is None:
        raise CommandError(f"nothing was restored: {file} has no tables of Nearhit")
    schema, owner = place.groups()
    own, left_out = _sort_entries(contents, schema, owner)
    texts = {number: text for number, text, _ in _ENTRY.findall(contents)}
    of_extensions = [number for number, text in texts.items() if text.startswith("EXTENSION ")]
    rights = {number for number in own if texts[number].startswith("ACL ")}
    extensions = _output(file, "--file=-", entries=of_extensions)
    grants = _GRANTOR.sub("", _output(file, "--file=-", entries=rights))
    roles = {
        name[1:-1].replace('""', '"') if name[0] == '"' else name
        for name in _GRANTEE.findall(grants)
    }
    needs = DumpNeeds(schema, dict(_CREATE_EXTENSION.findall(extensions)), list(roles))
    return Dump(file, [each for each in own if each not in rights], grants, left_out, needs)


def restore(url: str, dump: Dump, begin: str, end: str) -> None:
    """Restore in one transaction, which commits only if the whole dump was read and written."""
    with tempfile.TemporaryFile() as errors, _list_of(dump.own) as entries:
        read = subprocess.Popen(  # noqa: S603  a program of PostgreSQL's
            [
                postgres_programs.program("pg_restore"),
                "--no-owner",
                f"--use-list={entries.name}",
                "--file=-",
                str(dump.file),
            ],
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        write = subprocess.Popen(  # noqa: S603  a program of PostgreSQL's
            [
                postgres_programs.program("psql"),
                "--no-psqlrc",
                "--quiet",
                "--set=ON_ERROR_STOP=1",
                "--set=SHOW_CONTEXT=never",  # the lines of our own code
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
            last = "ROLLBACK;\n" if read.wait() else f"{end}{dump.grants}\nCOMMIT;\n"
            write.stdin.write(last.encode())
        if read.wait() or write.wait():
            raise CommandError(f"nothing was restored: {postgres_programs.output(errors)}")


def _sort_entries(contents: str, schema: str, owner: str) -> tuple[Sequence[str], Sequence[str]]:
    """The numbers of Nearhit's entries, and the texts of others; each stands behind what it needs.

    Of the others' parts only those are among the texts that are also a part of Nearhit's.
    """
    # A dump without rights would let everybody call them; and the next start makes them anew.
    made_anew = re.compile(rf"FUNCTION {re.escape(schema)} ({own_objects.OF_ROLES})\(")
    is_named = re.compile(
        rf"((TABLE|VIEW|SEQUENCE) {re.escape(schema)} {own_objects.RELATIONS}"
        rf"|(FUNCTION|PROCEDURE) {re.escape(schema)} {own_objects.ROUTINES}\(.*\))"
        rf" {re.escape(owner)}"
    )
    own: dict[str, None] = {}
    others: set[str] = set()
    left_out = []
    for entry in _ENTRY.finditer(contents):
        number, text, dependencies = entry.groups("")
        if _NOT_RESTORED.match(text) or made_anew.match(text):
            continue
        needed = dependencies.split()
        is_part = _PART.match(text) is not None
        of_own = is_part and any(each in own for each in needed)
        if is_named.fullmatch(text) or (of_own and others.isdisjoint(needed)):
            own[number] = None
            continue
        others.add(number)
        if of_own or not is_part:
            left_out.append(text.removesuffix(f" {owner}"))
    return list(own), left_out


def _output(file: Path, *options: str, entries: Iterable[str] | None = None) -> str:
    """What pg_restore writes. entries: of its contents, if not all. Raises `CommandError`."""
    with tempfile.TemporaryFile() as errors, _list_of(entries or ()) as chosen:
        use = [] if entries is None else [f"--use-list={chosen.name}"]
        ended = subprocess.run(  # noqa: S603  a program of PostgreSQL's
            [postgres_programs.program("pg_restore"), *options, *use, str(file)],
            stdout=subprocess.PIPE,
            stderr=errors,
            check=False,
        )
        if ended.returncode:
            raise CommandError(f"nothing was restored: {postgres_programs.output(errors)}")
    return ended.stdout.decode()


@contextmanager
def _list_of(numbers: Iterable[str]) -> Iterator[IO[str]]:
    with tempfile.NamedTemporaryFile("w") as file:
        file.writelines(f"{number};\n" for number in numbers)
        file.flush()
        yield file
