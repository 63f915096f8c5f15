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
from gateway.settings import NEVER, Settings
from gateway.worker.job_handlers import handlers
from index.documents.partitions import Shelves
from index.errors import IndexFailure
from index.model.scope import PUBLIC
from ingest.sources import schedule
from ingest.worker.job_worker import Worker
from ingest.worker.pgqueuer_adapter import Pace

_FORGET_S = 60.0  # between two looks for jobs and tokens to forget
_TOKENS_KEPT = timedelta(days=1)  # past their end, so that it can be seen whose they were
# A reading from the command line, which no job tells of, must not take longer.
_REMOVED_KEPT_S = 86_400.0
_SCHEDULE_S = 5.0  # between two looks for sources to read
_AUDIT_S = 60.0  # between two looks for indexes to audit
_PRUNE_S = 3_600.0  # between two looks for rows of the audit log that are too old

log = structlog.get_logger()


def worker(services: Services) -> Worker:
    return Worker(
        services.jobs, services.database.listening, handlers(services), pace(services.settings)
    )


def pace(settings: Settings) -> Pace:
    return Pace(
        jobs_max=settings.worker_jobs,
        tenant_jobs_max=settings.worker_tenant_jobs,
        lease_s=settings.job_lease_s,
        pause_s=settings.job_pause_s,
        stop_s=settings.shutdown_s,
    )


@asynccontextmanager
async def working(services: Services) -> AsyncIterator[None]:
    """What is queued is worked off meanwhile; what is at work at the end is finished."""
    stop = asyncio.Event()
    at_work = asyncio.create_task(_queue(services, stop))
    try:
        yield
    finally:
        stop.set()
        await at_work


async def work(services: Services, shelves: Shelves, stop: asyncio.Event, every_s: float) -> None:
    """All that a worker does; `shelves` on a connection of its own, for it takes its time."""
    async with asyncio.TaskGroup() as group:
        group.create_task(_queue(services, stop))
        group.create_task(_again(stop, every_s, lambda: _sweep(services)))
        if services.settings.rabbitmq_url is not None:
            from gateway.worker import (
                rabbitmq_consumer,  # needs an extra, which `direct` has looked for
            )

            group.create_task(rabbitmq_consumer.consumer(services).run(stop))
        tending = group.create_task(_again(stop, every_s, lambda: _tend(shelves)))
        await stop.wait()
        tending.cancel()  # building an index may take an hour, and is begun anew


async def _queue(services: Services, stop: asyncio.Event) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(worker(services).run(stop))
        kept_s = services.settings.jobs_kept_s
        group.create_task(_again(stop, _FORGET_S, lambda: services.jobs.forget(kept_s)))
        group.create_task(_again(stop, _FORGET_S, lambda: _forget_tokens(services)))
        group.create_task(
            _again(stop, _FORGET_S, lambda: services.documents.forget_removed(_REMOVED_KEPT_S))
        )
        group.create_task(_again(stop, _SCHEDULE_S, lambda: ask_due(services)))
        group.create_task(_again(stop, _AUDIT_S, lambda: ask_audits(services)))
        group.create_task(_again(stop, _PRUNE_S, lambda: prune_audit_log(services)))


async def ask_due(services: Services) -> None:
    """Queue the reading of each source whose date has come."""
    while due := await services.sources.ask_due(
        lambda text: schedule.next_run(text, datetime.now(UTC))
    ):
        log.info("source", state="due", tenant=due[0], source=due[1])


async def ask_audits(services: Services) -> None:
    """Queue the audit of each tenant's index whose date has come."""
    if (text := services.settings.index_audit_schedule) == NEVER:
        return
    while tenant := await services.audits.ask_due(schedule.next_run(text, datetime.now(UTC))):
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


async def _tend(shelves: Shelves) -> None:
    async for done in shelves.tend():
        log.info("shelf", **asdict(done))


async def _again(stop: asyncio.Event, every_s: float, do: Callable[[], Awaitable[None]]) -> None:
    """Until told to stop; what can't be done now is tried the next time."""
    while not stop.is_set():
        try:
            await do()
        except IndexFailure as failure:
            log.warning("worker", detail=str(failure))
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), every_s)
