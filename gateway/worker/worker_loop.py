"""`nearhit worker`: queued work, and what keeps the servers tidy, until it is told to stop."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

import structlog

from cache.protocol import Revisions
from gateway.auth.authenticator import utc_now
from gateway.services import Services
from gateway.setting_groups.jobs import NEVER
from gateway.settings import Settings
from gateway.worker.job_handlers import handlers
from index.documents.partitions import Partitions
from index.errors import IndexStoreError
from index.model.scope import PUBLIC
from ingest.sources import schedule
from ingest.worker.job_worker import Worker
from ingest.worker.pgqueuer_adapter import WorkerLimits

_FORGET_S = 60.0  # between two looks for jobs and tokens to forget
_TOKENS_KEPT = timedelta(days=1)  # past their end, so that it can be seen whose they were
# A reading from the command line, which no job tells of, must not take longer.
_REMOVED_KEPT_S = 86_400.0
_SCHEDULE_S = 5.0  # between two looks for sources to read
_AUDIT_S = 60.0  # between two looks for indexes to audit
_PRUNE_S = 3_600.0  # between two looks for rows of the audit log that are too old

log = structlog.get_logger()


def make_worker(services: Services) -> Worker:
    return Worker(
        services.jobs,
        services.database.listening,
        handlers(services),
        worker_limits(services.settings),
    )


def worker_limits(settings: Settings) -> WorkerLimits:
    return WorkerLimits(
        jobs_max=settings.worker_jobs,
        tenant_jobs_max=settings.worker_tenant_jobs,
        lease_s=settings.job_lease_s,
        pause_s=settings.job_pause_s,
        stop_s=settings.shutdown_s,
    )


@asynccontextmanager
async def run_in_background(services: Services) -> AsyncIterator[None]:
    """What is queued is worked off meanwhile; what is at work at the end is finished."""
    stop = asyncio.Event()
    at_work = asyncio.create_task(_queue(services, stop))
    try:
        yield
    finally:
        stop.set()
        await at_work


async def run_worker(
    services: Services, shelves: Partitions, stop: asyncio.Event, every_s: float
) -> None:
    """All that a worker does; `shelves` on a connection of its own, for it takes its time."""
    async with asyncio.TaskGroup() as group:
        group.create_task(_queue(services, stop))
        group.create_task(_repeat(stop, every_s, lambda: _sweep(services)))
        if services.settings.rabbitmq_url is not None:
            from gateway.worker import (
                rabbitmq_consumer,  # needs an extra, which `direct` has looked for
            )

            group.create_task(rabbitmq_consumer.consumer(services).run(stop))
        tending = group.create_task(_repeat(stop, every_s, lambda: _maintain_partitions(shelves)))
        await stop.wait()
        tending.cancel()  # building an index may take an hour, and is begun anew


async def _queue(services: Services, stop: asyncio.Event) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(make_worker(services).run(stop))
        kept_s = services.settings.jobs_kept_s
        group.create_task(_repeat(stop, _FORGET_S, lambda: services.jobs.delete_done(kept_s)))
        group.create_task(_repeat(stop, _FORGET_S, lambda: _forget_tokens(services)))
        group.create_task(
            _repeat(stop, _FORGET_S, lambda: services.documents.forget_removed(_REMOVED_KEPT_S))
        )
        group.create_task(_repeat(stop, _SCHEDULE_S, lambda: enqueue_due_sources(services)))
        group.create_task(_repeat(stop, _AUDIT_S, lambda: enqueue_due_audits(services)))
        group.create_task(_repeat(stop, _PRUNE_S, lambda: prune_audit_log(services)))


async def enqueue_due_sources(services: Services) -> None:
    """Queue the reading of each source whose date has come."""
    while due := await services.sources.enqueue_due(
        lambda text: schedule.next_run(text, datetime.now(UTC))
    ):
        log.info("source", state="due", tenant=due[0], source=due[1])


async def enqueue_due_audits(services: Services) -> None:
    """Queue the audit of each tenant's index whose date has come."""
    if (text := services.settings.index_audit_schedule) == NEVER:
        return
    while tenant := await services.audits.enqueue_due(schedule.next_run(text, datetime.now(UTC))):
        log.info("audit", state="due", tenant=tenant)


async def prune_audit_log(services: Services) -> None:
    if days := services.settings.audit_log_kept_days:
        pruned = await services.audit_log.prune(utc_now() - timedelta(days=days))
        if pruned:
            log.info("audit_log", state="pruned", rows=pruned)


async def _forget_tokens(services: Services) -> None:
    await services.principals.forget_tokens(utc_now() - _TOKENS_KEPT)


async def _sweep(services: Services) -> None:
    """Finish the invalidations that others left unfinished."""
    history, revisions = await services.tenants.all_revisions()
    everyone = revisions.pop(PUBLIC)
    for tenant, revision in revisions.items():
        now = Revisions(history, {tenant: revision, PUBLIC: everyone})
        await services.invalidation.drain(tenant, now)


async def _maintain_partitions(shelves: Partitions) -> None:
    async for done in shelves.maintain():
        log.info("shelf", **asdict(done))


async def _repeat(stop: asyncio.Event, every_s: float, do: Callable[[], Awaitable[None]]) -> None:
    """Until told to stop; what can't be done now is tried the next time."""
    while not stop.is_set():
        try:
            await do()
        except IndexStoreError as failure:
            log.warning("worker", detail=str(failure))
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), every_s)
