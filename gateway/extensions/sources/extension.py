"""Sources: a worker reads folders, and what other extensions read, into a tenant."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime

import structlog

from gateway.extension import Extension, JobKind, Services, default_quotas, repeat
from gateway.extensions._files import installed_formats
from gateway.extensions._sources.removal_job import RemoveSourceJob
from gateway.extensions._sources.source_kind import SourceKind
from gateway.extensions._sources.source_store import REMOVE, SYNC, SourceStore
from gateway.extensions.sources import stale_sources
from gateway.extensions.sources.routes import routes
from gateway.extensions.sources.source_kinds import SourceKinds
from gateway.extensions.sources.source_metrics import SourceMetrics
from gateway.extensions.sources.source_services import SourceServices
from gateway.extensions.sources.source_settings import SourceSettings
from gateway.extensions.sources.sync_job import SyncSourceJob
from ingest.worker import schedule

_SCHEDULE_INTERVAL_S = 5.0  # of due sources

log = structlog.get_logger()


@asynccontextmanager
async def _open(services: Services, own: SourceSettings) -> AsyncIterator[SourceServices]:
    sources = SourceStore(services.stores.database, default_quotas(services.settings))
    metrics = SourceMetrics(services.http.metrics)

    async def sample() -> None:
        metrics.pending(await sources.count_pending())

    services.state_sampler.also.append(sample)
    async with AsyncExitStack() as readers:
        kinds = SourceKinds(
            services.settings,
            own.dir,
            installed_formats.formats(services.settings.extensions_off),
            [each for each, _ in services.contributions],
            {
                kind.body: await readers.enter_async_context(kind.open_reader(services, its))
                for kind, its in services.contributed(SourceKind)
            },
        )
        yield SourceServices(services.stores, sources, services.documents.writer, kinds)


async def _work(services: SourceServices, stop: asyncio.Event) -> None:
    await repeat(stop, _SCHEDULE_INTERVAL_S, lambda: enqueue_due(services.sources))


async def enqueue_due(sources: SourceStore) -> None:
    """Queue a job for each source whose schedule is due."""
    while due := await sources.enqueue_due(lambda text: schedule.next_run(text, datetime.now(UTC))):
        log.info("source", state="due", tenant=due[0], source=due[1])


EXTENSION = Extension(
    summary="a worker and nearhit ingest read folders, and what other extensions read",
    routes=routes,
    open=_open,
    settings=SourceSettings,
    work=_work,
    jobs={
        SYNC: JobKind(SyncSourceJob, is_long=True),
        REMOVE: JobKind(lambda own: RemoveSourceJob(own.stores, own.sources, own.writer)),
    },
    audit=stale_sources.problems,
    check=installed_formats.check,
    metrics=SourceMetrics,
)
