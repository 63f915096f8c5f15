"""`nearhit ingest`: reads folders, files and repositories into a tenant."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gateway.cli import common
from gateway.cli.common import AsJson, Publish, console

if TYPE_CHECKING:  # these imports would slow `--help`
    from gateway.extension import Settings
    from gateway.extensions._ingest.ingest_paths import OpenedSource
    from gateway.extensions._sources.sync.pruning import PrunePolicy
    from gateway.extensions._sources.sync.report import Report

COMMANDS = typer.Typer()


@COMMANDS.command(rich_help_panel="Documents and questions")
def ingest(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH", exists=True, help="Folders and files.")
    ],
    *,
    tenant: Annotated[
        str, typer.Option(help="The tenant; created if it does not exist.")
    ] = "default",
    source: Annotated[
        str | None,
        typer.Option(
            help="Name of the source. Default: the name of the folder or file. A source that is "
            "read from another place is joined only if you name it here."
        ),
    ] = None,
    origin: Annotated[
        str | None,
        typer.Option(
            help="Name of the place that is read. Default: the machine and the path. Give the same "
            "name if one folder is read on several machines, in containers, or has moved."
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help="Kind of the path: folder, git, csv, parquet, faqs or conversations. Default: by "
            "its name."
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="FIELD=NAME: the column of a table that holds a field, if their names differ. "
            "Fields: id, title, text, uri, language, tags, owner, readers, chunker, summaries. "
            "Repeat for more."
        ),
    ] = None,
    owner: Annotated[str | None, typer.Option(help="Owner of documents that set none.")] = None,
    reader: Annotated[
        list[str] | None,
        typer.Option(
            help="Reader of documents that set none: user:ID, group:ID, tenant or public; repeat "
            "for more. Default: tenant."
        ),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="Tag of documents that set none; repeat for more.")
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="Language of documents that set none.")
    ] = None,
    chunker: Annotated[
        str | None,
        typer.Option(
            help="How documents that set none are split into chunks: structure, tokens:500/50, …"
        ),
    ] = None,
    summaries: Annotated[
        str,
        typer.Option(
            help="How long documents that set none are summarized: none, extract (sentences of the "
            "text) or model."
        ),
    ] = "none",
    base_url: Annotated[
        str,
        typer.Option(
            help="URL below which the documents open in a browser: their links are this and the "
            "path, unless a document sets its uri."
        ),
    ] = "",
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove documents that are no longer in the source.")
    ] = False,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            help="With --prune or --watch: also remove more than a fifth of the source's "
            "documents. Default: ask on a terminal, else keep them.",
        ),
    ] = False,
    allow_empty: Annotated[
        bool,
        typer.Option(
            "--allow-empty",
            help="With --prune or --watch: a path without any item may lose all its documents.",
        ),
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Follow changes of the folder until stopped.")
    ] = False,
    publish: Publish = False,
    as_json: AsJson = False,
) -> None:
    """Read documents into a tenant; only changed chunks are embedded.

    A folder gives a document per text, web page, office file, e-mail, notebook or file of source
    code; a table (CSV, TSV, Parquet) one per row; questions and answers (YAML, JSON) one per
    question; conversations (JSONL) one per line; a repository (--kind git) one per file at HEAD,
    per tag and per changelog entry.

    A file's front matter may set title, tags, readers, owner, language, chunker and summaries.
    An interrupted run can be repeated. Exits with 1 if an item was refused, or if documents that
    --prune would remove were kept.

        nearhit ingest ~/wiki --prune
    """
    if as_json and watch:
        raise typer.BadParameter("--watch reports until it is stopped", param_hint="--json")
    with common.connected() as settings:
        from gateway.cli import operations
        from gateway.extensions._files import installed_formats, read_options
        from gateway.extensions._ingest import (
            ingest_paths,
            ingest_progress,
            path_kinds,
            source_ingest,
        )
        from gateway.extensions._sources.kinds import suffixes
        from gateway.extensions._sources.source import Defaults
        from gateway.extensions._sources.sync.pruning import PrunePolicy

        kinds = path_kinds.path_kinds(settings.extensions_off)
        defaults = Defaults(
            owner,
            tuple(reader or ("tenant",)),
            tuple(tag or ()),
            language,
            settings.language,
            chunker,
            ingest_paths.summaries(summaries),
            ingest_paths.base_url(base_url),
            options=read_options.of(settings),
            formats=installed_formats.formats(settings.extensions_off),
            source_suffixes=suffixes(kinds.values()),
        )
        sources = ingest_paths.sources(
            paths,
            defaults,
            name=source,
            origin=origin,
            kind=kind,
            kinds=kinds,
            columns=column or [],
            prune=prune,
        )
        policy = PrunePolicy(None if yes else 0, allow_empty)
        if watch:
            folder, folder_origin = ingest_paths.one_folder(sources)
            on_report, on_failure = ingest_progress.watching(console, folder)
            asyncio.run(
                source_ingest.watch(
                    operations.acting_services(settings),
                    folder,
                    tenant,
                    folder_origin,
                    prune=policy,
                    on_report=on_report,
                    on_failure=on_failure,
                    on_new_tenant=common.show_new_tenant,
                    may_publish=publish,
                )
            )
            return
        reports = {}
        for opened in sources:
            name = opened.source.name
            reports[name] = _ingest(
                settings,
                opened,
                tenant,
                policy if prune else None,
                may_publish=publish,
                as_json=as_json,
            )
            if not as_json:
                ingest_progress.show(console, reports[name], name)
    if as_json:
        shown = [ingest_progress.as_json(report, name) for name, report in reports.items()]
        common.print_json({"sources": shown})
    raise typer.Exit(any(report.refused or report.pending for report in reports.values()))


def _ingest(
    settings: "Settings",
    opened: "OpenedSource",
    tenant: str,
    prune: "PrunePolicy | None",
    *,
    may_publish: bool,
    as_json: bool,
) -> "Report":
    """Read one source; on a terminal, ask before many documents are removed."""
    from gateway.cli import operations
    from gateway.extensions._ingest import ingest_progress, source_ingest

    read, origin = opened.source, opened.origin
    progress_console = common.progress_console(as_json=as_json)
    with ingest_progress.progress(progress_console, read) as on_item:
        report = asyncio.run(
            source_ingest.ingest(
                operations.acting_services(settings),
                read,
                tenant,
                origin,
                prune=prune,
                on_item=on_item,
                on_new_tenant=common.show_new_tenant,
                may_publish=may_publish,
            )
        )
    pending = report.pending
    asks = console.is_terminal and sys.stdin.isatty()
    if pending is not None and pending.because == "share" and asks:
        question = ingest_progress.pending_text(read.name, pending)
        if typer.confirm(f"{question} Remove them?", err=as_json):
            opening = operations.acting_services(settings)
            asyncio.run(source_ingest.remove_pending(opening, read, tenant, origin, report))
    return report
