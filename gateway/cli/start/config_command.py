"""`nearhit config check`: what a process of this environment would run with."""

import asyncio
import json
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from gateway.cli import common
from gateway.cli.common import console
from gateway.errors import CommandError
from index.errors import IndexStoreError

if TYPE_CHECKING:
    from gateway.settings.settings import Settings

commands = typer.Typer(no_args_is_help=True)

_FOUND = 1


@commands.callback()
def config() -> None:
    """Show and check settings."""


@commands.command("check")
def check(
    connect: Annotated[
        bool,
        typer.Option("--connect", help="Also connect to PostgreSQL and Redis; changes nothing."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Show the settings that differ from their defaults, and what is wrong with them.

    Settings come from variables (NEARHIT_PORT), from files of secrets
    (NEARHIT_ADMIN_KEY_FILE), and from the TOML file that NEARHIT_CONFIG names
    (port = 9000). A variable wins over a file. Secrets are not shown.
    Exits with 1 if a value is invalid, a variable is unknown, only one of the
    two servers is set, or a server can't be used.

        NEARHIT_CONFIG=nearhit.toml nearhit config check --connect
    """
    with common.errors():
        from gateway import (
            configured_embedders,
            configured_reranker,
            configured_servers,
            extension_settings,
        )
        from gateway.api.routes.table import routes
        from gateway.auth import web_tokens
        from gateway.installed_extensions import formats, switched_on
        from gateway.search import embedders
        from gateway.settings import setting_sources
        from gateway.settings.settings import Settings
        from gateway.tracing import spans

        settings = Settings()
        _require_all(
            partial(configured_servers.provider, settings),
            *(
                partial(configured_embedders.check, settings, name)
                for name in embedders.names(settings)
            ),
            partial(configured_reranker.find, settings),
            partial(spans.check, settings),
            partial(web_tokens.check, settings),
            lambda: routes(switched_on(settings.extensions_off)),
            partial(formats, settings.extensions_off),
        )
        own = extension_settings.read(settings.extensions_off)
        report = extension_settings.report(settings, own)
        answers = asyncio.run(_answers(settings)) if connect else []
    if as_json:
        rows = {
            setting_sources.variable(name): {"value": value, "from": report.origins.get(name)}
            for name, value in report.differing.items()
        }
        document = {
            "settings": rows,
            "unknown": report.unknown,
            "unused": report.unused,
            "servers": answers,
        }
        json.dump(document, sys.stdout, indent=1)
        console.print()
        raise typer.Exit(_FOUND if report.unknown else 0)
    table = Table("setting", "value", "from")
    for name, value in report.differing.items():
        origin = report.origins.get(name, "")
        table.add_row(setting_sources.variable(name), escape(str(value)), escape(origin))
    common.print_table(table, "all settings have their defaults")
    for sentence in report.unknown:
        console.print(f"[yellow]{escape(sentence)}[/]")
    for sentence in (*report.unused, *answers):
        console.print(sentence, markup=False)
    raise typer.Exit(_FOUND if report.unknown else 0)


def _require_all(*checks: Callable[[], object]) -> None:
    """Raises `CommandError` with what each check that fails says."""
    said = []
    for check_one in checks:
        try:
            check_one()
        except (CommandError, IndexStoreError) as error:
            said.append(str(error))
    if said:
        raise CommandError("; ".join(said))


async def _answers(settings: "Settings") -> list[str]:
    from gateway.operator import server_check

    return await server_check.findings(settings)
