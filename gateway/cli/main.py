"""The `nearhit` command."""

import asyncio
import contextlib
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from gateway.cli import (
    audit_log_command,
    common,
    curation_command,
    jobs_command,
    keys_command,
    loadtest_command,
    mcp_command,
    restore_command,
    status_command,
)
from gateway.cli.common import console
from gateway.settings import Settings

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,  # they may hold a key
    help="""Nearhit answers an AI agent's search in milliseconds, from exactly what it may read.

    Settings come from the environment (NEARHIT_…; see docs/reference/settings.md). With no
    NEARHIT_DATABASE_URL and no NEARHIT_REDIS_URL, Nearhit starts its own PostgreSQL and
    Valkey in NEARHIT_DATA_DIR.""",
)
audit_commands = typer.Typer(invoke_without_command=True)
tenant_commands = typer.Typer(no_args_is_help=True, help="Tenants.")
app.add_typer(audit_commands, name="audit")
audit_commands.command("log")(audit_log_command.audit_log)
app.add_typer(curation_command.commands, name="curation")
app.add_typer(jobs_command.commands, name="jobs")
app.command()(status_command.status)
app.command()(status_command.usage)
app.command()(mcp_command.mcp)
app.command()(loadtest_command.loadtest)
app.command()(restore_command.restore)
app.add_typer(tenant_commands, name="tenant")
app.add_typer(keys_command.commands, name="key")

Tenant = Annotated[str, typer.Option(help="The tenant.")]
Subject = Annotated[str, typer.Option(help="The subject (the user's identifier).")]
Groups = Annotated[list[str] | None, typer.Option("--group", help="A group; repeat for more.")]


@app.command()
def demo() -> None:
    """Show it all in half a minute: ask, edit, ask again, revoke, ask again; leaves nothing."""
    with common.errors():
        from gateway.cli.demo import run

        run(console)


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[
        int | None, typer.Option(help="Port to listen on; 0 takes a free one.", min=0, max=65_535)
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes that serve requests.", min=1)
    ] = None,
    example: Annotated[
        bool, typer.Option("--example", help="Ingest the example handbook first.")
    ] = False,
) -> None:
    """Serve the HTTP API until stopped; requests in flight are finished first.

    On its own servers it also makes a tenant and a key to begin with, and prints a curl line.
    """
    named = {"host": host, "port": port, "workers": workers}
    with common.errors():
        from gateway.cli import serve_command

        settings = Settings().model_copy(
            update={name: value for name, value in named.items() if value is not None}
        )
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # until uvicorn takes it over
        with common.servers(settings, own=True) as connected:
            serve_command.serve(
                connected, console, embedded=connected is not settings, example=example
            )


@app.command()
def worker(
    every_s: Annotated[float, typer.Option(help="Seconds between two sweeps.", min=0.1)] = 10.0,
) -> None:
    """Do what is queued, finish what others left unfinished, and tend large tenants' indexes.

    Documents too long to be written at once wait for a worker. Run as many as you like; one that is
    killed loses nothing, and one that is stopped finishes what it is at, or gives it back.
    """
    with common.errors(), common.servers(Settings()) as settings:
        from gateway import logs
        from gateway.operator import operations

        logs.configure(settings.log_level)
        asyncio.run(operations.work(settings, every_s))


