"""`nearhit export`, and `nearhit import` of such a file or of another store's records."""

import asyncio
import contextlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gateway.cli import common
from gateway.cli.common import AsJson, Publish, console
from gateway.extensions._commands import atomic_file

if TYPE_CHECKING:
    from typing import BinaryIO

    from gateway.extension import Settings
    from gateway.extensions._sources.sync.report import Report
    from gateway.extensions.import_.record_import import ImportOptions

COMMANDS = typer.Typer()

System = Literal["archive", "qdrant", "chroma", "pgvector", "ndjson"]


@COMMANDS.command(rich_help_panel="Copies")
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
    status_console = common.progress_console(as_json=True)
    with common.connected() as settings:
        from gateway.cli import operations
        from gateway.extensions._ingest import ingest_progress
        from gateway.extensions.import_.archive import archive_export

        async def run(file: "BinaryIO", on_page: Callable[[int, int], None]) -> int:
            async with operations.retry_while_busy(settings) as database:
                return await archive_export.export_tenant(database, tenant, file, on_page)

        with (
            contextlib.nullcontext((None, sys.stdout.buffer))
            if to is None
            else atomic_file.writing(to) as (_, file),
            ingest_progress.exporting(status_console, tenant) as on_page,
        ):
            documents = asyncio.run(run(file, on_page))
    if as_json:
        common.print_json({"tenant": tenant, "file": str(to), "documents": documents})
    else:
        status_console.print(f"exported {documents:,} documents of {tenant}", markup=False)


