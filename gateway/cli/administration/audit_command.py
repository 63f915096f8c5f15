"""`nearhit audit` and `nearhit audit index`: what is stored, compared with what it was made of."""

import asyncio
from typing import Annotated

import typer

from gateway.cli import common
from gateway.cli.common import AsJson, console

commands = typer.Typer(invoke_without_command=True)


@commands.callback()
def audit(
    context: typer.Context,
    tenant: Annotated[
        list[str] | None, typer.Option(help="A tenant to audit; repeat for more. Default: all.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Recompute every cached answer at the same revisions and compare it byte for byte.

    Searches and writers may keep running. A differing answer is dropped. Exits with 1 if any
    differs.

        nearhit audit --tenant acme
    """
    if context.invoked_subcommand is not None:
        return
    with common.connected() as settings:
        from gateway.operator import audit_progress, operations

        with audit_progress.progress(common.progress_console(as_json=as_json)) as counts:
            asyncio.run(operations.audit(settings, tenant or [], on_entry=counts.add))
        if as_json:
            common.print_json(counts.as_json())
        else:
            audit_progress.show(console, counts)
    raise typer.Exit(1 if counts.differing else 0)


@commands.command("index")
def audit_index(
    tenant: Annotated[
        list[str] | None, typer.Option(help="A tenant to audit; repeat for more. Default: all.")
    ] = None,
    repair: Annotated[bool, typer.Option("--repair", help="Repair what can be repaired.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare the index with its texts, its vectors with the embedder, documents with sources.

    Searches and writers may keep running. A repair embeds only missing vectors. Exits with 1 if a
    problem remains unrepaired.

        nearhit audit index --tenant acme --repair
    """
    with common.connected() as settings:
        from gateway.operator import audit_progress, operations

        with audit_progress.index_progress(common.progress_console(as_json=as_json)) as counts:
            asyncio.run(operations.audit_index(settings, tenant or [], counts, repair=repair))
        if as_json:
            common.print_json(counts.as_json())
        else:
            audit_progress.show_problems(console, counts)
    raise typer.Exit(1 if counts.unrepaired else 0)
