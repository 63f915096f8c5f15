"""The operator's commands: they work directly on PostgreSQL and Redis."""

import asyncio
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar

from common.audit_actor import OPERATOR, SYSTEM, ActingPrincipal, acting_as
from common.command_errors import CommandError
from gateway.caching.redis_cache import open_redis, require_permissions
from gateway.configured import (
    configured_embedders,
    configured_parts,
    configured_region,
    extension_settings,
)
from gateway.configured.installed_extensions import opened, switched_on
from gateway.monitoring import metrics_server, process_log, server_warnings
from gateway.monitoring.metrics import Metrics
from gateway.monitoring.tracing import Service
from gateway.services import Services, open_services, pooler
from gateway.settings.setting_report import SettingReport
from gateway.settings.settings import Settings
from index.documents.partitions import Partitions
from index.embedders import index_version
from index.errors import SubjectSuspended
from index.model.scope import PUBLIC
from index.postgres import database
from index.postgres.database import Database
from index.postgres.setup import migrate, shipped_migrations
from index.postgres.setup.identifier_spellings import IdentifierPolicy
from index.tenants.keys import KeyStore, NewKey
from index.tenants.tenant_store import TenantStore

T = TypeVar("T")

_PATIENCE_S = 86_400.0  # a day: a graph of ten million vectors takes hours


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """Open the database for administration; no embedder is loaded."""
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()
    migrations = await asyncio.to_thread(shipped_migrations.shipped)
    await migrate.migrate(
        url,
        migrations,
        allow_old_pgvector=settings.allow_old_pgvector,
        identifiers=IdentifierPolicy(settings.identifier_case),
    )
    async with configured_region.find(settings)(settings) as region_process:
        connecting = database.connect(
            url,
            connections_max=1,
            statement_timeout_s=30.0,
            search_timeout_s=settings.deadline_s,
            observe=lambda _name, _seconds: None,
            announce=region_process.announce,
            logged=settings.audit_log != "off",
            pooler=pooler(settings),
        )
        async with _acting(OPERATOR, connecting) as connected:
            yield connected


def check_settings(settings: Settings) -> SettingReport:
    """What differs from the defaults. Raises `CommandError` with all that keeps a gateway off."""
    from gateway.cli.start import setting_checks  # its imports take half a second

    setting_checks.require_valid(settings)
    return extension_settings.report(settings, extension_settings.read(settings.extensions_off))


async def require_servable(settings: Settings) -> None:
    """Fail as a gateway on these servers would, before any process of it starts.

    Raises `CommandError` and `IndexStoreError`.
    """
    configured = await asyncio.to_thread(
        configured_embedders.make_all, settings, lambda _use, _tokens: None
    )
    async with open_database(settings) as database:
        await index_version.check_or_create(database, *configured)
    async with open_redis(settings) as store:
        await require_permissions(store)


async def resolve_tenants(tenants: TenantStore, names: Sequence[str]) -> list[str]:
    """The named tenants, or all if none is named. Raises `CommandError` if one does not exist."""
    _, revisions = await tenants.all_revisions()
    existing = revisions.keys() - {PUBLIC}
    if unknown := set(names) - existing:
        raise CommandError(f"there is no tenant {', '.join(sorted(unknown))}")
    return sorted(names or existing)


async def require_tenant(database: Database, tenant: str) -> None:
    """Raises `CommandError` if it does not exist, so that its lists are not taken for empty."""
    await resolve_tenants(TenantStore(database), [tenant])


def acting_services(
    settings: Settings,
    actor: ActingPrincipal = OPERATOR,
    metrics: Metrics | None = None,
    service: Service = "nearhit",
) -> AbstractAsyncContextManager[Services]:
    """All services of a gateway or worker. actor: the principal that the audit log names."""
    metrics = metrics or Metrics()
    configured = configured_embedders.make_all(settings, metrics.embedding_tokens)
    own = extension_settings.read(settings.extensions_off)
    brought = configured_parts.find(settings, own, service)
    return _acting(actor, open_services(settings, metrics, *configured, brought=brought))


@asynccontextmanager
async def auditing_services(settings: Settings) -> AsyncIterator[Services]:
    """All services, with the audits of extensions."""
    own = await asyncio.to_thread(extension_settings.read, settings.extensions_off)
    extensions = switched_on(settings.extensions_off)
    auditing = {name: each for name, each in extensions.items() if each.audit is not None}
    async with acting_services(settings) as services, opened(auditing, services, own):
        yield services


@asynccontextmanager
async def _acting(
    actor: ActingPrincipal, opening: AbstractAsyncContextManager[T]
) -> AsyncIterator[T]:
    with acting_as(actor):
        async with opening as resource:
            yield resource


async def store_key(settings: Settings, tenant: str, key: NewKey) -> None:
    """Raises `CommandError` if there is no such tenant, or the subject is suspended."""
    async with open_database(settings) as database:
        try:
            is_created = await KeyStore(database).create(tenant, key)
        except SubjectSuspended as suspended:
            raise CommandError(str(suspended)) from None
        if not is_created:
            raise CommandError(f"there is no tenant {tenant}: run `nearhit tenant create {tenant}`")


async def work(settings: Settings, interval_s: float) -> None:
    """Run the worker until a signal stops it; running jobs are then finished or released.

    Raises `CommandError`.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    metrics = Metrics(settings.metrics_tenants_max)
    port = settings.worker_metrics_port
    with metrics_server.serving(metrics.registry, settings.host, port):
        await run_worker(settings, interval_s, metrics, stop)


async def run_worker(
    settings: Settings, interval_s: float, metrics: Metrics, stop: asyncio.Event
) -> None:
    """Run jobs, maintenance and what extensions run beside them until `stop` is set."""
    own = await asyncio.to_thread(extension_settings.read, settings.extensions_off)
    report = await asyncio.to_thread(extension_settings.report, settings, own)
    extensions = switched_on(settings.extensions_off)
    working = {name: each for name, each in extensions.items() if each.is_at_work}
    opening = acting_services(settings, SYSTEM, metrics, "nearhit-worker")
    from gateway.worker import worker_loop  # its imports take half a second

    async with (
        process_log.logged("worker", report),
        opening as services,
        opened(working, services, own) as beside,
        services.state_sampler.running("worker"),
        retry_while_busy(settings) as patient_database,
    ):
        await server_warnings.log_all(services.stores.database, services.caches.store)
        await worker_loop.run_worker(
            services.worker, Partitions(patient_database), stop, interval_s, beside
        )


@asynccontextmanager
async def retry_while_busy(settings: Settings) -> AsyncIterator[Database]:
    """Open the database with a long timeout, to rewrite a tenant's vectors or build an index."""
    assert settings.database_url is not None
    async with (
        configured_region.find(settings)(settings) as region_process,
        database.connect(
            settings.database_url.get_secret_value(),
            connections_max=2,
            statement_timeout_s=_PATIENCE_S,
            observe=lambda _name, _seconds: None,
            announce=region_process.announce,
            parallel_builds=not settings.allow_old_pgvector,
        ) as connected,
    ):
        yield connected
