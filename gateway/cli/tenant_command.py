"""`nearhit tenant`: the operator creates and deletes tenants."""

import asyncio
from typing import Annotated

import typer

from gateway.cli import common
from gateway.cli.common import console
from gateway.settings import Settings

commands = typer.Typer(no_args_is_help=True, help="Tenants.")


@commands.command("delete")
def delete_tenant(
    tenant: Annotated[str, typer.Argument(help="The tenant's identifier.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Delete a tenant with all its data. Its keys are refused at once; a worker does the rest."""
    if not yes:
        typer.confirm(f"Delete {tenant} and all its documents permanently?", abort=True)
    with common.errors(), common.servers(Settings()) as settings:
        from gateway.operator import operations

        job_id = asyncio.run(operations.delete_tenant(settings, tenant))
    console.print(f"queued {job_id}", markup=False)


@commands.command("create")
def create_tenant(
    tenant: Annotated[str, typer.Argument(help="The tenant's identifier: a-z, 0-9, - and _.")],
    name: Annotated[str, typer.Option(help="A name for people.")] = "",
) -> None:
    """Create a tenant."""
    with common.errors(), common.servers(Settings()) as settings:
        from gateway.operator import operations

        asyncio.run(operations.create_tenant(settings, tenant, name))
    console.print(f"created tenant {tenant}", markup=False)
