"""What the command line does without a gateway: straight on the servers, as the operator."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.util import find_spec
from typing import TypeVar
from urllib.parse import urlsplit

from gateway.admin.key_schemas import KeyBody
from gateway.admin.tenant_schemas import TenantBody
from gateway.auth.credentials import make_key
from gateway.errors import CommandError
from gateway.metrics import Metrics
from gateway.operator.audit_progress import ProblemCounts
from gateway.recording.read_log import Reader
from gateway.search import embedders
from gateway.search.cache_audit import CacheAuditRun, Verdict
from gateway.search.response_body import search_index
from gateway.services import Services, open_services, pooler
from gateway.settings import Settings
from gateway.worker import backfill as backfilling
from gateway.worker import index_audit_job
from index.documents.partitions import Partitions
from index.embedders.embedding_migration import EmbeddingMigration
from index.jobs.job_queue import JobQueue
from index.model import scope
from index.model.audit_actor import OPERATOR, SYSTEM, ActingPrincipal, acting_as
from index.model.query import Query
from index.model.scope import PUBLIC
from index.postgres import database, migrate
from index.postgres.database import Database
from index.search.searcher import SearchResult
from index.tenants.principals import PrincipalStore
from index.tenants.tenant_deletion import TenantDeletion
from index.tenants.tenant_store import TenantStore
from ingest.sources.folder import FolderSource
from ingest.sources.source import Source
from ingest.sources.source_sync import Report, read_source
from ingest.sources.watch import Watch, changes
from ingest.write.reembed import Reembedder, ReembedProgress

T = TypeVar("T")

_PATIENCE_S = 86_400.0  # a day: a graph of ten million vectors takes hours


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """Only what administration needs: no embedder is loaded."""
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()
    migrations = await asyncio.to_thread(migrate.shipped)
    await migrate.migrate(url, migrations, allow_old_pgvector=settings.allow_old_pgvector)
    connecting = database.connect(
        url,
        connections_max=1,
        statement_timeout_s=30.0,
        search_timeout_s=settings.deadline_s,
        observe=lambda _name, _seconds: None,
        logged=settings.audit_log != "off",
        pooler=pooler(settings),
    )
    async with _acting(OPERATOR, connecting) as made:
        yield made


async def try_database(settings: Settings) -> None:
    """Raises `DatabaseUnavailable`, `MigrationRefused`, `PgvectorRefused`, `RoleRefused` and
    `PoolerRefused`.
    """
    async with open_database(settings):
        pass


async def resolve_tenants(tenants: TenantStore, wanted: Sequence[str]) -> list[str]:
    """These tenants, or all, by name. Raises `NotPossible` if one is not there."""
    _, revisions = await tenants.all_revisions()
    there = revisions.keys() - {PUBLIC}
    if unknown := set(wanted) - there:
        raise CommandError(f"there is no tenant {', '.join(sorted(unknown))}")
    return sorted(wanted or there)


def services(
    settings: Settings, who: ActingPrincipal = OPERATOR
) -> AbstractAsyncContextManager[Services]:
    """who: on whose behalf it is all done."""
    counted = Metrics()
    made = embedders.make_all(settings, counted.embedding_tokens)
    return _acting(who, open_services(settings, counted, *made))


@asynccontextmanager
async def _acting(
    who: ActingPrincipal, opening: AbstractAsyncContextManager[T]
) -> AsyncIterator[T]:
    with acting_as(who):
        async with opening as opened:
            yield opened


async def create_tenant(settings: Settings, tenant: str, name: str) -> None:
    body = TenantBody(id=tenant, name=name)
    async with open_database(settings) as database:
        if not await TenantStore(database).create(body.id, body.name or body.id):
            raise CommandError(f"there is a tenant {tenant} already")


async def delete_tenant(settings: Settings, tenant: str) -> str:
    """The job that does it."""
    async with open_database(settings) as database:
        closed = await TenantDeletion(database).close(tenant)
    if closed is None:
        raise CommandError(f"there is no tenant {tenant}")
    return closed.job_id


async def create_key(settings: Settings, body: KeyBody) -> str:
    """The key itself, which nobody can show again."""
    key, kept = make_key(
        subject=body.subject,
        name=body.name,
        groups=body.groups,
        roles=body.roles,
        scopes=body.scopes,
        expires_at=body.expires_at,
    )
    assert body.tenant is not None
    async with open_database(settings) as database:
        if not await PrincipalStore(database).create(body.tenant, kept):
            raise CommandError(
                f"there is no tenant {body.tenant}: `nearhit tenant create {body.tenant}`"
            )
    return key


async def ingest(
    settings: Settings,
    source: Source,
    tenant: str,
    *,
    prune: bool,
    on_item: Callable[[Report], None],
) -> Report:
    """Read a source into a tenant, which is created if there is none."""
    body = TenantBody(id=tenant)
    async with services(settings) as opened:
        await opened.stores.tenants.create(body.id, body.id)
        return await read_source(
            source,
            tenant,
            writer=opened.documents.writer,
            documents=opened.stores.documents,
            prune=prune,
            on_item=on_item,
        )


async def watch(
    settings: Settings,
    source: FolderSource,
    tenant: str,
    *,
    on_report: Callable[[Report], None],
    on_failure: Callable[[str], None],
) -> None:
    """Keep a tenant, which is created if there is none, in step with a folder until cancelled."""
    body = TenantBody(id=tenant)
    async with services(settings) as opened:
        await opened.stores.tenants.create(body.id, body.id)
        watch = Watch(
            source,
            tenant,
            writer=opened.documents.writer,
            documents=opened.stores.documents,
            on_report=on_report,
            on_failure=on_failure,
        )
        await watch.run(changes(source))


async def search(
    settings: Settings, tenant: str, subject: str, groups: Sequence[str], text: str, top_k: int
) -> SearchResult:
    """What a principal would find; not cached."""
    seen = scope.everything(tenant, subject, groups)
    async with services(settings) as opened:
        if not await opened.stores.tenants.exists(tenant):
            raise CommandError(f"there is no tenant {tenant}")
        query = Query(text, top_k=top_k)
        found = await search_index(opened.search.searcher, seen, query)
        who = Reader(tenant, OPERATOR.subject, OPERATOR.key_id)
        opened.documents.read_log.documents(who, [hit.document_id for hit in found.hits])
        return found


async def reembed(
    settings: Settings,
    wanted: Sequence[str],
    *,
    on_tenant: Callable[[str, int], Callable[[ReembedProgress], None]],
) -> list[str]:
    """Move tenants, or all of them, to the embedder that comes next; returns those that moved.

    on_tenant: told each tenant, and how many documents it has; returns what is told its progress.
    """
    moved = []
    async with services(settings) as opened, retry_while_busy(settings) as slow:
        coming = opened.worker.embedders[-1]
        spaces = EmbeddingMigration(slow)
        reembedder = Reembedder(opened.stores.documents, spaces, coming, opened.caches.invalidation)
        there = await spaces.tenants()
        if unknown := [tenant for tenant in wanted if tenant not in there]:
            raise CommandError(f"there is no tenant {', '.join(unknown)}")
        for tenant, documents in there.items():
            if wanted and tenant not in wanted:
                continue
            if await reembedder.run(tenant, coming.dimensions, on_tenant(tenant, documents)):
                moved.append(tenant)
    return moved


async def backfill(settings: Settings, wanted: Sequence[str]) -> dict[str, str]:
    """The job of each of these tenants, or of all, that embeds what has no vector."""
    async with open_database(settings) as opened:
        jobs = JobQueue(opened)
        return {
            tenant: await jobs.enqueue_once(backfilling.job(tenant, settings.job_attempts))
            for tenant in await resolve_tenants(TenantStore(opened), wanted)
        }


async def audit(
    settings: Settings,
    wanted: Sequence[str],
    *,
    on_entry: Callable[[str, str, Verdict], None],
) -> None:
    """Hold every cached answer of these tenants, or of all, against a search of now.

    on_entry: told each tenant, key and verdict. Raises `CacheUnavailable`.
    """
    async with services(settings) as opened:
        inspection = CacheAuditRun(
            opened.caches.store,
            opened.caches.invalidation,
            opened.stores.tenants,
            opened.search.auditor,
        )
        for tenant in await resolve_tenants(opened.stores.tenants, wanted):
            async for key, verdict in inspection.of(tenant):
                on_entry(tenant, key, verdict)


async def audit_index(
    settings: Settings, wanted: Sequence[str], told: ProblemCounts, *, repair: bool
) -> None:
    """Audit the index of these tenants, or of all."""
    async with services(settings) as opened:
        for tenant in await resolve_tenants(opened.stores.tenants, wanted):
            found = index_audit_job.flaws(opened.worker, tenant, told.looked_at, repair=repair)
            async for flaw in found:
                told.add(tenant, flaw)


async def work(settings: Settings, every_s: float) -> None:
    """Work until a signal says to stop; what is at work is then finished, or given back.

    Raises `NotPossible`.
    """
    from gateway.worker import worker_loop  # what it is made of takes half a second to load

    if settings.rabbitmq_url is not None:
        _check_rabbitmq(settings, settings.rabbitmq_url.get_secret_value())
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with services(settings, SYSTEM) as opened, retry_while_busy(settings) as slow:
        await worker_loop.run_worker(opened.worker, Partitions(slow), stop, every_s)


def _check_rabbitmq(settings: Settings, url: str) -> None:
    if find_spec("aio_pika") is None:
        raise CommandError(
            "NEARHIT_RABBITMQ_URL needs more than is installed: pip install 'nearhit[rabbitmq]'"
        )
    if urlsplit(url).scheme not in ("amqp", "amqps"):
        raise CommandError("NEARHIT_RABBITMQ_URL must begin with amqp:// or amqps://")
    if not settings.rabbitmq_tenants():
        raise CommandError("NEARHIT_RABBITMQ_QUEUES must say which queues: QUEUE=TENANT")


def retry_while_busy(settings: Settings) -> AbstractAsyncContextManager[Database]:
    """For statements that rewrite a tenant's vectors or build an index."""
    assert settings.database_url is not None
    return database.connect(
        settings.database_url.get_secret_value(),
        connections_max=2,
        statement_timeout_s=_PATIENCE_S,
        observe=lambda _name, _seconds: None,
        parallel_builds=not settings.allow_old_pgvector,
    )
