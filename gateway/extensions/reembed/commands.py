"""`nearhit reembed` and `nearhit backfill`: vectors of another embedder, and missing ones."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from gateway.cli import common
from gateway.cli.common import AsJson

if TYPE_CHECKING:
    from gateway.extensions.reembed.reembedder import ReembedProgress

COMMANDS = typer.Typer()


@COMMANDS.command(rich_help_panel="Operation")
def reembed(
    to: Annotated[str, typer.Option(help="The new embedder, as in NEARHIT_EMBEDDER.")],
    tenant: Annotated[
        list[str] | None, typer.Option(help="A tenant to move; repeat for more. Default: all.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Move tenants to another embedder while searches and writers go on.

    First restart every gateway with NEARHIT_EMBEDDER_NEXT set to the new embedder.
    The command computes each tenant's new vectors beside the old ones and then switches in one
    step; searches never mix the two. An interrupted run continues where it stopped. When all
    tenants have moved, set NEARHIT_EMBEDDER to the new embedder and unset NEARHIT_EMBEDDER_NEXT.

        nearhit reembed --to multilingual --tenant acme
    """
    with common.connected() as settings:
        from rich.progress import TimeRemainingColumn

        from gateway.cli import operations
        from gateway.extensions._ingest import ingest_progress
        from gateway.extensions.reembed import tenant_moves

        next_settings = settings.model_copy(update={"embedder_next": to})
        console = common.progress_console(as_json=as_json)
        bars = ingest_progress.progress_bars(console, TimeRemainingColumn())

        def on_tenant(name: str, documents: int) -> "Callable[[ReembedProgress], None]":
            task = bars.add_task(escape(name), total=documents, status="")
            return lambda progress: bars.update(
                task, completed=progress.documents, status=f"{progress.embedded:,} embedded"
            )

        async def run() -> list[str]:
            async with (
                operations.acting_services(next_settings) as services,
                operations.retry_while_busy(next_settings) as database,
            ):
                return await tenant_moves.move(
                    services, database, tenant or [], on_tenant=on_tenant
                )

        with bars:
            moved_tenants = asyncio.run(run())
    text = f"moved to {to}: {', '.join(moved_tenants) or 'no tenant; all were there already'}"
    common.print_result(text, {"embedder": to, "tenants": moved_tenants}, as_json=as_json)


@COMMANDS.command(rich_help_panel="Operation")
def backfill(
    tenant: Annotated[
        list[str] | None, typer.Option(help="A tenant; repeat for more. Default: all.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Queue jobs that embed chunks without a vector; a worker runs them.

    nearhit backfill --tenant acme
    """
    with common.connected() as settings:
        from gateway.cli import operations
        from gateway.extensions.reembed.backfill_job import backfill_job
        from index.jobs.job_queue import JobQueue
        from index.tenants.tenant_store import TenantStore

        async def run() -> dict[str, str]:
            async with operations.open_database(settings) as database:
                jobs = JobQueue(database)
                return {
                    name: await jobs.enqueue_once(backfill_job(name, settings.job_attempts_max))
                    for name in await operations.resolve_tenants(
                        TenantStore(database), tenant or []
                    )
                }

        queued = asyncio.run(run())
    text = "\n".join(f"queued {job_id} for {name}" for name, job_id in queued.items())
    common.print_result(text or "nothing to embed", {"jobs": queued}, as_json=as_json)
