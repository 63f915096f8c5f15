"""What `--help` of each command shows, and what each command offers to scripts."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from gateway.cli.main import app

# They serve or show until they are stopped, and have no result.
_WITHOUT_RESULT = ("nearhit demo", "nearhit serve", "nearhit worker", "nearhit mcp")


def _commands(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    below = getattr(command, "commands", {})
    if not below or command.invoke_without_command:
        yield path, command
    for name, each in below.items():
        yield from _commands(f"{path} {name}", each)


_ROOT: Any = typer.main.get_command(app)
_ROOT.add_extensions()
_COMMANDS = dict(_commands("nearhit", _ROOT))


def test_the_help_of_a_command_has_an_example() -> None:
    for path, command in _COMMANDS.items():
        assert re.search(rf"^ *([A-Z_]+=\S+ )*{path}( |$)", command.help, re.MULTILINE), path


def test_the_help_of_a_command_leaves_the_breaking_of_its_prose_to_the_terminal() -> None:
    for path, command in _COMMANDS.items():
        for paragraph in command.help.split("\n\n"):
            assert all(line.startswith("    ") for line in paragraph.split("\n")[1:]), path


def test_a_command_with_a_result_writes_it_as_json() -> None:
    for path in _COMMANDS.keys() - _WITHOUT_RESULT:
        assert "--json" in [option for each in _COMMANDS[path].params for option in each.opts], path


def test_a_search_and_a_new_key_are_for_the_same_subject() -> None:
    defaults = {
        path: each.default
        for path in ("nearhit search", "nearhit key create")
        for each in _COMMANDS[path].params
        if each.name == "subject"
    }

    assert defaults == {"nearhit search": "me", "nearhit key create": "me"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["key", "create", "--expires", "soon"], "'--expires': 'soon' does not match the formats"),
        (["import", "x", "--tenant", "a", "--from", "b"], "'--from': 'b' is not one of 'archive'"),
        (["serve", "--port", "b"], "'--port': Input should be a valid integer │"),
    ],
)
def test_what_is_wrong_with_an_option_is_told_without_words_of_the_parser(
    arguments: list[str], said: str
) -> None:
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})

    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())
