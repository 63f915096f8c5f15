"""The composition root: opens PostgreSQL and Redis, and joins what each room builds for itself."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from pydantic import BaseModel

from cache.redis.store import RedisStore
from cache.revision_reader import RevisionReader
from cache.singleflight import Singleflight
from common.suspend_aware_clock import suspend_aware_s
from gateway.auth import authenticator
from gateway.auth.authenticator import WebTokenVerifier
from gateway.auth.web_token_kind import WebTokens
from gateway.background.warm_up import WarmUp, load_word_lists
from gateway.caching import cache_services
from gateway.caching.cache_services import CacheServices
from gateway.caching.model_caches import ModelCaches
from gateway.caching.question_tier import ConfiguredQuestionTier
from gateway.caching.redis_cache import log_failures, open_redis, require_permissions
from gateway.caching.region import OpenRegion, RegionProcess, no_region
from gateway.documents import document_services
from gateway.documents.document_services import DocumentServices, MakePreprocessor
from gateway.http import http_services
from gateway.http.http_services import HttpServices
from gateway.http.mcp_declarations import McpMethod, McpTool
from gateway.http.route import ApiRoute
from gateway.monitoring import tracing as traces
from gateway.monitoring.metrics import Metrics
from gateway.monitoring.state_sampler import StateSampler
from gateway.monitoring.tracing import MakeTracing, Tracing
from gateway.recording.answer_log import AnswerLog
from gateway.recording.read_log import AccessRecorders, OpenAccessLog, ReadLog
from gateway.recording.usage_meter import OpenUsageMeter, UsageMeter, no_usage_meter
from gateway.search import search_services
from gateway.search.metered_embedder import MeteredEmbedder
from gateway.search.reranker_kinds import ConfiguredReranker
from gateway.search.search_services import SearchServices
from gateway.search.search_steps import OpenSearchSteps, SearchSteps, StepParts
from gateway.search.search_threads import postprocessing_threads, search_threads
from gateway.settings.settings import Settings
from gateway.stores import Stores
from gateway.worker import worker_services
from gateway.worker.worker_services import WorkerServices
from index.embedders import index_version
from index.model.identifiers import use_case
from index.postgres import database
from index.postgres.database import Database
from index.postgres.pooler import Pooler
from index.postgres.session import ObserveStatement
from index.postgres.setup import migrate, shipped_migrations
from index.postgres.setup.identifier_spellings import IdentifierPolicy
from index.search.query_embedder import Embedder
from index.tenants.tenant_store import TenantRevisions, TenantStore
from index.text.word_lists import analysed_languages
from ingest.write.planning_process import planning_pool

# Bounds a write, which has no deadline, so that the statement of a lost connection ends.
_STATEMENT_TIMEOUT_S = 30.0
# Of questions' vectors, and of rewritten questions; the lifetime holds in Redis too.
_MODEL_CACHE_BYTES_MAX, _MODEL_CACHE_LIFETIME_S = 8_388_608, 86_400.0

Contribution = TypeVar("Contribution")


@dataclass(frozen=True, slots=True)
class Services:
    """The services of each room, in one worker process, and of each extension by its name.

    readiness: the probe of PostgreSQL that is under way.
    routes: all calls of the API, where it is served.
    mcp_methods, mcp_tools: of extensions, by name, each with the services that it gets.
    contributions: of extensions to others, each with the settings of its own.
    """

    settings: Settings
    stores: Stores
    http: HttpServices
    caches: CacheServices
    search: SearchServices
    documents: DocumentServices
    worker: WorkerServices
    usage_meter: UsageMeter
    warm_up: WarmUp
    state_sampler: StateSampler
    contributions: Sequence[tuple[object, BaseModel]]
    readiness: Singleflight[bool] = field(default_factory=Singleflight)
    routes: list[ApiRoute[Any]] = field(default_factory=list)
    extensions: dict[str, Any] = field(default_factory=dict)
    mcp_methods: dict[str, tuple[McpMethod[Any], Any]] = field(default_factory=dict)
    mcp_tools: dict[str, tuple[McpTool[Any], Any]] = field(default_factory=dict)

    def contributed(self, kind: type[Contribution]) -> list[tuple[Contribution, Any]]:
        """The contributions of a type, each with the settings of its extension."""
        return [(each, own) for each, own in self.contributions if isinstance(each, kind)]


@dataclass(frozen=True, slots=True)
class Brought:
    """What extensions bring to these services, as the settings name it.

    reranker: None for the heuristic. open_steps: None if no search may ask for steps.
    fields_off: see `SearchServices`.
    make_preprocessor: None if no language model chunks and summarises documents.
    make_tracing: None if nothing is traced. web_tokens: None if none are taken.
    open_access_log: None if neither reads nor refused requests are recorded.
    question_tier: None if no question gets the answer of another.
    open_region: what writes wait for, and reads answer by. contributions: see `Services`.
    """

    reranker: ConfiguredReranker | None = None
    open_steps: OpenSearchSteps | None = None
    fields_off: Mapping[str, str] = field(default_factory=dict)
    make_preprocessor: MakePreprocessor | None = None
    make_tracing: MakeTracing | None = None
    web_tokens: WebTokens | None = None
    open_access_log: OpenAccessLog | None = None
    open_usage_meter: OpenUsageMeter = no_usage_meter
    question_tier: ConfiguredQuestionTier | None = None
    open_region: OpenRegion = no_region
    contributions: Sequence[tuple[object, BaseModel]] = ()


_NOTHING = Brought()


@asynccontextmanager
async def open_services(
    settings: Settings,
    metrics: Metrics,
    *embedders: Embedder,
    brought: Brought = _NOTHING,
) -> AsyncIterator[Services]:
    """All services, connected, on a migrated database; both URLs must be set.

    embedders: the first is for new tenants.
    Raises `DatabaseUnavailable`, `MigrationRefused`, `PrerequisitesMissing`, `RoleRefused`,
    `PoolerRefused`, `IndexVersionMismatch` and `CommandError`.
    """
    assert settings.database_url is not None, "the command sets it when it starts its own server"
    url = settings.database_url.get_secret_value()
    use_case(settings.identifier_case)
    await migrate.migrate(
        url,
        shipped_migrations.shipped(),
        allow_old_pgvector=settings.allow_old_pgvector,
        identifiers=IdentifierPolicy(settings.identifier_case),
    )
    async with (
        traces.opened(brought.make_tracing) as tracing,
        open_redis(settings, metrics.cache_event) as store,
        brought.open_region(settings) as region_process,
        database.connect(
            url,
            connections_max=settings.database_connections,
            statement_timeout_s=_STATEMENT_TIMEOUT_S,
            search_timeout_s=settings.deadline_s,
            observe=_observe_statement(metrics, tracing),
            announce=region_process.announce,
            logged=settings.audit_log != "off",
            pooler=pooler(settings),
            parallel_builds=not settings.allow_old_pgvector,
            ahead=region_process.ahead,
        ) as connected,
    ):
        log_failures(await require_permissions(store))
        async with (
            brought.open_usage_meter(settings, metrics, connected) as usage,
            _join_rooms(
                settings,
                metrics,
                connected,
                store,
                tracing,
                usage,
                brought,
                region_process,
                *embedders,
            ) as services,
        ):
            yield services


@asynccontextmanager
async def _join_rooms(
    settings: Settings,
    metrics: Metrics,
    connected: Database,
    store: RedisStore,
    tracing: Tracing | None,
    usage: UsageMeter,
    brought: Brought,
    region_process: RegionProcess,
    *embedders: Embedder,
) -> AsyncIterator[Services]:
    stores = Stores.of(connected, settings, partial(metrics.cache_event, "went_back"))
    metrics.on_tokens = usage.tokens
    metered = [MeteredEmbedder(each, metrics, usage.check, tracing) for each in embedders]
    index_name = (await index_version.check_or_create(connected, *metered)).name
    languages = await TenantStore(connected).languages()
    await asyncio.to_thread(analysed_languages.load_stored)
    await asyncio.to_thread(analysed_languages.load, languages)
    preprocessor = None
    if brought.make_preprocessor is not None:
        preprocessor = await asyncio.to_thread(
            brought.make_preprocessor, settings, metrics, usage.check
        )
    answer_log = AnswerLog(time.time)
    metrics.collect = answer_log.tell
    open_access_log: AbstractAsyncContextManager[AccessRecorders] = nullcontext(AccessRecorders())
    if brought.open_access_log is not None:
        open_access_log = brought.open_access_log(settings, stores, answer_log)
    models = model_caches(metrics.cache_event, store)
    postprocessing = postprocessing_threads()
    open_steps: AbstractAsyncContextManager[SearchSteps | None] = nullcontext()
    if brought.open_steps is not None:
        open_steps = brought.open_steps(
            StepParts(
                settings,
                brought.reranker,
                metrics,
                stores,
                models.rewrites,
                usage.check,
                postprocessing,
            )
        )
    open_verifier: AbstractAsyncContextManager[WebTokenVerifier | None] = nullcontext()
    if brought.web_tokens is not None:
        open_verifier = brought.web_tokens.open(settings)
    planning = planning_pool()
    threads = search_threads()
    async with (
        open_verifier as verifier,
        open_access_log as access,
        open_steps as steps,
        planning,
        region_process.joined(
            connected, stores.tenants, _observe_statement(metrics, tracing), metrics
        ) as region,
    ):
        reader: RevisionReader[TenantRevisions] = RevisionReader(
            stores.tenants if region is None else region.source,
            suspend_aware_s,
            None if region is None else region.known,
        )
        auth = authenticator.build(
            settings,
            stores.principals,
            verifier,
            reader,
            stores.tenants,
            answer_log.tell,
            in_region=region is not None,
        )
        answer_log.question_watchers.append(
            lambda answer: metrics.search.served(
                answer.principal.tenant, answer.outcome, len(answer.durations_s)
            )
        )
        answer_log.watchers.append(
            lambda answer: auth.record_use(
                answer.principal, datetime.fromtimestamp(answer.last_s, UTC)
            )
        )
        read_log = ReadLog(access.reads)
        caches = cache_services.build(
            settings,
            metrics,
            stores,
            store,
            models,
            index_name,
            region,
            tracing,
            brought.question_tier,
        )
        search = search_services.build(
            settings,
            metrics,
            stores,
            caches,
            metered,
            index_name,
            steps,
            read_log,
            region,
            answer_log=answer_log,
            threads=threads,
            postprocessing=postprocessing,
            fields_off=brought.fields_off,
        )
        documents = document_services.build(
            settings,
            stores,
            store,
            caches.invalidation,
            metered,
            preprocessor,
            read_log,
            usage,
            shards=None if region is not None and region.standby is not None else search.shards,
            planning=planning,
        )
        warm_up = WarmUp({"word_lists": load_word_lists})
        if steps is not None:
            warm_up.add("models", steps.load)
        services = Services(
            settings=settings,
            stores=stores,
            http=http_services.build(
                settings,
                metrics,
                auth,
                store,
                access.denials,
                documents.writer.threads,
                stores.visible_documents,
                tracing,
            ),
            caches=caches,
            search=search,
            documents=documents,
            worker=worker_services.build(
                settings,
                metrics.work,
                stores,
                metered,
                documents,
                tracing,
            ),
            usage_meter=usage,
            warm_up=warm_up,
            state_sampler=StateSampler(
                metrics.state,
                stores.jobs,
                search.shards,
                models,
                stores.processes,
                lambda: warm_up.is_done,
            ),
            contributions=brought.contributions,
        )
        async with auth.background_flush():
            yield services
            await caches.answers.drain_background()
            if caches.question_tier is not None:
                await caches.question_tier.drain_background()
            await search.shards.close()
            threads.close()


def _observe_statement(metrics: Metrics, tracing: Tracing | None) -> ObserveStatement:
    return metrics.statement if tracing is None else tracing.observing(metrics.statement)


def pooler(settings: Settings) -> Pooler | None:
    """The pooler that connections go through; None if they go to the server directly."""
    if settings.pooler_url is None or settings.pooler_search_url is None:
        return None
    return Pooler(
        settings.pooler_url.get_secret_value(), settings.pooler_search_url.get_secret_value()
    )


def model_caches(count: Callable[[str], None], store: RedisStore) -> ModelCaches:
    return ModelCaches(
        store,
        count,
        size_bytes_max=_MODEL_CACHE_BYTES_MAX,
        lifetime_s=_MODEL_CACHE_LIFETIME_S,
    )
