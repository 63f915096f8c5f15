"""What the configuration and the synchronization of sources use."""

import time
from dataclasses import dataclass

from gateway.settings.settings import Settings
from gateway.stores import Stores
from index.documents.document_store import DocumentStore
from index.jobs.job_queue import JobQueue
from index.sources.source_store import SourceStore
from index.sources.web_page_store import WebPageStore
from ingest.web.host_rates import HostRates
from ingest.write.writer import Writer


@dataclass(frozen=True, slots=True)
class SourceServices:
    settings: Settings
    documents: DocumentStore
    sources: SourceStore
    web_pages: WebPageStore
    jobs: JobQueue
    writer: Writer
    host_rates: HostRates


def build(settings: Settings, stores: Stores, writer: Writer) -> SourceServices:
    return SourceServices(
        settings,
        stores.documents,
        stores.sources,
        WebPageStore(stores.database),
        stores.jobs,
        writer,
        HostRates(time.monotonic),
    )
