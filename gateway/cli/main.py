"""The `nearhit` command."""

import asyncio
import contextlib
import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from gateway.cli import atomic_file, common, sigterm
from gateway.cli.administration import (
    audit_log_command,
    cache_command,
    dead_letters_command,
    jobs_command,
    keys_command,
    loadtest_command,
    migrate_command,
    status_command,
    tenant_command,
    verify_command,
)
from gateway.cli.common import AsJson, Subject, console
from gateway.cli.copies import backup_command, import_command, restore_command
from gateway.cli.documents import curation_command, ingest_command
from gateway.cli.start import config_command, mcp_command
from gateway.monitoring import process_log
from gateway.settings import Settings

if TYPE_CHECKING:  # slow to import, and `--help` does not need it
    from index.search.hits import Hit

# Panels of `nearhit --help`, in the order of what people do first.
_START, _CONTENT, _ACCESS = "Start", "Documents and questions", "Tenants and keys"
_OPERATION, _COPIES = "Operation", "Copies"

# What a command imports stays: to look for garbage after each 700 objects takes a fifth of the time
# of importing.
_ALLOCATIONS = 10_000

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,  # they may hold a key
    help="""Nearhit answers an AI agent's search in milliseconds, from exactly what it may read.

    Settings come from the environment (NEARHIT_…; `nearhit config check` shows them). Without
    NEARHIT_DATABASE_URL and NEARHIT_REDIS_URL, Nearhit starts its own PostgreSQL and Valkey
    in NEARHIT_DATA_DIR.

    Begin with: nearhit demo""",
)
audit_commands = typer.Typer(invoke_without_command=True)


def _show_version(is_asked: bool) -> None:  # noqa: FBT001  typer calls it
    if is_asked:
        console.print(process_log.VERSION)
        raise typer.Exit


@app.callback()
def nearhit(
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    gc.set_threshold(_ALLOCATIONS, *gc.get_threshold()[1:])


Tenant = Annotated[str, typer.Option(help="The tenant.")]
Groups = Annotated[list[str] | None, typer.Option("--group", help="A group; repeat for more.")]


@app.command(rich_help_panel=_START)
def demo() -> None:
    """Show searches, an edit and a revocation in half a minute, and remove all data at the end.

    nearhit demo
    """
    with common.errors():
        from gateway.cli.start.demo import run

        run(console)


@app.command(rich_help_panel=_START)
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[
        int | None, typer.Option(help="Port to listen on; 0: any free port.", min=0, max=65_535)
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes that serve requests.", min=1)
    ] = None,
    example: Annotated[
        bool, typer.Option("--example", help="Ingest the example handbook first.")
    ] = False,
) -> None:
    """Serve the HTTP API until stopped; requests in flight are finished first.

    On embedded servers it also creates a first tenant and key, and prints a curl command.

        nearhit serve --port 8080 --workers 4
    """
    options = {"host": host, "port": port, "workers": workers}
    with common.errors():
        from gateway.cli.start import serve_command

        settings = Settings().model_copy(
            update={name: value for name, value in options.items() if value is not None}
        )
        sigterm.exit_at_sigterm()  # until uvicorn handles it
        with common.servers(settings, own=True) as connected:
            serve_command.serve(
                connected, console, embedded=connected is not settings, example=example
            )


@app.command(rich_help_panel=_START)
def worker(
    interval_s: Annotated[
        float, typer.Option(help="Seconds between two maintenance runs.", min=0.1)
    ] = 10.0,
) -> None:
    """Run queued jobs, finish interrupted invalidations and build indexes of large tenants.

    Long documents wait for a worker. Run any number of workers. A killed worker loses nothing; a
    stopped worker finishes its jobs or releases them.

        nearhit worker --interval-s 5
    """
    with common.errors(), common.servers(Settings()) as settings:
        from gateway.monitoring import logs
        from gateway.operator import operations
        from gateway.tracing import spans

        processors = spans.log_processors(settings)
        logs.configure(settings.log_level, *processors, line_format=settings.log_format)
        asyncio.run(operations.work(settings, interval_s))


app.command(rich_help_panel=_CONTENT)(ingest_command.ingest)


@app.command(rich_help_panel=_OPERATION)
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
    with common.errors(), common.servers(Settings()) as settings:
        from gateway.operator import ingest_progress, operations

        next_settings = settings.model_copy(update={"embedder_next": to})
        with ingest_progress.reembedding(common.progress_console(as_json=as_json)) as on_tenant:
            moved_tenants = asyncio.run(
                operations.reembed(next_settings, tenant or [], on_tenant=on_tenant)
            )
    text = f"moved to {to}: {', '.join(moved_tenants) or 'no tenant; all were there already'}"
    common.print_result(text, {"embedder": to, "tenants": moved_tenants}, as_json=as_json)


