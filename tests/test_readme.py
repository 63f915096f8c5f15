"""The README says what the code says."""

import re
from pathlib import Path

from gateway.calls import CALLS
from gateway.command import app
from gateway.settings import Settings

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
_PLACES = {"data_dir": "the user's data folder"}  # not the same on every machine


def settings_table() -> str:
    rows = ["| setting | default | what |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = _PLACES.get(name, field.get_default())
        shown = "" if default is None else f"`{default}`" if name not in _PLACES else default
        rows.append(f"| `NEARHIT_{name.upper()}` | {shown} | {field.description} |")
    return "\n".join(rows)


def test_the_readme_lists_every_setting_with_its_default() -> None:
    assert settings_table() in README, f"put this into the README:\n{settings_table()}"


def test_the_readme_lists_every_call_with_what_it_needs() -> None:
    for call in CALLS:
        path = re.sub(r":\w+", "", call.path)
        assert f"| `{call.method} {path}` | {call.needs} | {call.summary} |" in README


def test_the_readme_names_every_command() -> None:
    names = [
        command.name or command.callback.__name__
        for command in app.registered_commands
        if command.callback
    ]

    for name in names:
        assert f"nearhit {name}" in README
