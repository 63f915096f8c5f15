"""`nearhit tenant` and `nearhit cache`: the operator manages tenants and what is cached."""

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from common.command_errors import CommandError
from gateway.cli import common
from gateway.cli.common import AsJson, format_instant

if TYPE_CHECKING:
    from gateway.extension import Settings
    from gateway.extensions.tenants.tenant_overview import TenantSummary
    from index.postgres.database import Database

_LISTED_MAX = 10_000

COMMANDS = typer.Typer()

_cache = typer.Typer(no_args_is_help=True)
_tenants = typer.Typer(no_args_is_help=True, help="Tenants.")
COMMANDS.add_typer(_cache, name="cache", rich_help_panel="Operation")
COMMANDS.add_typer(_tenants, name="tenant", rich_help_panel="Tenants and keys")


@_tenants.command("delete")
def delete_tenant(
    tenant: Annotated[str, typer.Argument(help="The tenant's identifier.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete a tenant with all its data. Its keys are refused at once; a worker does the rest.

    nearhit tenant delete acme
    """
    with common.connected() as settings:
        from gateway.cli import operations
        from index.tenants.tenant_deletion import TenantDeletion

        async def require() -> None:
            async with operations.open_database(settings) as database:
                await operations.require_tenant(database, tenant)

        async def close() -> str:
            async with operations.open_database(settings) as database:
                closed = await TenantDeletion(database).close(tenant)
            if closed is None:
                raise CommandError(f"there is no tenant {tenant}")
            return closed.job_id

        if not yes:
            asyncio.run(require())
            question = f"Delete {tenant} and all its documents permanently?"
            typer.confirm(question, abort=True, err=as_json)
        job_id = asyncio.run(close())
    common.print_result(f"queued {job_id}", {"job_id": job_id}, as_json=as_json)


@_tenants.command("list")
def list_tenants(as_json: AsJson = False) -> None:
    """List the tenants and what they store.

    nearhit tenant list --json
    """

    async def run(database: "Database") -> "list[TenantSummary]":
        from gateway.extensions.tenants.tenant_overview import TenantOverview

        month = datetime.now(UTC).date().replace(day=1)
        return await TenantOverview(database).page(after="", limit=_LISTED_MAX, month=month)

    def cells(row: "TenantSummary") -> list[str]:
        stored = (row.stored.documents, row.stored.chunks, row.stored.bytes)
        state = "is being deleted" if row.is_being_deleted else ""
        amounts = [*(f"{amount:,}" for amount in stored), f"{row.month.cost:,.2f}"]
        return [row.tenant, row.name, format_instant(row.created_at), *amounts, state]

    names = ("tenant", "name", "created", "documents", "chunks", "bytes", "cost_month", "state")
    common.print_rows(common.run_on_database(run), cells, names, "no tenants", as_json=as_json)


@_tenants.command("clear-cache")
def clear_cache(
    tenant: Annotated[str, typer.Argument(help="The tenant's identifier.")],
    as_json: AsJson = False,
) -> None:
    """End all cached answers of a tenant, in every process; they are computed again.

    nearhit tenant clear-cache acme
    """

    async def run(database: "Database") -> int:
        from index.tenants.tenant_store import TenantStore

        revision = await TenantStore(database).invalidate(tenant)
        if revision is None:
            raise CommandError(f"there is no tenant {tenant}")
        return revision

    revision = common.run_on_database(run)
    text = f"cleared; answers begin anew at revision {revision:,}"
    common.print_result(text, {"tenant": tenant, "revision": revision}, as_json=as_json)


@_tenants.command("create")
def create_tenant(
    tenant: Annotated[str, typer.Argument(help="The tenant's identifier: a-z, 0-9, - and _.")],
    name: Annotated[str, typer.Option(help="A name for people.")] = "",
    as_json: AsJson = False,
) -> None:
    """Create a tenant.

    nearhit tenant create acme --name "Acme Ltd"
    """

    async def run(database: "Database") -> None:
        from gateway.extension import TenantBody
        from index.tenants.tenant_store import TenantStore

        body = TenantBody(id=tenant, name=name)
        if not await TenantStore(database).create(body.id, body.name or body.id):
            raise CommandError(f"there is a tenant {tenant} already")

    common.run_on_database(run)
    value = {"id": tenant, "name": name}
    common.print_result(f"created tenant {tenant}", value, as_json=as_json)


@_cache.callback()
def cache() -> None:
    """Cached outputs of models."""


@_cache.command("clear-models")
def clear_models(as_json: AsJson = False) -> None:
    """End all cached vectors of questions and rewritten questions, of all tenants.

    Redis forgets them at once, and each gateway within 15 seconds. Cached answers stay; `nearhit
    tenant clear-cache` ends those of a tenant.

        nearhit cache clear-models
    """

    async def run(settings: "Settings") -> None:
        from cache.errors import CacheUnavailable
        from gateway.extension import model_caches, open_redis

        async with open_redis(settings) as store:
            try:
                await model_caches(lambda _event: None, store).clear()
            except CacheUnavailable as error:
                raise CommandError(f"Redis: {error}") from None

    common.run(run)
    common.print_result("cleared", {"cleared": True}, as_json=as_json)
