"""What a worker's jobs use."""

from collections.abc import Sequence
from dataclasses import dataclass

from cache.invalidation import Invalidation
from gateway.documents.document_services import DocumentServices
from gateway.settings import Settings
from gateway.sources.source_services import SourceServices
from gateway.stores import Stores
from index.invalidation.changes import ChangeSet
from index.search.query_embedder import Embedder
from ingest.write.writer import Writer


@dataclass(frozen=True, slots=True)
class WorkerServices:
    """document_services, source_services: of the rooms whose jobs the worker runs."""

    settings: Settings
    stores: Stores
    writer: Writer
    invalidation: Invalidation[ChangeSet]
    embedders: Sequence[Embedder]
    document_services: DocumentServices
    source_services: SourceServices


def build(
    settings: Settings,
    stores: Stores,
    embedders: Sequence[Embedder],
    document_services: DocumentServices,
    source_services: SourceServices,
) -> WorkerServices:
    return WorkerServices(
        settings,
        stores,
        document_services.writer,
        document_services.invalidation,
        embedders,
        document_services,
        source_services,
    )
