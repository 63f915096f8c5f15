"""`nearhit config check`: what a process of this environment would run with."""

import asyncio
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from gateway.cli import common
from gateway.cli.common import AsJson, console

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
    as_json: AsJson = False,
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
        from gateway.cli import server_check
        from gateway.cli.start import setting_checks
        from gateway.configured import extension_settings
        from gateway.settings import setting_sources
        from gateway.settings.settings import Settings

        settings = Settings()
        setting_checks.require_valid(settings)
        own = extension_settings.read(settings.extensions_off)
        report = extension_settings.report(settings, own)
        answers = asyncio.run(server_check.findings(settings)) if connect else []
    if as_json:
        rows = {
            setting_sources.variable(name): {"value": value, "from": report.origins.get(name)}
            for name, value in report.differing.items()
        }
        sentences = {"unknown": report.unknown, "unused": report.unused, "servers": answers}
        common.print_json({"settings": rows, **sentences})
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
