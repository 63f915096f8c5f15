"""`nearhit config check` and `nearhit migrate`: what is done before a gateway starts."""

import asyncio
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from gateway.cli import common
from gateway.cli.common import AsJson, console

COMMANDS = typer.Typer()

_config = typer.Typer(no_args_is_help=True, help="Show and check settings.")
COMMANDS.add_typer(_config, name="config", rich_help_panel="Start")

_FOUND = 1  # what is to be done, or wrong


@_config.command("check")
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
        from gateway.cli import operations
        from gateway.extension import Settings, setting_sources
        from gateway.extensions.setup_commands import server_check

        settings = Settings()
        report = operations.check_settings(settings)
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


@COMMANDS.command(rich_help_panel="Operation")
def migrate(
    check: Annotated[
        bool, typer.Option("--check", help="Only show what is missing; exit with 1 if any is.")
    ] = False,
    merge_spellings: Annotated[
        bool,
        typer.Option(
            "--merge-spellings",
            help="Merge subjects, and groups, that differ by spelling alone: by case, for example.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Apply the schema's missing migrations, as each start of a gateway or worker does.

    Run it once before the first gateway of a new version starts, so that a
    long migration delays no start. Several may run at once; one applies, the
    others wait. Subjects and groups are brought to one spelling; where two
    would become one, nothing is changed and the list is shown. Run it again
    after the last process with another setting or version has stopped.

        nearhit migrate --check || nearhit migrate
    """
    with common.connected() as settings:
        from index.postgres.setup import migrate as migrations
        from index.postgres.setup import shipped_migrations
        from index.postgres.setup.identifier_spellings import IdentifierPolicy

        assert settings.database_url is not None, "`servers` sets it"
        url, shipped = settings.database_url.get_secret_value(), shipped_migrations.shipped()
        do = migrations.pending if check else migrations.migrate
        policy = IdentifierPolicy(settings.identifier_case, merge_spellings, looks_again=True)
        names = asyncio.run(
            do(
                url,
                shipped,
                allow_old_pgvector=settings.allow_old_pgvector,
                identifiers=policy,
            )
        )
    done, latest = "missing" if check else "applied", shipped[-1].name
    text = "\n".join(f"{done} {name}" for name in names)
    value = {done: names, "latest": latest}
    common.print_result(text or f"the schema is up to date: {latest}", value, as_json=as_json)
    raise typer.Exit(_FOUND if check and names else 0)
