"""`nearhit extensions`: what is installed besides the core, and whether it is on."""

from dataclasses import astuple, dataclass

import typer

from common.command_errors import CommandError
from gateway.cli import common
from gateway.cli.common import AsJson

_FOUND = 1


@dataclass(frozen=True, slots=True)
class _Listed:
    name: str
    state: str
    origin: str
    calls: int
    summary: str


def extensions(as_json: AsJson = False) -> None:
    """List the extensions that are installed.

    NEARHIT_EXTENSIONS_OFF names those that are off: their calls answer 404, their files are
    refused, and nothing else of theirs is loaded. Exits with 1 if one can't be loaded.

        NEARHIT_EXTENSIONS_OFF=scim nearhit extensions
    """
    rows, names = _list(), ("extension", "state", "from", "calls", "what it does")
    common.print_rows(rows, lambda row: [*map(str, astuple(row))], names, as_json=as_json)
    if any(row.state == "broken" for row in rows):
        raise typer.Exit(_FOUND)


def _list() -> list[_Listed]:
    with common.errors():
        from gateway.configured import installed_extensions
        from gateway.settings.found_extensions import found
        from gateway.settings.groups.lists import listed
        from gateway.settings.settings import Settings

        off = listed(Settings().extensions_off)
        rows = []
        for name, each in found().items():
            try:
                extension = installed_extensions.load(each)
                calls = len(extension.routes_with(()))
                state, summary = "on", extension.summary
            except CommandError as error:
                state, calls, summary = "broken", 0, str(error)
            rows.append(_Listed(name, "off" if name in off else state, each.origin, calls, summary))
    return rows
