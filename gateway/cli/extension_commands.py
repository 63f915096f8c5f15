"""The commands of extensions, beside those of the core, each with its help in paragraphs."""

import errno
import inspect
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from common import validation_text
from common.command_errors import CommandError
from gateway.cli.safe_console import SafeConsole

if TYPE_CHECKING:
    from gateway.settings.found_extensions import FoundExtension

_FULL = (errno.ENOSPC, errno.EDQUOT)
# Of `nearhit --help`, in the order of what people do first.
_PANELS = ("Start", "Documents and questions", "Tenants and keys", "Operation", "Copies")
# An example is indented, and keeps its lines.
_LINE_BREAK_OF_PROSE = re.compile(r"(?<=\S)\n(?=\S)")


class ExtensibleCommands(TyperGroup):
    """The commands of the core, and those of extensions that are on.

    The latter are loaded to list all, or if the core has no command of a name. One that can't be
    loaded is a line on stderr, and all others are there.
    """

    _is_extended = False

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        _join_lines_of_help(self)

    def list_commands(self, ctx: Any) -> list[str]:
        self.add_extensions()
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: _panel_no(self.commands[name]))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands and not self.add_extensions():
            raise typer.Exit(1)  # whether there is such a command is not known
        return super().get_command(ctx, cmd_name)

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        with _plain_errors():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        with _plain_errors():
            return super().invoke(ctx)

    def add_extensions(self) -> bool:
        """Whether settings and distributions let them be listed."""
        if not self._is_extended:
            try:
                extensions = _extensions_on()
            except CommandError as error:
                _warn(str(error))
                return False
            self._is_extended = True
            for name, command in _commands(extensions):
                _join_lines_of_help(command)
                if self.commands.setdefault(name, command) is not command:
                    _warn(f"an extension brings a command {name}, which is taken")
        return True


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Of options, for which typer would show pydantic's words, and of a disk that is full."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.errno not in _FULL:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python's own flush fails
        _warn(f"the output was not written: {error.strerror}")
        raise typer.Exit(1) from None
    except typer.BadParameter as error:
        error.message = validation_text.plain(error.message)
        raise


def _join_lines_of_help(command: Any) -> None:
    """Let the help fill a narrow terminal: typer would keep the line breaks of the source."""
    command.help = _LINE_BREAK_OF_PROSE.sub(" ", inspect.cleandoc(command.help or ""))
    for below in getattr(command, "commands", {}).values():
        _join_lines_of_help(below)


def _panel_no(command: Any) -> int:
    panel = command.rich_help_panel
    return _PANELS.index(panel) if panel in _PANELS else len(_PANELS)


def _extensions_on() -> "list[FoundExtension]":
    from gateway.settings import setting_sources
    from gateway.settings.found_extensions import found
    from gateway.settings.groups.lists import listed

    off = listed(setting_sources.text_of("extensions_off", os.environ))
    return [each for each in found().values() if each.name not in off]


def _commands(extensions: "list[FoundExtension]") -> Iterator[tuple[str, Any]]:
    """By name, those of all that can be loaded."""
    for extension in extensions:
        try:
            commands = extension.load("commands", typer.Typer)
        except CommandError as error:
            _warn(str(error))
            continue
        if commands is not None:
            yield from typer.main.get_group(commands).commands.items()


def _warn(message: str) -> None:
    console = SafeConsole(stderr=True, highlight=False)
    console.print(f"nearhit: {message}", markup=False, soft_wrap=True)
