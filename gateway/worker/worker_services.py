"""What a worker's jobs use."""

from collections.abc import Sequence
from dataclasses import dataclass

from cache.invalidation.drain import Invalidation
from gateway.documents.document_services import DocumentServices
from gateway.monitoring.work_metrics import WorkMetrics
from gateway.settings.settings import Settings
from gateway.sources.source_services import SourceServices
from gateway.stores import Stores
from gateway.tracing.tracing import Tracing
from index.invalidation.changes import ChangeSet
from index.search.query_embedder import Embedder
from ingest.write.writer import Writer


@dataclass(frozen=True, slots=True)
class WorkerServices:
    """document_services, source_services: of the rooms whose jobs the worker runs."""

    settings: Settings
    metrics: WorkMetrics
    stores: Stores
    writer: Writer
    invalidation: Invalidation[ChangeSet]
    embedders: Sequence[Embedder]
    document_services: DocumentServices
    source_services: SourceServices
    tracing: Tracing | None


def build(
    settings: Settings,
    metrics: WorkMetrics,
    stores: Stores,
    embedders: Sequence[Embedder],
    document_services: DocumentServices,
    source_services: SourceServices,
    tracing: Tracing | None,
) -> WorkerServices:
    return WorkerServices(
        settings,
        metrics,
        stores,
        document_services.writer,
        document_services.invalidation,
        embedders,
        document_services,
        source_services,
        tracing,
    )
