"""`nearhit reembed` and `nearhit backfill`: vectors of another embedder, and missing ones."""

import asyncio
from typing import Annotated

import typer

from gateway.cli import common
from gateway.cli.common import AsJson


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
        from gateway.operator import ingest_progress, operations

        next_settings = settings.model_copy(update={"embedder_next": to})
        with ingest_progress.reembedding(common.progress_console(as_json=as_json)) as on_tenant:
            moved_tenants = asyncio.run(
                operations.reembed(next_settings, tenant or [], on_tenant=on_tenant)
            )
    text = f"moved to {to}: {', '.join(moved_tenants) or 'no tenant; all were there already'}"
    common.print_result(text, {"embedder": to, "tenants": moved_tenants}, as_json=as_json)


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
        from gateway.operator import operations

        queued = asyncio.run(operations.backfill(settings, tenant or []))
    text = "\n".join(f"queued {job_id} for {name}" for name, job_id in queued.items())
    common.print_result(text or "nothing to embed", {"jobs": queued}, as_json=as_json)
