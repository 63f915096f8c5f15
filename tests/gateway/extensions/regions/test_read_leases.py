"""Writers and holders on a real primary: an acknowledged write has been heard of."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import asyncpg
import pytest

from gateway.extensions._regions.read_lease_store import ReadLeaseStore
from gateway.extensions.regions.acknowledger import SENDERS
from gateway.extensions.regions.announcer import Announcer
from gateway.extensions.regions.lease_keeper import LeaseKeeper
from index.postgres.database import Database, connect
from index.tenants.tenant_store import TenantRevisions, TenantStore
from tests.gateway.support.delayed import far_database

pytestmark = pytest.mark.anyio

DURATION_S = 1.0
FAR_S = 0.12  # each way
TENANTS = ("acme", "public")


class Primary:
    """Counts how often the counters are read from the primary."""

    def __init__(self, tenants: TenantStore) -> None:
        self._tenants = tenants
        self.readings = 0

    async def revisions(self, tenants: Collection[str]) -> Mapping[str, TenantRevisions]:
        self.readings += 1
        return await self._tenants.revisions_aside(tenants)


class Region:
    """A gateway that holds a lease."""

    def __init__(self, database: Database, name: str, duration_s: float = DURATION_S) -> None:
        self.primary = Primary(TenantStore(database))
        self.store = ReadLeaseStore(database)
        self.keeper = LeaseKeeper(self.store, self.primary, name, duration_s=duration_s)

    def access_revision(self) -> int | None:
        known = self.keeper.known(TENANTS)
        return None if known is None else known["acme"].access_revision

    async def knows(self) -> None:
        """Wait until it answers without the primary."""
        while self.access_revision() is None:
            await self.keeper.revisions(TENANTS)
            await asyncio.sleep(0.01)


Connect = Callable[[Announcer], AbstractAsyncContextManager[Database]]


@pytest.fixture
def connected(database_url: str) -> Connect:
    def connected(announcer: Announcer) -> AbstractAsyncContextManager[Database]:
        return connect(
            database_url,
            connections_max=4,
            statement_timeout_s=10,
            observe=lambda _name, _seconds: None,
            announce=announcer,
        )

    return connected


@asynccontextmanager
async def writing(connected: Connect) -> AsyncIterator[TenantStore]:
    """The tenants through a writer that announces, with acme."""
    async with Announcer(DURATION_S).running() as announcer, connected(announcer) as database:
        tenants = TenantStore(database)
        await tenants.create("acme", "Acme")
        store = ReadLeaseStore(database)
        await store.replicate_history()  # the database is a copy, so it has another history
        await store.settle((await tenants.revisions_aside(["acme"]))["acme"].history)
        yield tenants


@asynccontextmanager
async def held(connected: Connect, name: str = "far") -> AsyncIterator[Region]:
    async with Announcer(DURATION_S).running() as announcer, connected(announcer) as database:
        region = Region(database, name)
        async with region.keeper.running(), asyncio.timeout(60):
            await region.knows()
            yield region


async def seconds_of(write: Any) -> float:
    started_s = time.monotonic()
    await write
    return time.monotonic() - started_s


async def test_a_write_that_was_acknowledged_was_heard_of(connected: Connect) -> None:
    async with writing(connected) as tenants, held(connected) as far, held(connected) as other:
        readings = far.primary.readings
        for number in range(1, 30):
            await tenants.add_member("acme", "sales", f"member {number}")
            assert far.access_revision() == number
            assert other.access_revision() == number
        assert far.primary.readings == readings


@pytest.mark.thorough
async def test_concurrent_writes_are_heard_of_before_each_is_acknowledged(
    connected: Connect,
) -> None:
    async with writing(connected) as tenants, held(connected) as far:

        async def write(number: int) -> None:
            await tenants.add_member("acme", "sales", f"member {number}")
            done.append(number)
            assert (far.access_revision() or 0) >= len(done)

        done: list[int] = []
        await asyncio.gather(*(write(number) for number in range(40)))
        assert far.access_revision() == 40


async def test_a_holder_that_is_deaf_delays_one_write_by_its_lease(
    connected: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with writing(connected) as tenants:
        async with held(connected) as far:
            assert await seconds_of(tenants.add_member("acme", "sales", "ana")) < 0.5 * DURATION_S
            monkeypatch.setattr(far.store, "acknowledge", unheard)
            waited_s = await seconds_of(tenants.add_member("acme", "sales", "ben"))
            assert waited_s >= 0.9 * DURATION_S
            assert far.access_revision() in (None, 2)
        await asyncio.sleep(0.1)  # its last renewal may have come after the wait
        await tenants.add_member("acme", "sales", "cleo")

        assert await seconds_of(tenants.add_member("acme", "sales", "dan")) < 0.5 * DURATION_S


@pytest.mark.thorough
async def test_a_holder_that_goes_silent_after_a_renewal_delays_one_write(
    connected: Connect,
) -> None:
    """The writer has read its leases before the renewal."""
    async with writing(connected) as tenants, connected(Announcer(0)) as database:
        store, heard = ReadLeaseStore(database), asyncio.Event()
        async with store.announcements(lambda _: heard.set()) as session:
            await store.renew(session, "silent", "far", DURATION_S, None)
            write = asyncio.create_task(seconds_of(tenants.add_member("acme", "sales", "ana")))
            await heard.wait()
            await store.renew(session, "silent", "far", DURATION_S, None)

            assert await write >= 0.9 * DURATION_S
            assert await seconds_of(tenants.add_member("acme", "sales", "ben")) < 0.5 * DURATION_S


@pytest.mark.thorough
async def test_a_holder_that_can_no_longer_acknowledge_takes_its_lease_anew(
    database_url: str, connected: Connect
) -> None:
    async with writing(connected) as tenants, held(connected) as far:
        connection = await asyncpg.connect(database_url)
        ended = await connection.fetch(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE query LIKE '%pg_notify(channel, message)%' AND pid <> pg_backend_pid()"
        )
        await connection.close()
        assert len(ended) == SENDERS
        async with asyncio.timeout(60):
            while far.keeper.is_held:
                await asyncio.sleep(0.01)
            await far.knows()

        assert await seconds_of(tenants.add_member("acme", "sales", "ana")) < 0.5 * DURATION_S
        assert far.access_revision() == 1


async def unheard(*_arguments: Any) -> None:
    """Nothing is sent."""


async def test_a_gateway_far_from_the_primary_holds_its_lease(
    database_url: str, connected: Connect
) -> None:
    """A renewal is one round trip, or the lease would run out before it begins to count."""
    async with (
        writing(connected) as tenants,
        far_database(database_url, FAR_S) as far_url,
        Announcer(DURATION_S).running() as announcer,
        connect(
            far_url,
            connections_max=2,
            statement_timeout_s=10,
            observe=lambda _name, _seconds: None,
            announce=announcer,
        ) as database,
    ):
        far = Region(database, "far")
        async with far.keeper.running(), asyncio.timeout(60):
            await far.knows()
            for number in range(1, 6):
                took_s = await seconds_of(tenants.add_member("acme", "sales", f"member {number}"))
                assert far.access_revision() == number
                assert took_s < 0.9 * DURATION_S


async def test_a_holder_that_ends_delays_nothing(connected: Connect) -> None:
    async with writing(connected) as tenants:
        async with held(connected):
            pass
        assert await seconds_of(tenants.add_member("acme", "sales", "ana")) < 0.5 * DURATION_S


async def test_a_holder_that_stops_renewing_asks_the_primary(connected: Connect) -> None:
    async with (
        writing(connected) as tenants,
        Announcer(DURATION_S).running() as announcer,
        connected(announcer) as database,
    ):
        far = Region(database, "far")
        async with far.keeper.running(), asyncio.timeout(60):
            await far.knows()
        await asyncio.sleep(DURATION_S)
        assert far.access_revision() is None

        await tenants.add_member("acme", "sales", "ana")

        assert (await far.keeper.revisions(TENANTS))["acme"].access_revision == 1
        assert far.access_revision() is None


@pytest.mark.thorough
async def test_a_lost_connection_ends_the_lease(database_url: str, connected: Connect) -> None:
    """Long before it runs out: the primary may have restarted with another history."""
    duration_s = 10.0
    async with Announcer(duration_s).running() as announcer, connected(announcer) as database:
        await TenantStore(database).create("acme", "Acme")
        far = Region(database, "far", duration_s)
        async with far.keeper.running(), asyncio.timeout(60):
            await far.knows()
            await end_connections(database_url, "%renew_read_lease%")
            started_s = time.monotonic()
            while far.keeper.is_held:
                await asyncio.sleep(0.01)
            assert time.monotonic() - started_s < 0.5 * duration_s


@pytest.mark.thorough
async def test_acknowledgements_that_are_lost_delay_one_write(
    database_url: str, connected: Connect
) -> None:
    async with writing(connected) as tenants, held(connected):
        await tenants.add_member("acme", "sales", "ana")
        await end_connections(database_url, "LISTEN%nearhit_heard%")

        deaf_s = await seconds_of(tenants.add_member("acme", "sales", "ben"))
        later_s = await seconds_of(tenants.add_member("acme", "sales", "cleo"))

        assert deaf_s >= 0.9 * DURATION_S
        assert later_s < 0.5 * DURATION_S


async def end_connections(url: str, last_query: str) -> None:
    connection = await asyncpg.connect(url)
    ended = await connection.fetchval(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE $1",
        last_query,
    )
    await connection.close()
    assert ended == 1


@pytest.mark.thorough
async def test_in_a_new_history_no_write_is_acknowledged_before_lost_leases_have_run_out(
    connected: Connect,
) -> None:
    async with writing(connected) as tenants:
        async with held(connected):
            await tenants.add_member("acme", "sales", "ana")
        await tenants.begin_history()

        first_s = await seconds_of(tenants.add_member("acme", "sales", "ben"))
        second_s = await seconds_of(tenants.add_member("acme", "sales", "cleo"))

        assert first_s >= DURATION_S
        assert second_s < 0.5 * DURATION_S


@pytest.mark.thorough
async def test_a_holder_follows_to_a_new_history(connected: Connect) -> None:
    async with writing(connected) as tenants, held(connected) as far:
        before = far.keeper.known(["acme"])
        await tenants.begin_history()
        await tenants.add_member("acme", "sales", "ana")
        async with asyncio.timeout(60):
            await far.knows()

        after = far.keeper.known(["acme"])
        assert before is not None
        assert after is not None
        assert after["acme"].history != before["acme"].history
        assert after["acme"].access_revision == 1


@pytest.mark.thorough
async def test_many_tenants_are_announced_in_parts(connected: Connect) -> None:
    names = [f"tenant-{number}" for number in range(45)]
    async with writing(connected) as tenants, held(connected) as far:
        for name in names:
            await tenants.create(name, name)
        await far.keeper.revisions(names)

        await asyncio.gather(*(tenants.add_member(name, "sales", "ana") for name in names))

        known = far.keeper.known(names)
        assert known is not None
        assert {each.access_revision for each in known.values()} == {1}
