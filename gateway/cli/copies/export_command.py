"""`nearhit export`: writes a tenant as NDJSON, which `nearhit import` reads."""

import asyncio
import contextlib
import sys
from pathlib import Path
from typing import Annotated

import typer

from gateway.cli import atomic_file, common
from gateway.cli.safe_console import SafeConsole


def export(
    tenant: Annotated[str, typer.Argument(help="The tenant.")],
    to: Annotated[
        Path | None, typer.Option(help="The file. Default: standard output.", dir_okay=False)
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="With --to: write the number of documents as JSON.")
    ] = False,
) -> None:
    """Write a tenant's groups, sources and documents with their readers, as NDJSON.

    The export is a snapshot of one instant; searches and writers keep running. Keys are left out.
    The file is readable by its owner alone and appears once it is whole and on disk; a run that
    fails leaves an existing file as it is.

        nearhit export acme --to acme.ndjson
    """
    if as_json and to is None:
        raise typer.BadParameter("standard output holds the export: give --to", param_hint="--json")
    with common.connected() as settings:
        from gateway.operator import ingest_progress, tenant_export

        status_console = SafeConsole(stderr=True, highlight=False)
        with (
            contextlib.nullcontext((None, sys.stdout.buffer))
            if to is None
            else atomic_file.writing(to) as (_, file),
            ingest_progress.exporting(status_console, tenant) as on_page,
        ):
            documents = asyncio.run(tenant_export.export_tenant(settings, tenant, file, on_page))
    if as_json:
        common.print_json({"tenant": tenant, "file": str(to), "documents": documents})
    else:
        status_console.print(f"exported {documents:,} documents of {tenant}", markup=False)
