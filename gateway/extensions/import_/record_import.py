"""`nearhit import --from STORE`: the records of another store become documents of a tenant."""

from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, assert_never, get_args
from urllib.parse import parse_qs, urlsplit

from common.billing_context import bill_to
from gateway.extension import CommandError, Services, TenantBody
from gateway.extensions._sources.source import Defaults
from gateway.extensions._sources.source_store import SourceStore
from gateway.extensions._sources.sync.dry_run import DryRunWriter
from gateway.extensions._sources.sync.report import Report
from gateway.extensions._sources.sync.source_sync import SourceWriter, read_items
from gateway.extensions.import_ import import_writer
from gateway.extensions.import_.import_writer import ImportWriter
from gateway.extensions.import_.readers.chroma import ChromaReader
from gateway.extensions.import_.readers.ndjson import NdjsonReader
from gateway.extensions.import_.readers.pgvector import PgvectorReader
from gateway.extensions.import_.readers.qdrant import QdrantReader
from gateway.extensions.import_.readers.record import RecordReader
from gateway.extensions.import_.record_mapping import ReaderKind, RecordMapping
from gateway.extensions.import_.record_source import RecordSource
from gateway.extensions.import_.target_tenant import create_if_missing
from index.documents.write_causes import Reading
from index.errors import TenantMissing
from index.search.query_embedder import Embedder

Store: TypeAlias = Literal["qdrant", "chroma", "pgvector", "ndjson"]

_SCHEMES = {
    "qdrant": ("http", "https"),
    "chroma": ("http", "https"),
    "pgvector": ("postgresql", "postgres"),
}


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The command's arguments.

    location: a URL, or a file of NDJSON. secret: a store's API key or password. columns: by field,
    the value of a record that holds it. defaults: of the documents.
    """

    store: Store
    location: str
    secret: str | None
    tenant: str
    defaults: Defaults
    collection: str | None = None
    space: str | None = None
    vector: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    drop: Collection[str] = ()
    reader_kind: str | None = None
    source: str | None = None
    dry_run: bool = False
    may_publish: bool = False


@dataclass(frozen=True, slots=True)
class VectorUse:
    """What an import does with the vectors of the records.

    space: the tenant's embedding space. lowest_cosine: of the compared vectors; None if no vector
    is used, and every text is embedded.
    """

    space: str
    lowest_cosine: float | None


def open_reader(options: ImportOptions) -> RecordReader:
    """Raises `CommandError`, also if no record could have a reader, and `NotImportable`."""
    _check_access(options)
    if options.store == "ndjson":
        return _open_file(options)
    _check_url(options)
    secret = options.secret
    if options.store != "pgvector" and secret is not None and not _is_header_value(secret):
        raise CommandError("NEARHIT_IMPORT_SECRET has characters that no API key has")
    if options.collection is None:
        kind = "table: NAME or SCHEMA.NAME" if options.store == "pgvector" else "collection"
        raise CommandError(f"set --collection to the name of the {kind}")
    where, with_vectors = (options.location, options.collection), options.space is not None
    match options.store:
        case "qdrant":
            return QdrantReader(
                *where, api_key=secret, with_vectors=with_vectors, vector=options.vector
            )
        case "chroma":
            if options.vector is not None:
                raise CommandError("--vector does not apply to Chroma: a record has one vector")
            return ChromaReader(*where, api_key=secret, with_vectors=with_vectors)
        case "pgvector":
            return PgvectorReader(
                *where, password=secret, with_vectors=with_vectors, vector=options.vector
            )
        case _:
            assert_never(options.store)


def open_source(options: ImportOptions, reader: RecordReader) -> RecordSource:
    """Reads the first records. Raises `CommandError` and `NotImportable`."""
    kind = _reader_kind(options.reader_kind, options.columns)
    mapping = RecordMapping(options.columns, frozenset(options.drop), kind)
    return RecordSource(reader, mapping, options.defaults, name=options.source)


async def import_records(
    services: Services,
    source: RecordSource,
    tenant: str,
    *,
    space: str | None,
    dry_run: bool,
    may_publish: bool,
    on_new_tenant: Callable[[str], None],
    on_vectors: Callable[[VectorUse], None],
    on_item: Callable[[Report], None],
) -> Report:
    """Write the source's documents to the tenant, which is created if it does not exist.

    space: of the records' vectors, which are used; None if every text is embedded.
    dry_run: compare the documents with the stored ones, and write nothing.
    may_publish: whether documents may be public; public ones are refused otherwise.
    on_new_tenant: is called with a tenant that was created, before anything is written to it.
    on_vectors: called before the first document.
    """
    body = TenantBody(id=tenant)
    tenants, documents = services.stores.tenants, services.stores.documents
    await _check_source(services, tenant, source.name)
    embedder = await _embedder(services, tenant)
    cosine = None
    if space is not None:
        _check_space(space, embedder.space, tenant)
        with bill_to(tenant) if await tenants.exists(tenant) else nullcontext():
            cosine = await import_writer.lowest_cosine(source, embedder, embedder.dimensions)
    on_vectors(VectorUse(embedder.space, cosine))
    writer: SourceWriter
    if dry_run:
        writer = DryRunWriter(documents)
    else:
        await create_if_missing(tenants, body.id, body.id, on_new_tenant)
        writer = ImportWriter(services.documents.writer, documents, source, embedder.space)
    report = await read_items(
        source.documents(None if space is None else embedder.dimensions),
        tenant,
        writer=writer,
        on_item=on_item,
        reading=Reading(await documents.next_sequence()),
        may_publish=may_publish,
    )
    for item in report.refused:
        source.refused.add(item)
    return report


async def _check_source(services: Services, tenant: str, name: str) -> None:
    """Raises `CommandError` for a source whose next reading could remove what is imported."""
    stored = await SourceStore(services.stores.database).get(tenant, name)
    if stored is not None and stored.kind is not None:
        raise CommandError(
            f"Nearhit reads a source {name} itself: choose another name by --source NAME"
        )


async def _embedder(services: Services, tenant: str) -> Embedder:
    """Of the tenant's space; of new tenants, if it has none yet. Raises `CommandError`."""
    embedders = services.worker.embedders
    try:
        space = await services.stores.documents.space(tenant)
    except TenantMissing:
        space = None
    if space is None:
        return embedders[0]
    for embedder in embedders:
        if embedder.space == space:
            return embedder
    raise CommandError(f"{tenant} has vectors of {space}, for which no embedder is configured here")


