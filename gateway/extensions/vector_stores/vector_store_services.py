"""What OpenAI's vector stores and files use: documents, sources and a search, and file contents."""

from dataclasses import dataclass

from gateway.extension import DocumentServices, ReadLog, SearchServices, Settings
from index.documents.document_store import DocumentStore
from index.jobs.job_queue import JobQueue
from index.postgres.database import Database
from index.sources.source_store import SourceStore
from ingest.parse.extractors import Extractors
from ingest.write.writer import Writer


@dataclass(frozen=True, slots=True)
class VectorStoreServices:
    settings: Settings
    database: Database
    documents: DocumentStore
    sources: SourceStore
    jobs: JobQueue
    writer: Writer
    read_log: ReadLog
    extractors: Extractors
    search: SearchServices
    document_services: DocumentServices


def build(
    search: SearchServices, document_services: DocumentServices, extractors: Extractors
) -> VectorStoreServices:
    return VectorStoreServices(
        settings=document_services.settings,
        database=document_services.database,
        documents=document_services.documents,
        sources=document_services.sources,
        jobs=document_services.jobs,
        writer=document_services.writer,
        read_log=document_services.read_log,
        extractors=extractors,
        search=search,
        document_services=document_services,
    )
