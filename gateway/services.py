"""The composition root: the only place that builds things out of settings."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import metadata

import structlog
from cachetools import LRUCache
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.driver_info import DriverInfo

from cache.answers import Answers
from cache.embedding_cache import EmbeddingCache
from cache.errors import CacheUnavailable
from cache.invalidation import Invalidation
from cache.local_cache import LocalCache
from cache.rate_limit import RateLimit, RateLimiter
from cache.redis.breaker import RedisBreaker
from cache.redis.store import RedisStore
from cache.registry_replica import RegistryReplicas
from cache.revision_reader import RevisionReader
from cache.semantic.bucket_stats import BucketStats
from cache.semantic.semantic_tier import SemanticTier
from gateway import llm
from gateway.admin.read_log import ReadLog
from gateway.admin.usage_meter import OPERATIONS, UsageMeter
from gateway.auth import web_tokens
from gateway.auth.authenticator import Authenticator, digest_of, utc_now
from gateway.auth.web_tokens import WebTokenReader
from gateway.errors import CommandError
from gateway.http.address import ClientAddresses
from gateway.http.admission import AdmissionControl
from gateway.http.body import BodyLimits
from gateway.http.deadlines import Deadlines
from gateway.http.failures import FailureLimiter
from gateway.metrics import Metrics
from gateway.rag import lazy_rag_tools
from gateway.rag.lazy_rag_tools import LazyRagTools
from gateway.rag.postprocessor_names import PostprocessorNames
from gateway.search.cache_audit import CacheAuditor
from gateway.search.change_feed import ChangeLogFeed, Watched
from gateway.search.embedders import names
from gateway.search.metered_embedder import MeteredEmbedder
from gateway.search.question_similarity import BucketLedger, QuestionSimilarity
from gateway.search.search_request import SearchRequest
from gateway.settings import Settings
from index.audit.audit_log import AuditLog
from index.audit.audit_schedule import AuditSchedule
from index.documents.document_store import DocumentStore
from index.documents.event_versions import EventVersionStore
from index.documents.source_store import SourceStore
from index.embedders import index_version
from index.embedders.index_version import IndexVersion
from index.invalidation.changes import ChangeLog, ChangeSet
from index.invalidation.reverse_search import ReverseIndex
from index.jobs.job_queue import JobQueue
from index.postgres import database, migrate
from index.postgres.database import Database
from index.postgres.pooler import Pooler
from index.search.confidence import ConfidenceStore
from index.search.searcher import Embedder, Searcher
from index.tenants.curation import LowConfidenceStore
from index.tenants.principals import PrincipalStore
from index.tenants.query_gate_store import QueryGateStore
from index.tenants.semantic_bucket_store import SemanticBucketStore
from index.tenants.tenant_store import TenantRevisions, TenantStore
from index.tenants.usage import UsageStore
from index.text import lexical
from ingest.parse.extractors import Extractors
from ingest.write.llm_preprocessing import LlmPreprocessor
from ingest.write.writer import Writer

_REDIS_CONNECTIONS_MAX = 32  # a worker's; a starting value, not measured
_UNDERSTOOD_MAX = 1_000  # search bodies; with the longest bodies 64 MB, usually 2
_QUICK = {"static", "hashing"}  # embedders that are quicker than a look at Redis
_UNLEARN_PAUSES = 12  # of a job: about a minute, whose deletions are then one reading
# Of writes, which have no deadline of ours; it ends what a lost connection left running.
_STATEMENT_TIMEOUT_S = 30.0

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Services:
    """All that a request may use; one for each worker.

    edition: of answers: another version of Nearhit, or another generation, gives other ones.
    tool_results: by the key of an answer, its body and what the tool `search` makes of it.
    """

    settings: Settings
    admin_digest: bytes | None
    metrics: Metrics
    deadlines: Deadlines
    database: Database
    tenants: TenantStore
    principals: PrincipalStore
    documents: DocumentStore
    jobs: JobQueue
    event_versions: EventVersionStore
    sources: SourceStore
    usage: UsageStore
    audits: AuditSchedule
    audit_log: AuditLog
    read_log: ReadLog
    usage_meter: UsageMeter
    confidences: ConfidenceStore
    curation: LowConfidenceStore
    query_gates: QueryGateStore
    rag_tools: LazyRagTools
    postprocessors: PostprocessorNames
    embedders: Sequence[Embedder]
    index_version: IndexVersion
    edition: str
    store: RedisStore
    authenticator: Authenticator
    admission: AdmissionControl
    addresses: ClientAddresses
    failures: FailureLimiter
    body_limits: BodyLimits
    parsed_searches: LRUCache[tuple[bytes, bytes], SearchRequest]
    tool_results: LRUCache[str, tuple[bytes, bytes]]
    answers: Answers
    invalidation: Invalidation[ChangeSet]
    similarity: QuestionSimilarity
    bucket_store: BucketLedger
    auditor: CacheAuditor
    searcher: Searcher
    extractors: Extractors
    writer: Writer


@asynccontextmanager
async def open_services(
    settings: Settings, metrics: Metrics, *embedders: Embedder
) -> AsyncIterator[Services]:
    """Everything, connected and migrated; both URLs have to be set. The first embedder is for new
    tenants.

    Raises `DatabaseUnavailable`, `MigrationRefused`, `PgvectorRefused`, `RoleRefused`,
    `PoolerRefused`, `GenerationMismatch` and `NotPossible`.
    """
    assert settings.database_url is not None, "the command sets it when it starts its own server"
    assert settings.redis_url is not None, "the command sets it when it starts its own server"
    url = settings.database_url.get_secret_value()
    await migrate.migrate(url, migrate.shipped(), allow_old_pgvector=settings.allow_old_pgvector)
    redis = _redis(settings.redis_url.get_secret_value())
    async with (
        redis,
        database.connect(
            url,
            connections_max=settings.database_connections,
            statement_timeout_s=_STATEMENT_TIMEOUT_S,
            search_timeout_s=settings.deadline_s,
            observe=metrics.statement,
            logged=settings.audit_log != "off",
            pooler=pooler(settings),
            parallel_builds=not settings.allow_old_pgvector,
        ) as connected,
        web_tokens.open_client(settings, time.monotonic) as foreign,
    ):
        spending = _spending(settings, connected)
        metrics.on_tokens = spending.tokens
        timed = [MeteredEmbedder(embedder, metrics, spending.check) for embedder in embedders]
        made_with = await index_version.check_or_create(connected, *timed)
        await asyncio.to_thread(lexical.load, await TenantStore(connected).languages())
        assistant = await asyncio.to_thread(
            llm.make_preprocessor, settings, metrics, spending.check
        )
        services = _build_services(
            settings, metrics, connected, redis, timed, made_with, spending, assistant, foreign
        )
        await _say_what_eviction_does(services.store)
        async with (
            spending.background_flush(),
            services.authenticator.background_flush(),
            services.read_log.background_flush(),
            services.rag_tools.lifespan(),
            services.extractors,
        ):
            yield services
        await services.answers.drain_background()
        await services.auditor.drain_background()


def _build_services(
    settings: Settings,
    metrics: Metrics,
    connected: Database,
    redis: Redis,
    embedders: Sequence[Embedder],
    made_with: IndexVersion,
    spending: UsageMeter,
    assistant: LlmPreprocessor,
    foreign: WebTokenReader | None,
) -> Services:
    tenants = TenantStore(connected)
    documents = DocumentStore(connected, unlearn_s=_UNLEARN_PAUSES * settings.job_pause_s)
    principals = PrincipalStore(connected)
    revisions: RevisionReader[TenantRevisions] = RevisionReader(
        Watched(tenants, metrics.cache_event), time.monotonic
    )
    store = RedisStore(
        redis,
        RedisBreaker(time.monotonic),
        prefix=settings.cache_prefix,
        budget_s=settings.cache_budget_s,
        lifetime_s=settings.cache_lifetime_s,
        entries_max=settings.cache_entries,
    )
    mirrors = RegistryReplicas(store, ReverseIndex)
    truth = ChangeLogFeed(ChangeLog(connected), tenants)
    invalidation = Invalidation(store, mirrors, truth, metrics.cache_event, metrics.drain)
    judge = QuestionSimilarity(settings.language)
    ledger = BucketLedger(
        SemanticBucketStore(connected), made_with.name, settings.semantic_error_max
    )
    semantic = SemanticTier(store, mirrors, judge, BucketStats(ledger, time.monotonic))
    memory = LocalCache(settings.cache_memory_bytes)
    answers = Answers(memory, store, invalidation, semantic, metrics.cache_event)
    vectors = EmbeddingCache(
        store, metrics.cache_event, size_bytes_max=settings.cache_memory_bytes // 8
    )
    searcher = Searcher(
        connected,
        *embedders,
        query_vector_caches={
            embedder.space: vectors
            for name, embedder in zip(names(settings), embedders, strict=False)
            if name not in _QUICK
        },
        score_min=settings.confidence_min,
    )
    share = settings.audit_per_mille / 1000
    audit_log = AuditLog(connected)
    curation = LowConfidenceStore(connected)
    return Services(
        settings=settings,
        admin_digest=digest_of(settings.admin_key.get_secret_value().encode())
        if settings.admin_key
        else None,
        metrics=metrics,
        deadlines=Deadlines(),
        database=connected,
        tenants=tenants,
        principals=principals,
        documents=documents,
        jobs=JobQueue(connected),
        event_versions=EventVersionStore(connected),
        sources=SourceStore(connected),
        usage=UsageStore(connected),
        audits=AuditSchedule(connected),
        audit_log=audit_log,
        read_log=ReadLog(audit_log, time.time, is_on=settings.audit_log == "all"),
        usage_meter=spending,
        confidences=ConfidenceStore(connected),
        curation=curation,
        query_gates=QueryGateStore(connected),
        rag_tools=LazyRagTools(settings, metrics, store, spending.check, curation),
        postprocessors=lazy_rag_tools.postprocessor_names(settings),
        embedders=embedders,
        index_version=made_with,
        edition=f"{metadata.version('nearhit')} {made_with.name} {settings.confidence_min}",
        store=store,
        authenticator=Authenticator(
            principals,
            foreign,
            revisions,
            utc_now,
            settings.staleness_s_max,
            settings.credential_staleness_s_max,
        ),
        admission=AdmissionControl(
            {
                name: RateLimiter(store, RateLimit(per_s, math.ceil(2 * per_s)), time.monotonic)
                for name, per_s in (("key", settings.rate_key), ("tenant", settings.rate_tenant))
                if per_s
            },
            requests_max=settings.requests_max,
            tenant_requests_max=settings.tenant_requests_max,
            body_bytes_max=settings.body_memory_bytes,
            tenant_body_bytes_max=settings.tenant_body_memory_bytes,
        ),
        addresses=ClientAddresses(settings.trusted_proxies, settings.trusted_proxy_header),
        failures=FailureLimiter(settings.rate_address, time.monotonic),
        body_limits=BodyLimits(
            settings.body_deadline_s, settings.body_grace_s, settings.body_rate_min
        ),
        parsed_searches=LRUCache(_UNDERSTOOD_MAX),
        tool_results=LRUCache(
            settings.cache_memory_bytes // 4, lambda made: len(made[0]) + len(made[1])
        ),
        answers=answers,
        auditor=CacheAuditor(searcher, answers, metrics.cache_event, share=share),
        invalidation=invalidation,
        similarity=judge,
        bucket_store=ledger,
        searcher=searcher,
        extractors=Extractors(settings.extract_processes),
        writer=Writer(
            documents,
            embedders[0],
            invalidation,
            *embedders[1:],
            preprocessor=assistant,
            chunk_counter=spending,
        ),
    )


def _spending(settings: Settings, connected: Database) -> UsageMeter:
    return UsageMeter(
        UsageStore(connected),
        utc_now,
        prices={
            "query": settings.price_embedding,
            "batch": settings.price_embedding,
            **{f"{name}_read": settings.price_chat_read for name in OPERATIONS},
            **{f"{name}_written": settings.price_chat_written for name in OPERATIONS},
        },
        budget=settings.budget_month,
    )


def pooler(settings: Settings) -> Pooler | None:
    """What connections go by, if not straight to the server."""
    if settings.pooler_url is None or settings.pooler_search_url is None:
        return None
    return Pooler(
        settings.pooler_url.get_secret_value(), settings.pooler_search_url.get_secret_value()
    )


async def _say_what_eviction_does(store: RedisStore) -> None:
    """No policy makes an answer stale; some forget more than they need to."""
    try:
        policy = await store.eviction_policy()
    except CacheUnavailable as away:
        log.warning("redis", state="away", detail=str(away))
        return
    if policy == "noeviction":
        log.warning("redis", policy=policy, detail="once it is full, no answer is stored")
    elif policy.startswith("allkeys"):
        log.warning("redis", policy=policy, detail="a tenant's state may go before its answers do")


def _redis(url: str) -> Redis:
    try:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=_REDIS_CONNECTIONS_MAX,
            retry=Retry(NoBackoff(), 1),  # once more, for a connection that the server has closed
            # Else each new connection reads the package's version from disk, on the event loop.
            driver_info=DriverInfo(name=None, lib_version=None),
        )
    except ValueError as error:
        raise CommandError(f"NEARHIT_REDIS_URL: {error}") from None
    return Redis.from_pool(pool)
