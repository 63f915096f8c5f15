"""What OpenAI's vector stores and files use: documents and a search, and the texts of files."""

from dataclasses import dataclass

from gateway.extension import DocumentServices, SearchServices, Stores
from gateway.extensions._sources.source_store import SourceStore
from gateway.extensions.vector_stores.extractors import Extractors


@dataclass(frozen=True, slots=True)
class VectorStoreServices:
    stores: Stores
    sources: SourceStore
    search: SearchServices
    documents: DocumentServices
    extractors: Extractors
