"""PostgreSQL that stops, is killed or hangs under requests: an answer or a 503, nothing else."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from common.errors import Saturated
from gateway.api import health
from gateway.settings.settings import Settings
from index.errors import DatabaseUnavailable
from index.postgres import database
from index.search.query_embedder import Embedder
from tests.gateway.faults.test_restored_database import settings_of
from tests.gateway.servers.own_postgres import (
    WAIT_S_MAX,
    OwnPostgres,
    Stop,
)
from tests.gateway.support.gateways import Caller, Gateway, problem, running
from tests.sampling import is_thorough

pytestmark = [pytest.mark.anyio, pytest.mark.blocking, pytest.mark.slow]

AT_ONCE = 24
TURNS = 4 if is_thorough() else 2
AGE_MS = 60_000  # that some callers allow an answer to have


@pytest.fixture
async def gateway(
    settings: Settings, postgres: OwnPostgres, embedder: Embedder
) -> AsyncIterator[Gateway]:
    own = settings_of(settings, postgres.url)
    async with running(own.model_copy(update={"staleness_s_max": 60.0}), embedder) as started:
        await started.tenant("acme")
        yield started


class HangingCallers:
    """Callers who ask, read and write without a pause, and what they were told."""

    def __init__(self, ana: Caller) -> None:
        self._ana = ana
        self._stop = asyncio.Event()
        self.told: Counter[tuple[str, int]] = Counter()
        self.bodies: list[str] = []

    async def run(self, number: int) -> None:
        turn = 0
        while not self._stop.is_set():
            turn += 1
            await self._call(number, f"{number}-{turn}")

    async def _call(self, number: int, new: str) -> None:
        match number % 6:
            case 0:
                await self._told(
                    "old", "POST", "/v1/search", {"query": "leave", "max_staleness_ms": AGE_MS}
                )
            case 1:
                await self._told("cached", "POST", "/v1/search", {"query": "leave"})
            case 2:
                await self._told("new", "POST", "/v1/search", {"query": f"zorb {new}"})
            case 3:
                await self._told("put", "PUT", f"/v1/documents/d{number}", {"text": f"Bees {new}."})
            case 4:
                await self._told("get", "GET", "/v1/documents/leave")
            case 5:
                searches = [{"query": "leave"}, {"query": f"bees {new}"}]
                await self._told("batch", "POST", "/v1/search/batch", {"searches": searches})

    async def _told(self, what: str, method: str, path: str, body: object = None) -> None:
        answer = await self._ana.call(method, path, json=body)
        self.told[what, answer.status_code] += 1
        if answer.status_code not in (200, 503):
            self.bodies.append(f"{what} {answer.status_code} {answer.text}")

    def statuses(self, what: str | None = None) -> set[int]:
        return {status for each, status in self.told if what in (None, each)}

    async def settled(self, wanted: str) -> None:
        """Wait until this kind of call has been answered well, once more."""
        before = self.told[wanted, 200]
        async with asyncio.timeout(30):
            while self.told[wanted, 200] <= before:
                await asyncio.sleep(0.01)

    async def refused(self, wanted: str) -> None:
        before = self.told[wanted, 503]
        async with asyncio.timeout(30):
            while self.told[wanted, 503] <= before:
                await asyncio.sleep(0.01)

    def stop(self) -> None:
        self._stop.set()


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["fast", "immediate", "killed"])
async def test_whoever_asks_while_postgres_stops_is_answered_or_told_to_try_again(
    gateway: Gateway, postgres: OwnPostgres, way: Stop
) -> None:
    ana = await gateway.caller("ana")
    await ana.put("leave", "25 days of annual leave.")
    await ana.search("leave")
    crowd = HangingCallers(ana)
    async with asyncio.TaskGroup() as group:
        for number in range(AT_ONCE):
            group.create_task(crowd.run(number))
        for _ in range(TURNS):
            await crowd.settled("put")
            await postgres.stop(way)
            await crowd.refused("new")
            await postgres.start()
        await crowd.settled("put")
        crowd.stop()

    assert crowd.statuses() == {200, 503}, crowd.bodies[:3]


@pytest.mark.sampled("fast")
@pytest.mark.parametrize("way", ["fast", "immediate", "killed"])
async def test_a_cached_answer_is_served_while_postgres_is_stopped_if_it_may_be_as_old(
    gateway: Gateway, postgres: OwnPostgres, way: Stop
) -> None:
    ana = await gateway.caller("ana")
    await ana.put("leave", "25 days of annual leave.")
    for _ in range(TURNS):
        fresh = await ana.search("leave")
        await postgres.stop(way)
        old = await ana.search("leave", max_staleness_ms=AGE_MS)
        new = await ana.call("POST", "/v1/search", json={"query": "leave"})
        await postgres.start()

        assert old.content == fresh.content
        problem(new, 503)


@pytest.mark.thorough
async def test_whoever_asks_while_one_of_its_processes_dies_is_answered_or_told_to_try_again(
    gateway: Gateway, postgres: OwnPostgres
) -> None:
    ana = await gateway.caller("ana")
    await ana.put("leave", "25 days of annual leave.")
    await ana.search("leave")
    crowd = HangingCallers(ana)
    async with asyncio.TaskGroup() as group:
        for number in range(AT_ONCE):
            group.create_task(crowd.run(number))
        for _ in range(TURNS):
            await crowd.settled("put")
            await postgres.kill_one_process()
        await crowd.settled("put")
        crowd.stop()

    assert crowd.statuses() == {200, 503}, crowd.bodies[:3]


async def test_whoever_asks_while_postgres_hangs_is_told_so(
    gateway: Gateway, postgres: OwnPostgres
) -> None:
    ana = await gateway.caller("ana")
    await ana.put("leave", "25 days of annual leave.")
    await ana.search("leave")
    crowd = HangingCallers(ana)
    async with asyncio.TaskGroup() as group:
        for number in range(AT_ONCE):
            group.create_task(crowd.run(number))
        await crowd.settled("put")
        postgres.freeze()
        await crowd.refused("cached")
        postgres.thaw()
        await crowd.settled("put")
        crowd.stop()

    # 504: the deadline.
    assert crowd.statuses() <= {200, 503, 504}, crowd.bodies[:3]


async def test_a_probe_is_told_in_time_that_postgres_hangs(
    gateway: Gateway, postgres: OwnPostgres
) -> None:
    postgres.freeze()
    started_s = time.perf_counter()
    probes = await asyncio.gather(*(gateway.client.get("/readyz") for _ in range(AT_ONCE)))
    later = await gateway.client.get("/readyz")
    took_s = time.perf_counter() - started_s
    postgres.thaw()

    for probe in (*probes, later):
        problem(probe, 503)
    assert took_s < 2 * health.READY_S_MAX + 1
    async with asyncio.timeout(WAIT_S_MAX):
        while (await gateway.client.get("/readyz")).status_code != 200:
            await asyncio.sleep(0.02)


@pytest.mark.thorough
@pytest.mark.usefixtures("gateway")  # which creates the schema
async def test_while_postgres_hangs_a_tenant_whose_share_is_in_use_is_told_of_the_outage(
    postgres: OwnPostgres,
) -> None:
    async with database.connect(
        postgres.url,
        connections_max=2,
        statement_timeout_s=60.0,
        observe=lambda _name, _s: None,
        announce=database.announce_to_nobody,
    ) as connected:
        held, enough = asyncio.Event(), asyncio.Event()

        async def hold() -> None:
            async with connected.searching.snapshot("acme"):
                held.set()
                await enough.wait()

        async def snapshot() -> None:
            async with connected.searching.snapshot("acme"):
                pass

        await connected.dedicated.rows("embedding_migration.tenants")
        async with asyncio.TaskGroup() as group:
            group.create_task(hold())  # a snapshot within one of the same task takes no slot
            await held.wait()
            with pytest.raises(Saturated):
                await snapshot()
            postgres.freeze()
            waiting = asyncio.create_task(snapshot())
            with pytest.raises(DatabaseUnavailable):
                await connected.dedicated.rows("embedding_migration.tenants")
            with pytest.raises(DatabaseUnavailable):
                await waiting
            postgres.thaw()
            await connected.dedicated.rows("embedding_migration.tenants")
            with pytest.raises(Saturated):
                await snapshot()
            enough.set()