@COMMANDS.command("import", rich_help_panel="Copies")
def import_documents(
    context: typer.Context,
    location: Annotated[
        str,
        typer.Argument(
            metavar="FILE|URL",
            help="A file that `nearhit export` has written; with --from, a file of NDJSON, or the "
            "URL of a store: http://HOST:PORT, postgresql://USER@HOST/DATABASE.",
        ),
    ],
    *,
    tenant: Annotated[str, typer.Option(help="The tenant; created if it does not exist.")],
    system: Annotated[System, typer.Option("--from", help="What the file or URL is.")] = "archive",
    collection: Annotated[
        str | None,
        typer.Option(
            help="The collection of Qdrant or Chroma (NAME, or TENANT/DATABASE/NAME in Chroma), or "
            "the table of PostgreSQL (NAME or SCHEMA.NAME)."
        ),
    ] = None,
    space: Annotated[
        str | None,
        typer.Option(
            help="The embedding space of the records' vectors, which must be the tenant's: then "
            "they are used. Default: no vector is used, and every text is embedded."
        ),
    ] = None,
    vector: Annotated[
        str | None,
        typer.Option(
            help="The name of the vector, or the column of vectors, if there are several."
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="FIELD=NAME: the value of a record that holds a field. Fields: id, title, text, "
            "uri, language, tags, owner, readers, chunker, summaries. Repeat for more."
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(help="A value of the records to leave out; repeat for more."),
    ] = None,
    reader: Annotated[
        list[str] | None,
        typer.Option(
            help="Reader of records that set none: user:ID, group:ID, tenant or public; repeat for "
            "more. Default: nobody."
        ),
    ] = None,
    reader_kind: Annotated[
        str | None,
        typer.Option(
            help="user or group: what the records' readers are, if they are identifiers without "
            "a kind."
        ),
    ] = None,
    owner: Annotated[str | None, typer.Option(help="Owner of records that set none.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="Tag of records that set none; repeat for more.")
    ] = None,
    language: Annotated[str | None, typer.Option(help="Language of records that set none.")] = None,
    source: Annotated[
        str | None, typer.Option(help="Name of the source. Default: that of the collection.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be imported, and write nothing.")
    ] = False,
    publish: Publish = False,
    as_json: AsJson = False,
) -> None:
    """Read an exported tenant back, or with --from the records of another store.

    An archive: groups, sources and documents with their readers. Imported sources are paused.

    A store: each record becomes a document SOURCE/ID. Records need readers or an owner, from
    --column or as defaults. An API key or password is read from NEARHIT_IMPORT_SECRET.

    An interrupted import can be repeated: unchanged documents are neither embedded nor written
    again. Exits with 1 if a line or record was refused, or the end is missing.

        nearhit import acme.ndjson --tenant acme
    """
    with common.errors():
        if system == "archive":
            _check_archive(location, _options_given(context))
            refused = _import_archive(Path(location), tenant, may_publish=publish, as_json=as_json)
        else:
            from gateway.extension import Settings
            from gateway.extensions._ingest import ingest_paths
            from gateway.extensions._sources.source import Defaults
            from gateway.extensions.import_.import_settings import ImportSettings
            from gateway.extensions.import_.record_import import ImportOptions
            from gateway.extensions.import_.record_source import CHUNKER

            settings, own = Settings(), common.settings_of("import")
            assert isinstance(own, ImportSettings)
            readers, tags = tuple(reader or ()), tuple(tag or ())
            defaults = Defaults(owner, readers, tags, language, settings.language, CHUNKER)
            ingest_paths.require_valid(defaults)
            options = ImportOptions(
                store=system,
                location=location,
                secret=own.secret.get_secret_value() if own.secret else None,
                tenant=tenant,
                defaults=defaults,
                collection=collection,
                space=space,
                vector=vector,
                columns=dict(map(ingest_paths.parse_column, column or ())),
                drop=drop or (),
                reader_kind=reader_kind,
                source=source,
                dry_run=dry_run,
                may_publish=publish,
            )
            refused = _import_records(options, settings, as_json=as_json)
    raise typer.Exit(1 if refused else 0)


def _options_given(context: typer.Context) -> list[str]:
    """The options on the command line that only records have."""
    return [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name not in ("location", "tenant", "system", "publish", "as_json")
        and (given := context.get_parameter_source(str(parameter.name))) is not None
        and given.name == "COMMANDLINE"
    ]


def _check_archive(location: str, options: Sequence[str]) -> None:
    """Raises `CommandError`."""
    from gateway.extension import CommandError

    if options:
        raise CommandError(f"{options[0]} needs --from qdrant, chroma, pgvector or ndjson")
    if "://" in location:
        raise CommandError("say what the URL is: --from qdrant, chroma or pgvector")
    if not Path(location).is_file():
        raise CommandError(f"there is no file {location}")


def _import_archive(file: Path, tenant: str, *, may_publish: bool, as_json: bool) -> int:
    """The number of refused lines."""
    with common.connected() as settings:
        from gateway.cli import operations
        from gateway.extensions._ingest import ingest_progress
        from gateway.extensions.import_.archive.archive import Archive
        from gateway.extensions.import_.archive.archive_import import import_archive

        archive = Archive(file)
        total = archive.header.documents
        progress_console = common.progress_console(as_json=as_json)

        async def run(on_item: "Callable[[Report], None]") -> "Report":
            async with operations.acting_services(settings) as services:
                return await import_archive(
                    services,
                    archive,
                    tenant,
                    on_new_tenant=common.show_new_tenant,
                    on_item=on_item,
                    may_publish=may_publish,
                )

        with ingest_progress.progress_of(progress_console, file.name, total) as on_item:
            report = asyncio.run(run(on_item))
        if as_json:
            common.print_json({"tenant": tenant} | ingest_progress.as_json(report, file.name))
        else:
            ingest_progress.show(console, report, tenant)
    return report.refused_items


def _import_records(options: "ImportOptions", settings: "Settings", *, as_json: bool) -> int:
    """The number of refused records. Raises `CommandError` if the reading ended early."""
    from gateway.cli import operations
    from gateway.extension import CommandError
    from gateway.extensions._ingest import ingest_progress
    from gateway.extensions.import_ import import_progress, record_import

    progress_console = common.progress_console(as_json=as_json)

    async def run(connected: "Settings", on_item: "Callable[[Report], None]") -> "Report":
        async with operations.acting_services(connected) as services:
            return await record_import.import_records(
                services,
                source,
                options.tenant,
                space=options.space,
                dry_run=options.dry_run,
                may_publish=options.may_publish,
                on_new_tenant=common.show_new_tenant,
                on_vectors=lambda use: import_progress.show_vector_use(progress_console, use),
                on_item=on_item,
            )

    # The store is asked first: without it, no server of our own is started.
    with contextlib.closing(record_import.open_reader(options)) as reader:
        total = reader.count()
        source = record_import.open_source(options, reader)
        with (
            common.servers(settings) as connected,
            ingest_progress.progress_of(
                progress_console,
                source.name,
                total,
                items=lambda report: report.documents + len(source.refused),
            ) as on_item,
        ):
            report = asyncio.run(run(connected, on_item))
    if as_json:
        read = ingest_progress.as_json(report, source.name)
        common.print_json(read | import_progress.as_json(source, options))
    else:
        import_progress.show(console, report, source, options)
    if source.failure is not None:
        raise CommandError(source.failure)
    return len(source.refused)
