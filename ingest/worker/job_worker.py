"""The worker: claims jobs, runs them concurrently up to a limit, and records their results.

pgqueuer runs the loop: it listens, claims, renews leases, and waits for running jobs at shutdown.
This module decides which jobs are claimed and how they end;
see docs/design/ingesting.md#jobs-are-a-table-of-ours-run-by-pgqueuer.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeAlias, cast

import structlog
from pgqueuer.domain.errors import FailingListenerError
from pgqueuer.domain.models import Job as Ticket
from pgqueuer.domain.types import Channel, QueueExecutionMode
from pgqueuer.ports import RepositoryPort
from pgqueuer.qm import QueueManager

from common import background_tasks
from common.audit_actor import SYSTEM, AuditActor, acting_as
from index.errors import (
    BudgetSpent,
    DatabaseUnavailable,
    EmbeddingUnavailable,
    JobLost,
    QuotaExceeded,
    RightsLost,
    SourceReserved,
    TenantMissing,
)
from index.jobs.job_queue import CHANNEL, ClaimedJob, JobQueue
from ingest.errors import (
    DocumentContended,
    DocumentTooLong,
    JobRefused,
    JobUnfinished,
    PublishingRefused,
)
from ingest.worker import job_slot
from ingest.worker.job_slot import JobSlot
from ingest.worker.pgqueuer_adapter import Listening, PgqueuerRepositoryAdapter, WorkerLimits

_AWAY_PAUSE_S = 1.0  # between two attempts to reach the database
_POLL = timedelta(seconds=30)  # in case a notification is lost; leases and due dates have timers
_DRAIN_POLL = timedelta(seconds=0.05)  # no notification says that the queue is empty

Handler: TypeAlias = Callable[[ClaimedJob], Awaitable[Mapping[str, Any]]]

log = structlog.get_logger()


@dataclass(slots=True)
class Worker:
    """long_kinds: the kinds of jobs that may run for hours; they leave half of the slots free."""

    jobs: JobQueue
    listening: Listening
    handlers: Mapping[str, Handler]
    limits: WorkerLimits = field(default_factory=WorkerLimits)
    long_kinds: Collection[str] = ()

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; jobs that do not end in time return to the queue."""
        while not stop.is_set():
            try:
                await self._work(stop, QueueExecutionMode.continuous)
            except (DatabaseUnavailable, FailingListenerError) as error:
                log.warning(
                    "worker", state="unavailable", detail=str(error) or type(error).__name__
                )
                await _pause(stop, _AWAY_PAUSE_S)

    async def drain(self) -> None:
        """Run all waiting jobs, including those that arrive meanwhile and retries."""
        await self._work(asyncio.Event(), QueueExecutionMode.drain)

    async def _work(self, stop: asyncio.Event, mode: QueueExecutionMode) -> None:
        repository = PgqueuerRepositoryAdapter(
            self.jobs, self.limits, self.listening, list(self.handlers), self.long_kinds, stop
        )
        # The port has more methods than the manager uses; pgqueuer's command line uses the others.
        manager = QueueManager(cast("RepositoryPort", repository), channel=Channel(CHANNEL))
        repository.at_work = manager.job_context
        for kind, handler in self.handlers.items():
            manager.entrypoint(kind, accepts_context=False)(_Entrypoint(self, repository, handler))
        running = asyncio.create_task(
            manager.run(
                batch_size=1,
                dequeue_timeout=_POLL if mode is QueueExecutionMode.continuous else _DRAIN_POLL,
                mode=mode,
                shutdown_on_listener_failure=True,
                heartbeat_timeout=timedelta(seconds=self.limits.lease_s),
                log_aggregation_interval=timedelta(0),
            )
        )
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait((running, stopping), return_when=asyncio.FIRST_COMPLETED)
            manager.shutdown.set()
            await asyncio.wait((running,), timeout=self.limits.stop_s)
        finally:
            await background_tasks.end(stopping, running)  # running jobs return to the queue
        if not running.cancelled():
            running.result()

    async def do(self, claimed: ClaimedJob, handler: Handler) -> None:
        """Run the job and record its result; without the database, the lease expires."""
        has_caller = claimed.subject is not None or claimed.key_id is not None
        try:
            with acting_as(AuditActor(claimed.subject, claimed.key_id) if has_caller else SYSTEM):
                await self._settle(claimed, handler)
        except DatabaseUnavailable as error:
            log.warning("job", job=claimed.job_id, state="not_recorded", detail=str(error))

    async def _settle(self, claimed: ClaimedJob, handler: Handler) -> None:
        run = claimed.run
        log_fields = {"job": claimed.job_id, "kind": claimed.kind, "tenant": claimed.tenant}
        try:
            result = await handler(claimed)
        except JobLost:
            log.info("job", state="lost", **log_fields)
        except JobUnfinished:
            await self.jobs.reschedule(run, None, due_s=0.0, counts=False)
        except BudgetSpent as error:
            await self.jobs.reschedule(run, str(error), due_s=self.limits.spent_s, counts=False)
        except (
            JobRefused,
            DocumentTooLong,
            PublishingRefused,
            QuotaExceeded,
            RightsLost,
            SourceReserved,
            TenantMissing,
        ) as error:
            log.warning("job", state="failed", detail=str(error), **log_fields)
            await self.jobs.fail(run, str(error))
        except Exception as error:
            await self._retry_or_fail(claimed, error, log_fields)
        else:
            await self.jobs.finish(run, result)

    async def _retry_or_fail(
        self, claimed: ClaimedJob, error: Exception, log_fields: Mapping[str, str]
    ) -> None:
        """Reschedule the job after a pause, unless this was the last attempt."""
        reason, attempts = _reason(error), claimed.run.attempts
        unknown_error = error if reason == type(error).__name__ else None
        log.warning(
            "job",
            state="attempt_failed",
            detail=reason,
            exc_info=unknown_error,
            attempt=attempts,
            **log_fields,
        )
        if attempts >= claimed.attempts_max:
            await self.jobs.fail(claimed.run, reason)
        else:
            await self.jobs.reschedule(
                claimed.run, reason, due_s=self.limits.pause_after_s(attempts)
            )


def _reason(error: Exception) -> str:
    """The reason of a failure; only the name of an unknown exception, which may quote documents."""
    match error:
        case DatabaseUnavailable() | EmbeddingUnavailable():
            return str(error)
        case DocumentContended():
            return "concurrent writes kept changing the document"
        case _:
            return type(error).__name__


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)


@dataclass(slots=True)
class _Entrypoint:
    """A handler in the form that pgqueuer calls, with a ticket that stands for the job."""

    worker: Worker
    repository: PgqueuerRepositoryAdapter
    handler: Handler

    async def __call__(self, ticket: Ticket) -> None:
        slot = JobSlot(self.repository, ticket.id, self.worker.limits.turn_s)
        with job_slot.held(slot):
            await self.worker.do(self.repository.claimed[ticket.id], self.handler)
