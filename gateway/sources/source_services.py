"""What the configuration and the synchronization of sources use."""

from dataclasses import dataclass

from gateway.settings.settings import Settings
from gateway.sources.source_kinds import SourceKinds
from gateway.stores import Stores
from index.documents.document_store import DocumentStore
from index.jobs.job_queue import JobQueue
from index.sources.source_store import SourceStore
from ingest.write.writer import Writer


@dataclass(frozen=True, slots=True)
class SourceServices:
    settings: Settings
    documents: DocumentStore
    sources: SourceStore
    jobs: JobQueue
    writer: Writer
    kinds: SourceKinds


def build(settings: Settings, stores: Stores, writer: Writer) -> SourceServices:
    return SourceServices(
        settings,
        stores.documents,
        stores.sources,
        stores.jobs,
        writer,
        SourceKinds(settings),
    )
