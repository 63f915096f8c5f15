"""Adapts the job queue to pgqueuer's manager, for which a job is a ticket.

Nothing outside this file and `ingest/worker/job_worker.py` knows pgqueuer.
"""

import asyncio
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Self, TypeAlias
from uuid import UUID

from pgqueuer.adapters.persistence.qb import QueryBuilderEnvironment
from pgqueuer.domain.models import HealthCheckEvent, TableChangedEvent
from pgqueuer.domain.models import Job as Ticket
from pgqueuer.domain.types import Channel, JobId, QueueEntrypoint

from common import background_tasks
from common.shares.budget import FairBudget
from index.errors import DatabaseUnavailable
from index.jobs.job_queue import ClaimedJob, JobQueue
from ingest.worker.job_turn import TURN_S_MAX

Listening: TypeAlias = Callable[[str, Callable[[str], None]], AbstractAsyncContextManager[object]]


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """The limits of a worker.

    jobs_max: concurrent jobs of this worker; tenant_jobs_max: of one tenant, in all workers.
    lease_s: the time without a renewal after which another worker takes the job.
    pause_s: before the second attempt, doubled before each further one, up to pause_s_max;
             shortened at random by up to a half, so that failed jobs do not retry together.
    spent_s: before the retry of a job whose tenant has spent its budget; not counted as an attempt.
    stop_s: the time for running jobs to end after the worker is asked to stop.
    turn_s: after which a job that may run for hours lends its slot to those that wait.
    """

    jobs_max: int = 4
    tenant_jobs_max: int = 2
    lease_s: float = 30.0
    pause_s: float = 5.0
    pause_s_max: float = 300.0
    spent_s: float = 3_600.0
    stop_s: float = 30.0
    turn_s: float = TURN_S_MAX

    @property
    def long_jobs_max(self) -> int:
        """Concurrent jobs of this worker that may run for hours; the other half is for writes."""
        return max(1, self.jobs_max // 2)

    @property
    def waiting_jobs_max(self) -> int:
        """Jobs of this worker that have left their slot: see `job_slot`. A starting value."""
        return 8 * self.jobs_max

    @property
    def lent_jobs_max(self) -> int:
        """Those that have lent it, and hold memory and files meanwhile. A starting value."""
        return 2 * self.jobs_max

    def pause_after_s(self, attempts: int) -> float:
        """The pause after this number of attempts."""
        longest_s = min(self.pause_s * 2.0 ** (attempts - 1), self.pause_s_max)
        return longest_s * random.uniform(0.5, 1.0)  # noqa: S311  no secret


@dataclass(slots=True)
class PgqueuerRepositoryAdapter:
    """The part of pgqueuer's repository that its manager calls, on our own queue.

    long_kinds: those of the kinds whose jobs may run for hours.
    stop: once it is set, no job starts.
    claimed: the running jobs; at_work: the manager's view of them, which lags a little.
    left, lent: those of them whose slot others have: to their end, or until they take it back.
    """

    jobs: JobQueue
    limits: WorkerLimits
    listening: Listening
    kinds: Sequence[str]
    long_kinds: Collection[str]
    stop: asyncio.Event
    claimed: dict[JobId, ClaimedJob] = field(default_factory=dict)
    left: set[JobId] = field(default_factory=set)
    lent: set[JobId] = field(default_factory=set)
    at_work: Mapping[JobId, object] = field(default_factory=dict)
    qbe: QueryBuilderEnvironment = field(default_factory=QueryBuilderEnvironment)
    _manager: UUID | None = None
    _driver: "_Driver | None" = None
    _places: FairBudget = field(init=False)
    _returning: dict[JobId, "_Return"] = field(default_factory=dict)  # in the order of their wait

    def __post_init__(self) -> None:
        most = self.limits.waiting_jobs_max
        self._places = FairBudget(total_max=most, tenant_max=max(1, most // 2))

    @property
    def driver(self) -> "_Driver":
        if self._driver is None:
            self._driver = _Driver(self.listening)
        return self._driver

    async def dequeue(self, *, queue_manager_id: UUID, **_: object) -> list[Ticket]:
        self._manager = queue_manager_id
        if self.stop.is_set() or self._slots_in_use() >= self.limits.jobs_max:
            return []
        returning = [job_id for job_id in self._returning if self._has_slot_for(job_id)]
        claimed = await self.jobs.claim(
            queue_manager_id,
            lease_s=self.limits.lease_s,
            tenant_jobs_max=self.limits.tenant_jobs_max,
            kinds=self._claimable_kinds(),
            long_kinds=self.long_kinds,
            at_work=list(self.at_work),
            waited_s=self._returning[returning[0]].waited_s if returning else 0.0,
        )
        if claimed is None:
            self._give_back_one_of(returning)
            return []
        if self.stop.is_set():
            await self.jobs.reschedule(claimed.run, None, due_s=0.0, counts=False)
            return []
        ticket = _ticket(claimed)
        self.claimed[ticket.id] = claimed
        return [ticket]

    def leave(self, job_no: int) -> bool:
        job_id = JobId(job_no)
        if self._places.take(self.claimed[job_id].tenant) is not None:
            return False
        self.lent.discard(job_id)
        self.left.add(job_id)
        self.driver.notify("")
        return True

    def lend(self, job_no: int) -> None:
        self.lent.add(JobId(job_no))
        self.driver.notify("")

    async def take_back(self, job_no: int) -> None:
        """Wait for a free slot, behind the jobs that wait already; or until the worker stops."""
        returning = self._returning[JobId(job_no)] = _Return()
        stopping = asyncio.create_task(self.stop.wait())
        stopping.add_done_callback(lambda _: returning.may.set())
        self.driver.notify("")
        try:
            await returning.may.wait()
        finally:
            self._returning.pop(JobId(job_no), None)
            await background_tasks.end(stopping)

    def _give_back_one_of(self, returning: Sequence[JobId]) -> None:
        """Let the first that still waits have a slot."""
        for job_id in returning:
            if (waiting := self._returning.pop(job_id, None)) is not None:
                self.lent.discard(job_id)
                waiting.may.set()
                self.driver.notify("")  # perhaps another one may be claimed or come back
                return

    def _slots_in_use(self) -> int:
        return len(self.claimed) - len(self.left) - len(self.lent)

    def _has_slot_for(self, job_id: JobId) -> bool:
        return self.claimed[job_id].kind not in self.long_kinds or self._has_long_slot()

    def _has_long_slot(self) -> bool:
        return len(self._long_jobs() - self.lent) < self.limits.long_jobs_max

    def _long_jobs(self) -> set[JobId]:
        jobs = self.claimed.items()
        return {job_id for job_id, job in jobs if job.kind in self.long_kinds} - self.left

    def _claimable_kinds(self) -> list[str]:
        most = self.limits.long_jobs_max + self.limits.lent_jobs_max
        if self._has_long_slot() and len(self._long_jobs()) < most:
            return [*self.kinds]
        return [kind for kind in self.kinds if kind not in self.long_kinds]

    async def log_jobs(self, ended: list[tuple[Ticket, str, object]]) -> None:
        """Return cancelled jobs to the queue; the others have recorded their results themselves."""
        for ticket, status, _ in ended:
            if (claimed := self.claimed.get(ticket.id)) is None:
                continue
            if status == "canceled":
                await self.jobs.reschedule(claimed.run, None, due_s=0.0, counts=False)
            del self.claimed[ticket.id]
            self.lent.discard(ticket.id)
            if ticket.id in self.left:
                self.left.remove(ticket.id)
                self._places.give_back(claimed.tenant)
        self.driver.notify("")  # a job can be claimed now, perhaps not yet when this one ended

    async def update_heartbeat(self, job_ids: list[JobId]) -> None:
        assert self._manager is not None, "a running job has been claimed"
        await self.jobs.renew(self._manager, [*job_ids], lease_s=self.limits.lease_s)

    async def next_deferred_eta(self, _: list[QueueEntrypoint]) -> timedelta | None:
        seconds = await self.jobs.next_s()
        return None if seconds is None else timedelta(seconds=max(0.0, seconds))

    async def eligible_queued_work(self, _: list[QueueEntrypoint]) -> int:
        """Always 0: due jobs that were not claimed wait for a notification of a job's end."""
        return 0

    async def queued_work(self, _: list[QueueEntrypoint]) -> int:
        return int(await self.jobs.has_waiting())

    async def notify_health_check(self, health_check_event_id: UUID) -> None:
        """Send the probe that the listener must hear.

        The race: the manager starts to probe before it listens, and LISTEN needs a new connection
        while NOTIFY has an open one. A probe that is sent first is heard by nobody, and the manager
        would end itself for it after each restart. So the probe waits for LISTEN.
        """
        await self.driver.has_begun.wait()
        try:
            await self.jobs.notify(str(health_check_event_id))
        except DatabaseUnavailable:
            self.driver.notify("")  # the manager looks at once, instead of at its next poll
            raise

    async def has_table(self, _: str) -> bool:
        return True  # index/migrations creates it; so below

    async def table_has_column(self, _table: str, _column: str) -> bool:
        return True

    async def table_has_index(self, _table: str, _index: str) -> bool:
        return True

    async def has_user_defined_enum(self, _key: str, _enum: str) -> bool:
        return True


class _Return:
    """The wait of a job for its slot, which it may have once `may` is set."""

    def __init__(self) -> None:
        self.may = asyncio.Event()
        self._began_s = asyncio.get_running_loop().time()

    @property
    def waited_s(self) -> float:
        return asyncio.get_running_loop().time() - self._began_s


class _Driver:
    """Our notifications in pgqueuer's form; an empty one means that jobs have changed.

    has_begun: set once PostgreSQL has confirmed LISTEN.
    """

    def __init__(self, listening: Listening) -> None:
        self.has_begun = asyncio.Event()
        self._listening = listening
        self._open = AsyncExitStack()
        self._channel = Channel("")
        self._listener: Callable[[str], None] | None = None

    async def add_listener(self, channel: Channel, listener: Callable[[str], None]) -> None:
        self._channel, self._listener = channel, listener
        await self._open.enter_async_context(self._listening(channel, self.notify))
        self.has_begun.set()

    def notify(self, message: str) -> None:
        common = {"channel": self._channel, "sent_at": datetime.now(UTC)}
        event: Any
        if message:
            event = HealthCheckEvent(id=message, type="health_check_event", **common)
        else:
            event = TableChangedEvent(
                type="table_changed_event", operation="update", table="jobs", **common
            )
        if self._listener is not None:
            self._listener(event.model_dump_json(exclude={"received_at"}))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listener = None
        await self._open.aclose()


def _ticket(claimed: ClaimedJob) -> Ticket:
    now = datetime.now(UTC)
    return Ticket.model_validate(
        {
            "id": claimed.run.job_no,
            "priority": 0,
            "created": now,
            "updated": now,
            "heartbeat": now,
            "execute_after": claimed.due_at,
            "status": "picked",
            "entrypoint": claimed.kind,
            "payload": None,
            "attempts": claimed.run.attempts,
            "queue_manager_id": claimed.run.lease,
            "headers": None,
        }
    )
