"""What generated answers use: a search, and the language model."""

from dataclasses import dataclass

from gateway.metrics import Metrics
from gateway.rag.lazy_rag_tools import LazyRagTools
from gateway.search.search_services import SearchServices
from gateway.settings import Settings
from gateway.stores import Stores
from index.search.confidence import ConfidenceStore


@dataclass(frozen=True, slots=True)
class AnswerServices:
    settings: Settings
    metrics: Metrics
    search: SearchServices
    rag_tools: LazyRagTools
    confidences: ConfidenceStore


def build(stores: Stores, search: SearchServices) -> AnswerServices:
    return AnswerServices(
        search.settings, search.metrics, search, search.rag_tools, stores.confidences
    )