def _check_space(space: str, own: str, tenant: str) -> None:
    if space != own:
        raise CommandError(
            f"{tenant} has vectors of {own}, not of {space}. Leave --space out, so that all texts "
            f"are embedded, or first move the tenant with `nearhit reembed`"
        )


def _open_file(options: ImportOptions) -> NdjsonReader:
    if options.collection is not None:
        raise CommandError("--collection does not apply to a file")
    path = Path(options.location)
    if not path.is_file():
        raise CommandError(f"there is no file {path}")
    return NdjsonReader(path, vector=options.vector or "vector")


def _check_access(options: ImportOptions) -> None:
    """Raises `CommandError`. Lines of NDJSON may have readers without being mapped."""
    defaults, mapped = options.defaults, options.columns.keys()
    has_access = defaults.readers or defaults.owner or mapped & {"readers", "owner"}
    if not has_access and options.store != "ndjson":
        raise CommandError(
            "say who may read the documents: --reader tenant for the whole tenant, --reader "
            "group:ID or user:ID, --owner ID, or the value of a record by --column readers=NAME "
            "or --column owner=NAME"
        )


def _check_url(options: ImportOptions) -> None:
    """Raises `CommandError`, which repeats no part of a URL that may hold a secret."""
    try:
        url = urlsplit(options.location)
        has_secret = url.password is not None or any(
            "password" in key for key in parse_qs(url.query)
        )
    except ValueError:
        raise CommandError("the address is no URL") from None
    if has_secret or (url.username is not None and options.store != "pgvector"):
        raise CommandError(
            "the address holds a secret, which other users of the machine can see: set "
            "NEARHIT_IMPORT_SECRET to it, and leave it out of the address"
        )
    schemes = _SCHEMES[options.store]
    if url.scheme not in schemes:
        raise CommandError(f"the address of {options.store} must begin with {schemes[0]}://")


def _is_header_value(secret: str) -> bool:
    """Else the HTTP client would refuse the value, and quote it."""
    return secret.isascii() and secret.isprintable()


def _reader_kind(name: str | None, columns: Mapping[str, str]) -> ReaderKind | None:
    if name is None:
        return None
    if "readers" not in columns:
        raise CommandError("--reader-kind needs --column readers=NAME")
    for kind in get_args(ReaderKind):
        if kind == name:
            return kind  # type: ignore[no-any-return]
    raise CommandError(f"--reader-kind must be one of {', '.join(get_args(ReaderKind))}")