@app.command()
def ingest(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH", exists=True, help="Folders and files.")
    ],
    *,
    tenant: Tenant = "default",
    source: Annotated[
        str | None, typer.Option(help="Name of the source; the folder's or file's name if absent.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help="What the path is: folder, git, csv, parquet, faqs or conversations. By its "
            "name if absent."
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="FIELD=NAME: the column of a table that holds a field, where it is not called so: "
            "id, title, text, uri, language, tags, owner, readers, cut, summaries. Repeat for more."
        ),
    ] = None,
    owner: Annotated[str | None, typer.Option(help="Owner of documents that name none.")] = None,
    reader: Annotated[
        list[str] | None,
        typer.Option(
            help="Reader of documents that name none: user:ID, group:ID, tenant or public; repeat "
            "for more. The whole tenant if absent."
        ),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="Tag of documents that name none; repeat for more.")
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="Language of documents that name none.")
    ] = None,
    cut: Annotated[
        str | None,
        typer.Option(help="How texts are cut where they don't say: structure, tokens:500/50, …"),
    ] = None,
    summaries: Annotated[
        str,
        typer.Option(
            help="Who sums up long documents and sections that don't say: none, extract (their own "
            "sentences) or model."
        ),
    ] = "none",
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove documents that are no longer in the source.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep in step with the folder until stopped.")
    ] = False,
) -> None:
    """Read documents into a tenant; only what changed is paid for.

    A folder gives its Markdown, text, HTML, PDF and DOCX files; a table (CSV, TSV, Parquet) a
    document a row; questions and answers (YAML, JSON) one each; conversations (JSONL) one a line; a
    repository (--kind git) its files at HEAD, its tags and its changelog.

    Title, tags, readers, owner, language, cut and summaries may stand in each file's front matter.
    What is stopped goes on where it was. Exits with 1 if anything was refused.
    """
    with common.errors(), common.servers(Settings()) as settings:
        from gateway.operator import ingest_paths as named
        from gateway.operator import ingest_progress, operations
        from ingest.sources.source import Defaults

        defaults = Defaults(
            owner,
            tuple(reader or ("tenant",)),
            tuple(tag or ()),
            language or settings.language,
            cut,
            named.summaries(summaries),
        )
        sources = named.sources(
            paths, defaults, name=source, kind=kind, columns=column or [], prune=prune
        )
        if watch:
            folder = named.one_folder(sources)
            on_report, on_failure = ingest_progress.watching(console, folder)
            asyncio.run(
                operations.watch(
                    settings, folder, tenant, on_report=on_report, on_failure=on_failure
                )
            )
            return
        refused = 0
        for each in sources:
            with ingest_progress.progress(console, each) as on_item:
                report = asyncio.run(
                    operations.ingest(settings, each, tenant, prune=prune, on_item=on_item)
                )
            ingest_progress.show(console, report)
            refused += len(report.refused)
    raise typer.Exit(1 if refused else 0)


@app.command()
def reembed(
    to: Annotated[
        str, typer.Option(help="The embedder to move to: static, openai or onnx:FOLDER.")
    ],
    tenant: Annotated[
        list[str] | None, typer.Option(help="A tenant to move; repeat for more. All if absent.")
    ] = None,
) -> None:
    """Move tenants to another embedder while searches and writers go on.

    First let every gateway know both: restart them with NEARHIT_EMBEDDER_NEXT set to the new one.
    Each tenant's vectors are made beside the old ones and then switched at once; searches never mix
    the two. What is interrupted goes on where it stopped. When all have moved, set NEARHIT_EMBEDDER
    to the new one and unset NEARHIT_EMBEDDER_NEXT.
    """
    with common.errors(), common.servers(Settings()) as settings:
        from gateway.operator import ingest_progress, operations

        coming = settings.model_copy(update={"embedder_next": to})
        with ingest_progress.reembedding(console) as on_tenant:
            moved = asyncio.run(operations.reembed(coming, tenant or [], on_tenant=on_tenant))
    console.print(f"moved to {to}: {', '.join(moved) or 'nothing, all are there already'}")


@app.command()
def backfill(
    tenant: Annotated[
        list[str] | None, typer.Option(help="A tenant; repeat for more. All if absent.")
    ] = None,
) -> None:
    """Queue the embedding of all that has no vector in its tenant's space; a worker does it."""
    with common.errors(), common.servers(Settings()) as settings:
        from gateway.operator import operations

        for name, job_id in asyncio.run(operations.backfill(settings, tenant or [])).items():
            console.print(f"{job_id} will do it for {name}", markup=False)


@audit_commands.callback()
def audit(
    context: typer.Context,
    tenant: Annotated[
        list[str] | None, typer.Option(help="A tenant to audit; repeat for more. All if absent.")
    ] = None,
) -> None:
    """Compute every cached answer anew and compare: byte for byte, at the same revisions.

    Searches and writers may go on. An answer that differs is dropped. Exits with 1 if any did.
    """
    if context.invoked_subcommand is not None:
        return
    with common.errors(), common.servers(Settings()) as settings:
        from gateway.operator import audit_progress, operations

        with audit_progress.progress(console) as counts:
            asyncio.run(operations.audit(settings, tenant or [], on_entry=counts.add))
        audit_progress.show(console, counts)
    raise typer.Exit(1 if counts.others else 0)


