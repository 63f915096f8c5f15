"""What a worker's jobs use."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from cache.invalidation.drain import Invalidation
from gateway.documents.document_services import DocumentServices
from gateway.monitoring.tracing import Tracing
from gateway.monitoring.work_metrics import WorkMetrics
from gateway.settings.settings import Settings
from gateway.stores import Stores
from gateway.worker.index_problem import IndexProblem
from index.invalidation.changes import ChangeSet
from index.search.query_embedder import Embedder
from ingest.worker.job_worker import Handler
from ingest.write.writer import Writer

# Of a tenant; the second argument says whether to repair what it finds.
Audit: TypeAlias = Callable[[str, bool], AsyncIterator[IndexProblem]]


@dataclass(frozen=True, slots=True)
class WorkerServices:
    """document_services: of the room whose jobs the worker runs.

    handlers, long_kinds, audits: of extensions; see `JobKind`.
    """

    settings: Settings
    metrics: WorkMetrics
    stores: Stores
    writer: Writer
    invalidation: Invalidation[ChangeSet]
    embedders: Sequence[Embedder]
    document_services: DocumentServices
    tracing: Tracing | None
    handlers: dict[str, Handler] = field(default_factory=dict)
    long_kinds: set[str] = field(default_factory=set)
    audits: list[Audit] = field(default_factory=list)

    def add_job(self, kind: str, handler: Handler, *, is_long: bool) -> None:
        self.handlers[kind] = handler
        if is_long:
            self.long_kinds.add(kind)


def build(
    settings: Settings,
    metrics: WorkMetrics,
    stores: Stores,
    embedders: Sequence[Embedder],
    document_services: DocumentServices,
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
        tracing,
    )
