"""A worker whose PostgreSQL stands still for a while and then goes on."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest

from index.postgres import database
from index.postgres.database import Database
from index.tenants.tenant_store import TenantStore
from ingest.worker.job_worker import Worker
from ingest.worker.pgqueuer_adapter import WorkerLimits
from tests.gateway.servers.own_postgres import WAIT_S_MAX, OwnPostgres
from tests.index.support.jobs import Jobs
from tests.ingest.worker.test_job_worker import JobRecorder, a_job, at_work, until

pytestmark = [pytest.mark.anyio, pytest.mark.blocking, pytest.mark.slow]


class RecordingQueue(Jobs):
    """sent: the messages that PostgreSQL has accepted."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.sent: list[str] = []

    async def notify(self, message: str) -> None:
        await super().notify(message)
        self.sent.append(message)


class RecordingListener:
    """listens: how often the worker began to listen. heard: the messages that arrived.

    Its connection takes as long as a few statements, as one to a distant server does.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.heard: list[str] = []
        self.listens = 0

    @asynccontextmanager
    async def __call__(
        self, channel: str, on_message: Callable[[str], None]
    ) -> AsyncIterator[object]:
        def record(message: str) -> None:
            self.heard.append(message)
            on_message(message)

        self.listens += 1
        for _ in range(10):
            await self._database.rows("jobs.is_any_waiting")
        async with self._database.listening(channel, record) as session:
            yield session


@pytest.mark.thorough
async def test_after_a_stall_of_postgres_the_worker_hears_its_own_probe(
    postgres: OwnPostgres,
) -> None:
    async with (
        database.connect(
            postgres.url,
            connections_max=4,
            statement_timeout_s=1.0,
            observe=lambda _name, _s: None,
            announce=database.announce_to_nobody,
        ) as connected,
    ):
        await TenantStore(connected).create("acme", "Acme")
        queue, listener, handler = (
            RecordingQueue(connected),
            RecordingListener(connected),
            JobRecorder(),
        )
        handler.may_end.clear()
        limits = WorkerLimits(stop_s=10.0)
        async with at_work(Worker(queue, listener, {"work": handler}, limits)):
            await queue.enqueue(a_job())
            await handler.begun.wait()
            postgres.freeze()
            handler.may_end.set()  # its result can't be recorded, so the worker begins anew
            await _until(lambda: listener.listens == 2)
            queue.sent.clear()
            postgres.thaw()
            await until(queue, await queue.enqueue(a_job(1)), "done")
            await _until(lambda: bool(queue.sent))
            probes = list(queue.sent)
            await _until_heard(queue, listener)

    assert set(probes) <= set(listener.heard)


async def _until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT_S_MAX):
        while not is_so():
            await asyncio.sleep(0.01)


async def _until_heard(queue: Jobs, listener: RecordingListener) -> None:
    """Send messages until one arrives; so did all that were sent to this listener before it."""
    async with asyncio.timeout(WAIT_S_MAX):
        while True:
            await queue.notify(message := str(uuid4()))
            for _ in range(100):
                if message in listener.heard:
                    return
                await asyncio.sleep(0.01)