@audit_commands.command("index")
def audit_index(
    tenant: Annotated[
        list[str] | None, typer.Option(help="A tenant to audit; repeat for more. All if absent.")
    ] = None,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what can be mended.")] = False,
) -> None:
    """Hold the index against its own texts, its vectors against its embedder, all against sources.

    Searches and writers may go on. Mending pays only for vectors that were never paid for, or are
    lost. Exits with 1 if a flaw is left.
    """
    with common.errors(), common.servers(Settings()) as settings:
        from gateway.operator import audit_progress, operations

        with audit_progress.flaws(console) as flaws:
            asyncio.run(operations.audit_index(settings, tenant or [], flaws, repair=repair))
        audit_progress.show_flaws(console, flaws)
    raise typer.Exit(1 if flaws.left else 0)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="The question.")],
    tenant: Tenant = "default",
    subject: Subject = "operator",
    group: Groups = None,
    top_k: Annotated[int, typer.Option(help="How many hits at most.", min=1, max=100)] = 5,
) -> None:
    """Show what a principal would find, straight from the index."""
    with common.errors(), common.servers(Settings()) as settings:
        from gateway.operator import operations

        found = asyncio.run(operations.search(settings, tenant, subject, group or [], query, top_k))
    for place, hit in enumerate(found.hits, start=1):
        console.print(f"[bold]{place}. {escape(hit.title)}[/]  {hit.score:.3f}")
        console.print(f"[dim]{escape(hit.document_id)}[/]", soft_wrap=True)
        console.print(hit.text, "", markup=False)
    if not found.hits:
        console.print("nothing found that this principal may read")


@app.command()
def export(
    tenant: Annotated[str, typer.Argument(help="The tenant.")],
    to: Annotated[
        Path | None, typer.Option(help="The file; standard output if absent.", dir_okay=False)
    ] = None,
) -> None:
    """Write a tenant's groups, sources and documents with their readers, as NDJSON.

    All is as of one instant; searches and writers go on. Keys are left out.
    """
    with common.errors(), common.servers(Settings()) as settings:
        from gateway.operator import export_import, ingest_progress

        told = Console(stderr=True, highlight=False)
        with (
            contextlib.nullcontext(sys.stdout.buffer) if to is None else to.open("wb") as file,
            ingest_progress.exporting(told, tenant) as on_page,
        ):
            done = asyncio.run(export_import.export_tenant(settings, tenant, file, on_page))
    told.print(f"exported {done:,} documents of {tenant}", markup=False)


@app.command("import")
def import_tenant(
    file: Annotated[
        Path, typer.Argument(help="What `nearhit export` has written.", exists=True, dir_okay=False)
    ],
    tenant: Annotated[str, typer.Option(help="The tenant, which is made if there is none.")],
) -> None:
    """Read an exported tenant back; what is there already costs nothing.

    What is broken off can be begun again. Sources come in paused. Exits with 1 if a line was
    refused, or the end is missing.
    """
    with common.errors(), common.servers(Settings()) as settings:
        from gateway.operator import export_import, ingest_progress
        from ingest.archive import Archive

        archive = Archive(file)
        total = archive.header.documents
        with ingest_progress.progress_of(console, file.name, total) as on_item:
            report = asyncio.run(export_import.import_tenant(settings, archive, tenant, on_item))
        ingest_progress.show(console, report)
    raise typer.Exit(1 if report.refused else 0)


@tenant_commands.command("delete")
def delete_tenant(
    tenant: Annotated[str, typer.Argument(help="Its identifier.")],
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
) -> None:
    """Delete a tenant with all that it has. Its keys stop at once; a worker does the rest."""
    if not yes:
        typer.confirm(f"Delete {tenant} with all its documents, for good?", abort=True)
    with common.errors(), common.servers(Settings()) as settings:
        from gateway.operator import operations

        job_id = asyncio.run(operations.delete_tenant(settings, tenant))
    console.print(f"{job_id} will do it", markup=False)


@tenant_commands.command("create")
def create_tenant(
    tenant: Annotated[str, typer.Argument(help="Its identifier: a-z, 0-9, - and _.")],
    name: Annotated[str, typer.Option(help="Its name, for people.")] = "",
) -> None:
    """Create a tenant."""
    with common.errors(), common.servers(Settings()) as settings:
        from gateway.operator import operations

        asyncio.run(operations.create_tenant(settings, tenant, name))
    console.print(f"created tenant {tenant}", markup=False)
