"""The worker: what it does at once, how it tries again, what it leaves when it is stopped."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

import pytest

from gateway.extensions.jobs.job_store import Job
from index.errors import BudgetSpent, DatabaseUnavailable, EmbeddingUnavailable
from index.jobs.job_queue import ClaimedJob, NewJob
from index.postgres.database import Database
from index.tenants.tenant_store import TenantStore
from ingest.errors import JobRefused, JobUnfinished
from ingest.worker import job_slot
from ingest.worker.job_worker import Handler, Worker
from ingest.worker.pgqueuer_adapter import WorkerLimits
from tests.gateway.servers.database_proxy import database_proxy
from tests.index.conftest import connected
from tests.index.support.jobs import Jobs

pytestmark = pytest.mark.anyio

PACE = WorkerLimits(jobs_max=4, tenant_jobs_max=4, pause_s=0.01, pause_s_max=0.02, stop_s=10.0)
WAIT_S_MAX = 120.0


@pytest.fixture
def queue(database: Database, tenants: TenantStore) -> Jobs:
    return Jobs(database)


@dataclass(slots=True)
class JobRecorder:
    """Does jobs, and fails as often as it is told."""

    errors: list[Exception] = field(default_factory=list)
    runs: list[ClaimedJob] = field(default_factory=list)
    at_once: int = 0
    at_once_most: int = 0
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    may_end: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.may_end.set()

    async def __call__(self, job: ClaimedJob) -> Mapping[str, Any]:
        self.runs.append(job)
        self.at_once += 1
        self.at_once_most = max(self.at_once, self.at_once_most)
        self.begun.set()
        try:
            await self.may_end.wait()
        finally:
            self.at_once -= 1
        if self.errors:
            raise self.errors.pop(0)
        return {"attempt": job.run.attempts}


def worker(
    database: Database, handler: Callable[[ClaimedJob], Awaitable[Mapping[str, Any]]], **pace: Any
) -> Worker:
    return Worker(Jobs(database), database.listening, {"work": handler}, replace(PACE, **pace))


@asynccontextmanager
async def at_work(made: Worker) -> AsyncIterator[asyncio.Event]:
    """A worker that runs; set the event to stop it."""
    stop = asyncio.Event()
    running = asyncio.create_task(made.run(stop))
    try:
        yield stop
    finally:
        stop.set()
        await running


def a_job(number: int = 0, **fields: Any) -> NewJob:
    job = NewJob(tenant="acme", kind="work", target=f"document:{number}", payload=b"{}")
    return replace(job, **fields)


async def until(queue: Jobs, job_id: str, state: str) -> Job:
    async with asyncio.timeout(WAIT_S_MAX):
        while True:
            job = await queue.get(None, job_id)
            assert job is not None
            if job.state == state:
                return job
            await asyncio.sleep(0.01)


async def test_what_is_queued_is_done_as_soon_as_it_is_committed(
    database: Database, queue: Jobs
) -> None:
    async with at_work(worker(database, JobRecorder())):
        first = await until(queue, await queue.enqueue(a_job()), "done")
        started_s = time.monotonic()
        second = await until(queue, await queue.enqueue(a_job(1)), "done")
        took_s = time.monotonic() - started_s

    assert first.result == second.result == {"attempt": 1}
    assert took_s < 5.0  # told, not found by a look every half a minute


async def test_a_worker_does_several_jobs_at_once_and_no_more(
    database: Database, queue: Jobs
) -> None:
    does = JobRecorder()
    does.may_end.clear()
    for number in range(10):
        await queue.enqueue(a_job(number))

    async with at_work(worker(database, does, jobs_max=3)):
        async with asyncio.timeout(WAIT_S_MAX):
            while does.at_once < 3:
                await asyncio.sleep(0.01)
        does.may_end.set()
        for job in await queue.page(None, limit=10):
            await until(queue, job.job_id, "done")

    assert does.at_once_most == 3
    assert len(does.runs) == 10


async def test_a_write_waits_for_no_reading_of_another_tenant_however_many_there_are(
    database: Database, queue: Jobs, tenants: TenantStore
) -> None:
    readings, writes = JobRecorder(), JobRecorder()
    readings.may_end.clear()
    others = [f"t{number}" for number in range(6)]
    for tenant in others:
        await tenants.create(tenant, tenant)
        for number in range(2):
            await queue.enqueue(a_job(tenant=tenant, kind="read", target=f"source:{number}"))
    handlers = {"read": readings, "work": writes}
    workers = [
        Worker(Jobs(database), database.listening, handlers, PACE, long_kinds=["read"])
        for _ in range(2)
    ]

    async with at_work(workers[0]), at_work(workers[1]):
        async with asyncio.timeout(WAIT_S_MAX):
            while readings.at_once < 4:
                await asyncio.sleep(0.01)
        for number in range(8):
            await until(queue, await queue.enqueue(a_job(number)), "done")
        at_once = readings.at_once
        readings.may_end.set()
        for job in await queue.page(None, kind="read", limit=20):
            await until(queue, job.job_id, "done")

    assert at_once == readings.at_once_most == 4  # half of the jobs of each worker
    assert len(readings.runs) == 12


async def test_readings_that_only_wait_hold_no_slot_and_are_bounded(
    database: Database, queue: Jobs, tenants: TenantStore
) -> None:
    waiting, reading = JobRecorder(), JobRecorder()
    waiting.may_end.clear()
    limits = replace(PACE, jobs_max=2, tenant_jobs_max=1)

    async def wait(job: ClaimedJob) -> Mapping[str, Any]:
        job_slot.leave()
        return await waiting(job)

    handlers: dict[str, Handler] = {"wait": wait, "read": reading}
    made = Worker(Jobs(database), database.listening, handlers, limits, long_kinds=[*handlers])
    for number in range(limits.waiting_jobs_max + 2):
        tenant = f"w{number}"
        await tenants.create(tenant, tenant)
        await queue.enqueue(a_job(tenant=tenant, kind="wait", target="source:slow"))

    async with at_work(made):
        async with asyncio.timeout(WAIT_S_MAX):
            while waiting.at_once <= limits.waiting_jobs_max:
                await asyncio.sleep(0.01)
        other = await queue.enqueue(a_job(kind="read", target="source:quick"))
        held_up = await queue.get(None, other)
        waiting.may_end.set()
        await until(queue, other, "done")

    assert held_up is not None
    assert held_up.state == "waiting"
    assert waiting.at_once_most == limits.waiting_jobs_max + 1  # one holds the slot for readings


async def test_a_job_whose_turn_is_over_goes_on_after_those_of_others(
    database: Database, queue: Jobs, tenants: TenantStore
) -> None:
    does = JobRecorder([JobUnfinished(), JobUnfinished()])
    await tenants.create("beta", "beta")
    first = await queue.enqueue(a_job(attempts_max=1))
    await queue.enqueue(a_job(tenant="beta"))
    others = [await queue.enqueue(a_job(tenant="beta", target="document:1", attempts_max=1))]

    await worker(database, does, jobs_max=1, tenant_jobs_max=1).drain()

    assert [run.tenant for run in does.runs] == ["acme", "beta", "beta", "acme", "beta"]
    assert (await until(queue, first, "done")).attempts == 1
    assert (await until(queue, others[0], "done")).attempts == 1


@pytest.mark.slow
async def test_what_fails_is_tried_again_and_fails_for_good_after_its_attempts(
    database: Database, queue: Jobs
) -> None:
    does = JobRecorder(
        [EmbeddingUnavailable("away"), DatabaseUnavailable("away"), ValueError("text")]
    )
    mended = await queue.enqueue(a_job())
    await worker(database, does).drain()
    lost = await queue.enqueue(a_job(attempts_max=2))
    does.errors = [ValueError("a secret"), ValueError("a secret")]
    await worker(database, does).drain()

    assert (await until(queue, mended, "done")).result == {"attempt": 4}
    failed = await until(queue, lost, "failed")
    assert failed.attempts == 2
    assert failed.error == "ValueError"  # and not what it says


async def test_what_is_refused_is_not_tried_again(database: Database, queue: Jobs) -> None:
    does = JobRecorder([JobRefused("You may not.")])
    job_id = await queue.enqueue(a_job())
    await worker(database, does).drain()

    failed = await until(queue, job_id, "failed")

    assert (failed.attempts, failed.error) == (1, "You may not.")
    assert await queue.replay(None, job_id)
    await worker(database, does).drain()
    assert (await until(queue, job_id, "done")).result == {"attempt": 1}


@pytest.mark.slow
async def test_what_waits_for_money_loses_no_attempt(database: Database, queue: Jobs) -> None:
    does = JobRecorder([BudgetSpent("acme")] * 3)
    job_id = await queue.enqueue(a_job(attempts_max=1))

    await worker(database, does, spent_s=0.05).drain()

    assert (await until(queue, job_id, "done")).result == {"attempt": 1}
    assert len(does.runs) == 4


async def test_pauses_double_up_to_a_limit_and_no_two_are_alike() -> None:
    slow = WorkerLimits(pause_s=5.0, pause_s_max=300.0)

    pauses = [[slow.pause_after_s(attempts) for _ in range(50)] for attempts in (1, 2, 5, 40)]

    for each, longest_s in zip(pauses, (5.0, 10.0, 80.0, 300.0), strict=True):
        assert all(longest_s / 2 <= pause_s <= longest_s for pause_s in each)
        assert len(set(each)) > 40


async def test_a_stop_finishes_what_is_at_work_and_begins_nothing(
    database: Database, queue: Jobs
) -> None:
    does = JobRecorder()
    does.may_end.clear()
    first = await queue.enqueue(a_job())
    second = await queue.enqueue(a_job())  # of the same target: it has to wait for the first
    async with at_work(worker(database, does)) as stop:
        await does.begun.wait()
        stop.set()
        does.may_end.set()

    assert (await until(queue, first, "done")).attempts == 1
    assert (await until(queue, second, "waiting")).attempts == 0


async def test_what_is_not_done_in_time_is_given_back_at_once_and_loses_no_attempt(
    database: Database, queue: Jobs
) -> None:
    does = JobRecorder()
    does.may_end.clear()
    job_id = await queue.enqueue(a_job())
    async with at_work(worker(database, does, stop_s=0.05)) as stop:
        await does.begun.wait()
        stop.set()

    assert (await until(queue, job_id, "waiting")).attempts == 0


@pytest.mark.slow
async def test_a_long_job_keeps_its_lease(database: Database, queue: Jobs) -> None:
    does, other = JobRecorder(), JobRecorder()
    does.may_end.clear()
    job_id = await queue.enqueue(a_job())
    async with at_work(worker(database, does, lease_s=3.0)):
        await does.begun.wait()
        async with at_work(worker(database, other, lease_s=3.0)):
            await asyncio.sleep(4)  # longer than the lease
            does.may_end.set()
            done = await until(queue, job_id, "done")

    assert done.attempts == 1
    assert other.runs == []


@pytest.mark.slow
async def test_a_job_whose_worker_went_silent_is_done_by_another_when_its_lease_ends(
    database: Database, queue: Jobs
) -> None:
    job_id = await queue.enqueue(a_job())
    lost = await queue.claim(uuid4(), lease_s=1.0, tenant_jobs_max=4, kinds=["work"])
    assert lost is not None

    async with at_work(worker(database, JobRecorder())):
        done = await until(queue, job_id, "done")

    assert done.attempts == 2
    assert not await queue.finish(lost.run, {})


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_worker_outlives_its_database(
    database: Database, database_url: str, queue: Jobs
) -> None:
    async with (
        database_proxy(database_url) as proxy,
        connected(proxy.url) as cut_off,
    ):
        does = JobRecorder()
        does.may_end.clear()
        async with at_work(worker(cut_off, does, lease_s=1.0)):
            job_id = await queue.enqueue(a_job())
            await does.begun.wait()

            proxy.cut()
            does.may_end.set()  # it is done, and can't say so
            await asyncio.sleep(1.0)
            proxy.mend()

            done = await until(queue, job_id, "done")

    assert done.attempts >= 2
