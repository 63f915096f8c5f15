"""Readings that work for long: they lend their slots, and whose turn is next."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from index.jobs.job_queue import ClaimedJob
from index.postgres.database import Database
from index.tenants.tenant_store import TenantStore
from ingest.worker import job_slot
from ingest.worker.job_worker import Handler, Worker
from tests.index.support.jobs import Jobs
from tests.ingest.worker.test_job_worker import (
    PACE,
    WAIT_S_MAX,
    JobRecorder,
    a_job,
    at_work,
    queue,
    until,
)

pytestmark = pytest.mark.anyio

__all__ = ["queue"]


@dataclass(slots=True)
class LongReadings:
    """They work without a pause until they may end. worked: their tenants, in order."""

    worked: list[str] = field(default_factory=list)
    running: set[str] = field(default_factory=set)
    may_end: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, job: ClaimedJob) -> Mapping[str, Any]:
        self.running.add(job.tenant)
        while not self.may_end.is_set():
            self.worked.append(job.tenant)
            await job_slot.in_turns(asyncio.sleep(0))
        return {}


async def test_readings_that_work_for_long_let_one_of_another_tenant_come_between(
    database: Database, queue: Jobs, tenants: TenantStore
) -> None:
    long, quick = LongReadings(), JobRecorder()
    handlers: dict[str, Handler] = {"long": long, "quick": quick}
    limits = replace(PACE, turn_s=0.05)
    made = Worker(Jobs(database), database.listening, handlers, limits, long_kinds=[*handlers])
    for tenant in ("beta", "gamma"):
        await tenants.create(tenant, tenant)
        await queue.enqueue(a_job(tenant=tenant, kind="long", target="source:huge"))

    async with at_work(made):
        async with asyncio.timeout(WAIT_S_MAX):
            while long.running != {"beta", "gamma"}:
                await asyncio.sleep(0.01)
        await until(queue, await queue.enqueue(a_job(kind="quick")), "done")
        long.worked.clear()
        async with asyncio.timeout(WAIT_S_MAX):
            while {*long.worked} != {"beta", "gamma"}:
                await asyncio.sleep(0.01)
        long.may_end.set()
        for job in await queue.page(None, kind="long", limit=2):
            assert (await until(queue, job.job_id, "done")).attempts == 1


async def test_a_reading_has_its_next_turn_before_those_that_came_after_it(
    database: Database, queue: Jobs, tenants: TenantStore
) -> None:
    long, ran = LongReadings(), list[str]()
    limits = replace(PACE, jobs_max=1, turn_s=0.05)

    async def quick(job: ClaimedJob) -> Mapping[str, Any]:
        ran.append(job.tenant)
        long.worked.clear()
        if job.tenant == "beta":
            await queue.enqueue(a_job(tenant="later", kind="quick"))
        elif job.tenant == "later":
            long.may_end.set()
        return {}

    async def read(job: ClaimedJob) -> Mapping[str, Any]:
        for tenant in ("beta", "gamma"):
            await queue.enqueue(a_job(tenant=tenant, kind="quick"))
        return await long(job)

    handlers: dict[str, Handler] = {"long": read, "quick": quick}
    made = Worker(Jobs(database), database.listening, handlers, limits, long_kinds=[*handlers])
    for tenant in ("beta", "gamma", "later"):
        await tenants.create(tenant, tenant)
    job_id = await queue.enqueue(a_job(kind="long"))

    async with at_work(made):
        async with asyncio.timeout(WAIT_S_MAX):
            while ran != ["beta", "gamma"]:
                await asyncio.sleep(0)
        assert await worked_before(long, ran, 3)
        await until(queue, job_id, "done")

    assert ran == ["beta", "gamma", "later"]


async def worked_before(long: LongReadings, ran: Sequence[str], number: int) -> bool:
    """Whether the reading works again before so many quick ones have run."""
    async with asyncio.timeout(WAIT_S_MAX):
        while not long.worked and len(ran) < number:
            await asyncio.sleep(0)
    return len(ran) < number


async def test_no_more_readings_lend_their_slot_than_a_worker_may_hold(
    database: Database, queue: Jobs, tenants: TenantStore
) -> None:
    long = LongReadings()
    limits = replace(PACE, jobs_max=1, turn_s=0.01)
    made = Worker(Jobs(database), database.listening, {"long": long}, limits, long_kinds=["long"])
    most = limits.lent_jobs_max + 1  # one holds the slot
    for number in range(most + 1):
        await tenants.create(f"t{number}", "")
        job_id = await queue.enqueue(a_job(tenant=f"t{number}", kind="long"))

    async with at_work(made):
        async with asyncio.timeout(WAIT_S_MAX):
            while len(long.running) < most:
                await asyncio.sleep(0.01)
        long.worked.clear()
        async with asyncio.timeout(WAIT_S_MAX):
            while len({*long.worked}) < most:  # each has had a turn since
                await asyncio.sleep(0.01)
        last = await queue.get(None, job_id)
        long.may_end.set()
        await until(queue, job_id, "done")

    assert last is not None
    assert last.state == "waiting"
