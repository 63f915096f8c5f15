"""Shared by all commands: the servers to work on, and errors as one line."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeAlias, TypeVar

import typer
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from cache.errors import CacheUnavailable
from common.command_errors import CommandError
from gateway.cli.safe_console import SafeConsole, reopen_closed_outputs
from index.errors import IndexStoreError
from index.model.identifiers import use_case

if TYPE_CHECKING:  # `--help` and `--version` load no more than they show
    from pydantic import ValidationError

    from gateway.settings.settings import Settings
    from index.postgres.database import Database

T = TypeVar("T")

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Write JSON, for scripts.")]

PACKAGE = __package__.removesuffix(".cli")  # `nearhit.gateway` where a wheel is installed
_UNLIMITED = 10_000  # columns: more than a table of short cells has
_PIPED_COLUMNS = 200  # wide enough that no cell is cut when another program reads the table

SUBJECT = "me"  # of the key that the first start makes, and of commands that name no other
Subject = Annotated[str, typer.Option(help="The subject (the user's identifier).")]
Publish = Annotated[
    bool, typer.Option("--publish", help="Allow documents with the reader public; else refused.")
]
reopen_closed_outputs()
console = SafeConsole(highlight=False, width=None if sys.stdout.isatty() else _PIPED_COLUMNS)


@contextmanager
def servers(settings: "Settings", *, own: bool = False) -> "Iterator[Settings]":
    """The settings with both URLs set; if they name no servers, an extension runs them.

    own: it must not be another process that runs them. Raises `CommandError`.
    From here on the command reads subjects and groups as the deployment spells them.
    """
    use_case(settings.identifier_case)
    from gateway.configured import configured_servers

    provider = configured_servers.provider(settings)
    if provider is None:
        yield settings
        return
    with (provider.own if own else provider.share)(settings) as connected:
        yield connected


def settings_of(extension: str) -> Any:
    """The settings of an extension, which is on."""
    from gateway.configured import extension_settings
    from gateway.settings.settings import Settings

    return extension_settings.read(Settings().extensions_off)[extension]


@contextmanager
def errors() -> Iterator[None]:
    """Print an expected error as one line instead of a stack trace.

    Commands import inside this block, because loading the model would slow `--help`. Log lines go
    to stderr: stdout holds only the result of a command.
    """
    import structlog

    structlog.configure(logger_factory=lambda *_: structlog.PrintLogger(sys.stderr))
    try:
        yield
    except (CacheUnavailable, IndexStoreError, CommandError) as error:
        _fail(str(error))
    except ValueError as error:
        from pydantic import ValidationError

        if not isinstance(error, ValidationError):
            raise
        _fail("; ".join(_invalid_fields(error)))
    except (KeyboardInterrupt, RuntimeError) as error:
        if not _is_interruption(error):
            raise
        raise typer.Exit(130) from None


def _is_interruption(error: BaseException | None) -> bool:
    """Whether Ctrl-C is the cause: Python 3.11 turns one in `__set_name__` into a RuntimeError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


@contextmanager
def connected() -> "Iterator[Settings]":
    """The settings of the environment with both URLs set, and errors as one line."""
    with errors():
        from gateway.settings.settings import Settings

        with servers(Settings()) as settings:
            yield settings


def run(do: "Callable[[Settings], Coroutine[None, None, T]]") -> T:
    """Run a coroutine with the servers' settings and return its result."""
    with connected() as settings:
        return asyncio.run(do(settings))


def run_on_database(do: "Callable[[Database], Coroutine[None, None, T]]") -> T:
    """Run a coroutine with the database alone, and return its result; no embedder is loaded."""
    with connected() as settings:
        from gateway.cli import operations

        async def run() -> T:
            async with operations.open_database(settings) as database:
                return await do(database)

        return asyncio.run(run())


def print_result(text: str, value: object, *, as_json: bool) -> None:
    """Print what a command did: a line for people, or the same as JSON for scripts."""
    if as_json:
        print_json(value)
    else:
        console.print(text, markup=False, soft_wrap=True)


def print_rows(
    rows: Sequence[T],
    cells: Callable[[T], Sequence[str]],
    headings: Sequence[str],
    if_empty: str = "",
    *,
    as_json: bool,
) -> None:
    """Print a table for people, or all fields of the rows as JSON for scripts."""
    if as_json:
        print_json(rows)
        return
    table = Table(*headings)
    for row in rows:
        table.add_row(*map(escape, cells(row)))
    print_table(table, if_empty)


def show_new_tenant(tenant: str) -> None:
    """On stderr, so that a mistyped name is seen, also beside `--json`."""
    typer.echo(f"created tenant {tenant}", err=True)


def print_table(table: Table, if_empty: str = "", on: Console = console) -> None:
    """Print the rows; on a terminal that is too narrow for them, one field below the other.

    A table that does not fit would cut identifiers, which other commands take.
    """
    if not table.row_count:
        on.print(if_empty, end="\n" if if_empty else "")
        return
    unlimited = on.options.update(width=_UNLIMITED)
    if not on.is_terminal or Measurement.get(on, unlimited, table).minimum <= on.width:
        on.print(table)
        return
    name_width = max(len(str(column.header)) for column in table.columns)
    for row in zip(*(column.cells for column in table.columns), strict=True):
        for column, cell in zip(table.columns, row, strict=True):
            if cell:
                on.print(f"{column.header:{name_width}}  {cell}", soft_wrap=True)
        on.print()


def progress_console(*, as_json: bool) -> Console:
    """Where progress is shown: on stderr if standard output holds JSON."""
    return SafeConsole(stderr=True, highlight=False) if as_json else console


def print_json(value: object) -> None:
    """Print dataclasses, mappings and sequences as JSON; bytes as hexadecimal digits."""
    import orjson

    options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS
    sys.stdout.write(orjson.dumps(value, _as_json, options).decode() + "\n")


def _as_json(value: object) -> object:
    match value:
        case bytes():
            return value.hex()
        case Mapping():
            return dict(value)
        case Sequence():
            return list(value)
    raise TypeError(type(value).__name__)


def format_instant(at: datetime | None) -> str:
    """The time in the local time zone; empty for None."""
    return at.astimezone().strftime("%Y-%m-%d %H:%M:%S") if at else ""


def _invalid_fields(error: "ValidationError") -> Iterator[str]:
    from gateway.problems import field_errors
    from gateway.settings import setting_sources
    from gateway.settings.settings import Settings

    if error.title == Settings.__name__:
        yield from field_errors.of_settings(error, setting_sources.PREFIX, Settings)
    else:
        for each in field_errors.field_errors(error):
            yield f"{each.field}: {each.detail}"


def show_error(message: str) -> None:
    SafeConsole(stderr=True, highlight=False).print(
        f"[red]nearhit:[/] {escape(message)}", soft_wrap=True
    )


def _fail(message: str) -> NoReturn:
    show_error(message)
    raise typer.Exit(1)
