"""What searches use."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from cache.answers import Answers
from cache.lookup import ServedAnswer
from common.shares.threads import FairThreads
from common.version import VERSION
from gateway.caching.cache_services import CacheServices
from gateway.caching.question_similarity import QuestionSimilarity
from gateway.monitoring.metrics import Metrics
from gateway.rag.lazy_rag_tools import LazyRagTools
from gateway.recording.answer_log import AnswerLog
from gateway.recording.read_log import ReadLog
from gateway.regions.standby import Standby
from gateway.search import embedders as configured_embedders
from gateway.search.cache_audit import CacheAuditor
from gateway.search.response_headers import Header
from gateway.search.schemas.search_schemas import SearchBody
from gateway.search.search_parser import SearchParser
from gateway.search.search_request import SearchRequest, build_search_request
from gateway.search.shard_auditor import ShardAuditor
from gateway.settings.settings import Settings
from gateway.stores import Stores
from index.resident import shard_comparison
from index.resident.building.shard_folder import ShardFolder
from index.resident.resident_shards import ResidentShards
from index.search.query_embedder import Embedder
from index.search.searcher import Searcher
from index.search.sight_reader import SightReader
from index.tenants.principals import Principal

# Called with the request's body, the request and its answer; gives a header of the response.
HeaderMaker: TypeAlias = Callable[[bytes, SearchRequest, ServedAnswer], Awaitable[Header]]

SHARD_AUDIT_S = 600.0  # between two comparisons of a tenant; a starting value, not measured
_FAST_EMBEDDERS = {"static", "test"}  # faster than a lookup in Redis
_CHEAP_EMBEDDERS = {*_FAST_EMBEDDERS, "multilingual"}  # than comparing a question with others


@dataclass(frozen=True, slots=True)
class SearchServices:
    """spaces:   of the vectors of this gateway's embedders.
    preferred_headers: of extensions, by the preference that asks for one.
    """

    settings: Settings
    metrics: Metrics
    stores: Stores
    searcher: Searcher
    sights: SightReader
    shards: ResidentShards
    answers: Answers
    similarity: QuestionSimilarity
    auditor: CacheAuditor
    shard_auditor: ShardAuditor
    rag_tools: LazyRagTools
    read_log: ReadLog
    answer_log: AnswerLog
    parser: SearchParser
    spaces: tuple[str, ...]
    preferred_headers: dict[str, HeaderMaker] = field(default_factory=dict)

    def request_of(self, principal: Principal, body: SearchBody) -> SearchRequest:
        return self.parser.request_of(principal, body)


def build(
    settings: Settings,
    metrics: Metrics,
    stores: Stores,
    caches: CacheServices,
    embedders: Sequence[Embedder],
    index_name: str,
    rag_tools: LazyRagTools,
    read_log: ReadLog,
    standby: Standby | None,
    *,
    answer_log: AnswerLog,
    threads: FairThreads,
) -> SearchServices:
    query_vector_caches = {
        embedder.space: caches.models.vectors
        for name, embedder in zip(configured_embedders.names(settings), embedders, strict=False)
        if configured_embedders.kind(name) not in _FAST_EMBEDDERS
    }

    def searcher(shards: ResidentShards | None) -> Searcher:
        return Searcher(
            stores.database,
            *embedders,
            query_vector_caches=query_vector_caches,
            score_min=settings.confidence_min,
            shards=shards,
            standby=standby,
            in_region=settings.region is not None,
        )

    nearest = stores.database if standby is None else standby.database
    version = f"{VERSION} {index_name}"
    shards = ResidentShards(
        nearest,
        bytes_max=settings.shard_bytes_max,
        chunks_max=settings.shard_chunks_max,
        on_event=metrics.shard_event,
        threads=threads,
        folder=_shard_folder(settings, version),
    )
    request_of = partial(
        build_search_request,
        edition=f"{version} {settings.confidence_min}",
        postprocessors=rag_tools.postprocessor_names,
        compares_all=settings.semantic_searches == "all"
        or not _CHEAP_EMBEDDERS.issuperset(
            map(configured_embedders.kind, configured_embedders.names(settings))
        ),
    )
    share = settings.cache_audit_per_mille / 1000
    return SearchServices(
        settings=settings,
        metrics=metrics,
        stores=stores,
        searcher=searcher(shards),
        sights=SightReader(nearest, threads),
        shards=shards,
        answers=caches.answers,
        similarity=caches.similarity,
        auditor=CacheAuditor(
            searcher(None),
            caches.answers,
            shards,
            stores.visible_documents,
            metrics.cache_event,
            rag_tools.threads,
            share=share,
        ),
        shard_auditor=ShardAuditor(
            partial(shard_comparison.compare, nearest),
            shards,
            caches.answers,
            stores.tenants.invalidate_partition,
            metrics.cache_event,
            every_s=SHARD_AUDIT_S,
        ),
        rag_tools=rag_tools,
        read_log=read_log,
        answer_log=answer_log,
        parser=SearchParser(request_of),
        spaces=tuple(embedder.space for embedder in embedders),
    )


def _shard_folder(settings: Settings, edition: str) -> ShardFolder | None:
    if settings.shard_folder is None:
        return None
    return ShardFolder(settings.shard_folder, edition, settings.shard_bytes_max)
