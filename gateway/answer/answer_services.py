"""What generated answers use: a search, the language model, and the cache of its texts."""

from dataclasses import dataclass

from cache.answers import Answers
from common.processes.worker_pool import WorkerPool
from gateway.answer.revalidation import RevalidationServices
from gateway.caching.cache_services import CacheServices
from gateway.caching.change_feed import ChangeLogFeed
from gateway.monitoring.metrics import Metrics
from gateway.rag.conversation_compressor import ConversationCompressor
from gateway.rag.lazy_rag_tools import LazyRagTools
from gateway.search.search_services import SearchServices
from gateway.settings.settings import Settings
from gateway.stores import Stores
from index.invalidation.changes import ChangeLog
from index.search.confidence import ConfidenceStore


@dataclass(frozen=True, slots=True)
class AnswerServices:
    """texts: the cached texts of the language model; see `text_cache`."""

    settings: Settings
    metrics: Metrics
    search: SearchServices
    rag_tools: LazyRagTools
    texts: Answers
    confidences: ConfidenceStore
    compressors: WorkerPool[ConversationCompressor]
    revalidation: RevalidationServices


def build(
    stores: Stores,
    caches: CacheServices,
    search: SearchServices,
    compressors: WorkerPool[ConversationCompressor],
) -> AnswerServices:
    return AnswerServices(
        search.settings,
        search.metrics,
        search,
        search.rag_tools,
        caches.texts,
        stores.confidences,
        compressors,
        RevalidationServices(
            search,
            # The primary: a revocation is not acknowledged later for a standby that is behind.
            ChangeLogFeed(ChangeLog(stores.database), stores.tenants),
            stores.documents,
        ),
    )
