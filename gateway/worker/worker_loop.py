"""`nearhit worker`: runs queued jobs and periodic maintenance until it is stopped."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import timedelta
from typing import TypeAlias

import structlog

from cache.protocol import Revisions
from gateway.auth.authenticator import utc_now
from gateway.settings.settings import Settings
from gateway.worker.job_handlers import handlers
from gateway.worker.measured_handlers import measured
from gateway.worker.repetition import repeat
from gateway.worker.worker_services import WorkerServices
from index.documents.partitions import Partitions
from index.model.scope import PUBLIC
from ingest.worker.job_worker import Worker
from ingest.worker.pgqueuer_adapter import WorkerLimits

_CLEANUP_INTERVAL_S = 60.0  # of completed jobs, expired tokens and tombstones
_TOKEN_RETENTION = timedelta(days=1)  # after expiry, so that audits can resolve their owners
# `nearhit ingest` has no job that the cleanup could see, so a run must not take longer than this.
_TOMBSTONE_RETENTION_S = 86_400.0
_DONE_RETENTION_S = 7 * 86_400.0  # of jobs; failed ones stay
_PRUNE_INTERVAL_S = 3_600.0  # of old rows of the audit log

Work: TypeAlias = Callable[[asyncio.Event], Coroutine[None, None, None]]

log = structlog.get_logger()


def make_worker(services: WorkerServices) -> Worker:
    return Worker(
        services.stores.jobs,
        services.stores.database.listening,
        measured(handlers(services), services.metrics, services.tracing),
        worker_limits(services.settings),
        services.long_kinds,
    )


def worker_limits(settings: Settings) -> WorkerLimits:
    return WorkerLimits(
        jobs_max=settings.worker_jobs,
        tenant_jobs_max=settings.worker_jobs // 2,
        lease_s=settings.job_lease_s,
        pause_s=settings.job_retry_delay_s,
        stop_s=settings.shutdown_s,
    )


@asynccontextmanager
async def run_in_background(
    services: WorkerServices, beside: Sequence[Work] = ()
) -> AsyncIterator[None]:
    """Run queued jobs during the block; running jobs are finished at its end.

    beside: what runs until then too.
    """
    stop = asyncio.Event()
    task = asyncio.create_task(_queue(services, stop, beside))
    try:
        yield
    finally:
        stop.set()
        await task


async def run_worker(
    services: WorkerServices,
    partitions: Partitions,
    stop: asyncio.Event,
    every_s: float,
    beside: Sequence[Work] = (),
) -> None:
    """Run jobs and maintenance until `stop` is set; `partitions` has its own slow connection."""
    async with asyncio.TaskGroup() as group:
        group.create_task(_queue(services, stop, beside))
        group.create_task(repeat(stop, every_s, lambda: _sweep(services)))
        maintenance = group.create_task(
            repeat(stop, every_s, lambda: _maintain_partitions(partitions))
        )
        await stop.wait()
        maintenance.cancel()  # an index build may take an hour; the next worker starts it again


async def _queue(
    services: WorkerServices, stop: asyncio.Event, beside: Sequence[Work] = ()
) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(make_worker(services).run(stop))
        for work in beside:
            group.create_task(work(stop))
        group.create_task(
            repeat(
                stop,
                _CLEANUP_INTERVAL_S,
                lambda: services.stores.jobs.delete_done(_DONE_RETENTION_S),
            )
        )
        group.create_task(repeat(stop, _CLEANUP_INTERVAL_S, lambda: _forget_tokens(services)))
        group.create_task(
            repeat(
                stop,
                _CLEANUP_INTERVAL_S,
                lambda: services.stores.documents.forget_removed(_TOMBSTONE_RETENTION_S),
            )
        )
        group.create_task(repeat(stop, _PRUNE_INTERVAL_S, lambda: prune_audit_log(services)))


async def prune_audit_log(services: WorkerServices) -> None:
    if days := services.settings.audit_log_retention_days:
        pruned = await services.stores.audit_log.prune(utc_now() - timedelta(days=days))
        if pruned:
            log.info("audit_log", state="pruned", rows=pruned)


async def _forget_tokens(services: WorkerServices) -> None:
    await services.stores.keys.forget_tokens(utc_now() - _TOKEN_RETENTION)


async def _sweep(services: WorkerServices) -> None:
    """Finish invalidations that other processes left unfinished."""
    history, revisions = await services.stores.tenants.all_revisions()
    public_revision = revisions.pop(PUBLIC)
    for tenant, revision in revisions.items():
        current = Revisions(history, {tenant: revision, PUBLIC: public_revision})
        await services.invalidation.drain(tenant, current)


async def _maintain_partitions(partitions: Partitions) -> None:
    async for change in partitions.maintain():
        log.info("partition", **asdict(change))
