"""Lists of commands fit the terminal, no identifier in them is cut, and no text commands it."""

import io
import re
from pathlib import Path

from rich.console import Console
from rich.table import Table

from gateway.cli import common
from gateway.cli.safe_console import SafeConsole

KEY = "key_3eb0b85bd73285f3"


def printed(*, width: int, is_terminal: bool = True) -> str:
    table = Table("key", "name", "subject", "expires")
    table.add_row(KEY, "", "ana", "2026-11-25 14:48:06")
    table.add_row("key_5f0c", "laptop", "ben", "")
    file = io.StringIO()
    screen = Console(width=width, force_terminal=is_terminal, color_system=None, file=file)
    common.print_table(table, "no keys", screen)
    return file.getvalue()


def test_a_wide_terminal_shows_a_table() -> None:
    assert f"│ {KEY} │        │ ana     │" in printed(width=80)


def test_a_narrow_terminal_shows_the_fields_of_a_row_below_each_other() -> None:
    assert printed(width=40) == (
        f"key      {KEY}\nsubject  ana\nexpires  2026-11-25 14:48:06\n\n"
        "key      key_5f0c\nname     laptop\nsubject  ben\n\n"
    )


def test_what_another_program_reads_is_a_table() -> None:
    assert "┃" in printed(width=40, is_terminal=False)


def test_no_command_makes_another_console() -> None:
    folder = Path(common.__file__).parents[1]
    files = [path for path in folder.rglob("*.py") if re.search(r"\bConsole\(", path.read_text())]

    assert files == []


def test_no_text_of_a_tenant_commands_the_terminal() -> None:
    file = io.StringIO()
    screen = SafeConsole(width=40, force_terminal=True, color_system=None, file=file)
    table = Table("title")
    table.add_row("a\x1b[2Jb")

    common.print_table(table, on=screen)
    screen.print("c\x9b2Jd\te\nf", "g\x07", markup=False)
    screen.print("[bold]h\x1b]0;i\x07[/]")

    assert "a\ufffd[2Jb" in file.getvalue()
    assert file.getvalue().endswith("c\ufffd2Jd   e\nf g\ufffd\nh\ufffd]0;i\ufffd\n")
    assert "\x1b" not in file.getvalue()