@app.command(rich_help_panel=_OPERATION)
def backfill(
    tenant: Annotated[
        list[str] | None, typer.Option(help="A tenant; repeat for more. Default: all.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Queue jobs that embed chunks without a vector; a worker runs them.

    nearhit backfill --tenant acme
    """
    with common.errors(), common.servers(Settings()) as settings:
        from gateway.operator import operations

        queued = asyncio.run(operations.backfill(settings, tenant or []))
    text = "\n".join(f"queued {job_id} for {name}" for name, job_id in queued.items())
    common.print_result(text or "nothing to embed", {"jobs": queued}, as_json=as_json)


@audit_commands.callback()
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
    with common.errors(), common.servers(Settings()) as settings:
        from gateway.operator import audit_progress, operations

        with audit_progress.progress(common.progress_console(as_json=as_json)) as counts:
            asyncio.run(operations.audit(settings, tenant or [], on_entry=counts.add))
        if as_json:
            common.print_json(counts.as_json())
        else:
            audit_progress.show(console, counts)
    raise typer.Exit(1 if counts.differing else 0)


@audit_commands.command("index")
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
    with common.errors(), common.servers(Settings()) as settings:
        from gateway.operator import audit_progress, operations

        with audit_progress.index_progress(common.progress_console(as_json=as_json)) as counts:
            asyncio.run(operations.audit_index(settings, tenant or [], counts, repair=repair))
        if as_json:
            common.print_json(counts.as_json())
        else:
            audit_progress.show_problems(console, counts)
    raise typer.Exit(1 if counts.unrepaired else 0)


@app.command(rich_help_panel=_CONTENT)
def search(
    query: Annotated[str, typer.Argument(help="The question.")],
    tenant: Tenant = "default",
    subject: Subject = common.SUBJECT,
    group: Groups = None,
    top_k: Annotated[int, typer.Option(help="Maximum number of hits.", min=1, max=100)] = 5,
    as_json: AsJson = False,
) -> None:
    """Show the hits that a principal would get, directly from the index.

    nearhit search "how many days of annual leave?" --subject ana --group sales
    """
    with common.errors(), common.servers(Settings()) as settings:
        from gateway.operator import operations

        result = asyncio.run(
            operations.search(settings, tenant, subject, group or [], query, top_k)
        )
    if as_json:
        common.print_json({"hits": [_hit_fields(hit) for hit in result.hits]})
        return
    for rank, hit in enumerate(result.hits, start=1):
        console.print(f"[bold]{rank}. {escape(hit.title)}[/]  {hit.score:.3f}")
        place = hit.document_id if hit.tenant == tenant else f"{hit.document_id} of {hit.tenant}"
        console.print(f"[dim]{escape(place)} ({hit.scope_name})[/]", soft_wrap=True)
        console.print(hit.text, "", markup=False)
    if not result.hits:
        console.print("no hits that this principal may read")


def _hit_fields(hit: "Hit") -> dict[str, object]:
    return {
        "chunk_id": hit.chunk_id,
        "document_id": hit.document_id,
        "tenant": hit.tenant,
        "scope": hit.scope_name,
        "source": hit.source,
        "title": hit.title,
        "text": hit.text,
        "score": hit.score,
        "start": hit.start,
        "end": hit.end,
    }


@app.command(rich_help_panel=_COPIES)
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
    with common.errors(), common.servers(Settings()) as settings:
        from gateway.operator import export_import, ingest_progress

        status_console = Console(stderr=True, highlight=False)
        with (
            contextlib.nullcontext((None, sys.stdout.buffer))
            if to is None
            else atomic_file.writing(to) as (_, file),
            ingest_progress.exporting(status_console, tenant) as on_page,
        ):
            documents = asyncio.run(export_import.export_tenant(settings, tenant, file, on_page))
    if as_json:
        common.print_json({"tenant": tenant, "file": str(to), "documents": documents})
    else:
        status_console.print(f"exported {documents:,} documents of {tenant}", markup=False)


app.command("import", rich_help_panel=_COPIES)(import_command.import_documents)
app.add_typer(audit_commands, name="audit", rich_help_panel=_OPERATION)
app.command(rich_help_panel=_OPERATION)(verify_command.verify)
audit_commands.command("log")(audit_log_command.audit_log)
app.add_typer(curation_command.commands, name="curation", rich_help_panel=_CONTENT)
app.add_typer(jobs_command.commands, name="jobs", rich_help_panel=_OPERATION)
app.add_typer(dead_letters_command.commands, name="dead-letters", rich_help_panel=_OPERATION)
app.command(rich_help_panel=_OPERATION)(status_command.status)
app.command(rich_help_panel=_OPERATION)(status_command.usage)
app.command(rich_help_panel=_START)(mcp_command.mcp)
app.command(rich_help_panel=_OPERATION)(loadtest_command.loadtest)
app.command(rich_help_panel=_COPIES)(backup_command.backup)
app.command(rich_help_panel=_COPIES)(restore_command.restore)
app.command(rich_help_panel=_OPERATION)(migrate_command.migrate)
app.add_typer(config_command.commands, name="config", rich_help_panel=_START)
app.add_typer(cache_command.commands, name="cache", rich_help_panel=_OPERATION)
app.add_typer(tenant_command.commands, name="tenant", rich_help_panel=_ACCESS)
app.add_typer(keys_command.commands, name="key", rich_help_panel=_ACCESS)
