"""What the tools of the Model Context Protocol use."""

from dataclasses import dataclass

from common.shares.cache import FairCache
from gateway.lazy_module import LazyModule
from gateway.recording.opening_log import OpeningLog
from gateway.recording.read_log import ReadLog
from gateway.search.search_services import SearchServices
from gateway.settings.settings import Settings
from gateway.stores import Stores
from gateway.subscriptions.subscription_services import SubscriptionServices
from index.documents.document_store import DocumentStore


@dataclass(frozen=True, slots=True)
class McpServices:
    """tool_results: by an answer's key, its body and the tool result made from it.

    protocol: the protocol's package, whose import takes 0.7 s.
    """

    settings: Settings
    search: SearchServices
    documents: DocumentStore
    read_log: ReadLog
    openings: OpeningLog
    subscriptions: SubscriptionServices
    tool_results: FairCache[str, tuple[bytes, bytes]]
    protocol: LazyModule


def build(
    stores: Stores,
    search: SearchServices,
    subscriptions: SubscriptionServices,
    openings: OpeningLog,
) -> McpServices:
    settings = search.settings
    return McpServices(
        settings,
        search,
        stores.documents,
        search.read_log,
        openings,
        subscriptions,
        FairCache(
            settings.local_cache_bytes_max // 4, lambda result: len(result[0]) + len(result[1])
        ),
        LazyModule(f"{__package__}.protocol"),
    )
