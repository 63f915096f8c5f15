"""`nearhit import`: reads an exported tenant back, or the records of another store."""

import asyncio
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gateway.cli import common
from gateway.cli.common import AsJson, Publish, console
from gateway.errors import CommandError

if TYPE_CHECKING:
    from gateway.operator.record_import import ImportOptions
    from gateway.settings.settings import Settings


System = Literal["archive", "qdrant", "chroma", "pgvector", "ndjson"]


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
            from gateway.operator.record_import import ImportOptions
            from gateway.settings.settings import Settings

            options = ImportOptions(
                store=system,
                location=location,
                tenant=tenant,
                collection=collection,
                space=space,
                vector=vector,
                columns=column or (),
                drop=drop or (),
                readers=reader or (),
                reader_kind=reader_kind,
                owner=owner,
                tags=tag or (),
                language=language,
                source=source,
                dry_run=dry_run,
                may_publish=publish,
            )
            refused = _import_records(options, Settings(), as_json=as_json)
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
    if options:
        raise CommandError(f"{options[0]} needs --from qdrant, chroma, pgvector or ndjson")
    if "://" in location:
        raise CommandError("say what the URL is: --from qdrant, chroma or pgvector")
    if not Path(location).is_file():
        raise CommandError(f"there is no file {location}")


def _import_archive(file: Path, tenant: str, *, may_publish: bool, as_json: bool) -> int:
    """The number of refused lines."""
    with common.connected() as settings:
        from gateway.operator import export_import, ingest_progress
        from ingest.archive import Archive

        archive = Archive(file)
        total = archive.header.documents
        progress_console = common.progress_console(as_json=as_json)
        with ingest_progress.progress_of(progress_console, file.name, total) as on_item:
            report = asyncio.run(
                export_import.import_tenant(
                    settings, archive, tenant, on_item, may_publish=may_publish
                )
            )
        if as_json:
            common.print_json({"tenant": tenant} | ingest_progress.as_json(report, file.name))
        else:
            ingest_progress.show(console, report, tenant)
    return report.refused_items


def _import_records(options: "ImportOptions", settings: "Settings", *, as_json: bool) -> int:
    """The number of refused records. Raises `CommandError` if the reading ended early."""
    from gateway.operator import import_progress, record_import

    progress_console = common.progress_console(as_json=as_json)
    # The store is asked first: without it, no server of our own is started.
    with closing(record_import.open_reader(options, settings)) as reader:
        total = reader.count()
        source = record_import.open_source(options, settings, reader)
        with (
            common.servers(settings) as connected,
            import_progress.progress(progress_console, source, total) as on_item,
        ):
            report = asyncio.run(
                record_import.import_records(
                    connected,
                    source,
                    options.tenant,
                    space=options.space,
                    dry_run=options.dry_run,
                    may_publish=options.may_publish,
                    on_vectors=lambda use: import_progress.show_vector_use(progress_console, use),
                    on_item=on_item,
                )
            )
    if as_json:
        common.print_json(import_progress.as_json(report, source, options))
    else:
        import_progress.show(console, report, source, options)
    if source.failure is not None:
        raise CommandError(source.failure)
    return len(source.refused)
