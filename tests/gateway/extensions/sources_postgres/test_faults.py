"""A followed server, a slot or a worker that is lost: what was committed is found all the same."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator

import asyncpg
import pytest

from gateway.extensions.sources_postgres.server import replication_slot
from gateway.services import Services
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.conftest import run_sql
from tests.gateway.extensions.sources_postgres.conftest import (
    LOGICAL,
    FollowedServer,
    database_of,
    error_of,
    followers_of,
    following,
    put,
    reached,
    source_of,
    wait,
)
from tests.gateway.servers.own_postgres import OwnPostgres, bare_postgres, place
from tests.gateway.support.crashes import WAIT_S_MAX
from tests.gateway.support.gateways import Caller
from tests.gateway.support.workers import worker_services

pytestmark = [pytest.mark.anyio, pytest.mark.isolated, pytest.mark.slow]


@pytest.fixture
async def own_server() -> AsyncIterator[FollowedServer]:
    """One that the test may kill."""
    with place() as folder:
        async with (
            bare_postgres(folder, None, synchronous_commit="on", **LOGICAL) as postgres,
            database_of(postgres) as made,
        ):
            yield made


async def all_articles(caller: Caller) -> dict[str, str]:
    documents = (await caller.call("GET", "/v1/documents")).json()["documents"]
    texts = {}
    for each in documents:
        whole = (await caller.call("GET", f"/v1/documents/{each['document_id']}")).json()
        texts[each["document_id"]] = whole["text"]
    return texts


@pytest.mark.usefixtures("followed")
async def test_a_server_that_is_killed_is_followed_on_when_it_comes_back(
    admin: Caller, own_server: FollowedServer
) -> None:
    await put(admin, own_server.body())
    await reached(admin, await own_server.run("INSERT INTO articles VALUES (1, 'A', 'amber')"))
    copied = (await source_of(admin))["last_run_at"]

    await own_server.run("INSERT INTO articles VALUES (2, 'B', 'basalt')")
    await own_server.postgres.stop("killed")
    error = await error_of(admin)
    await own_server.postgres.start()
    await reached(admin, await own_server.run("DELETE FROM articles WHERE id = 1"))
    found = await all_articles(admin)
    source = await source_of(admin)

    assert "can't be reached" in error
    assert found == {"articles/2": "basalt"}
    assert source["last_error"] is None
    assert source["counts"]["documents"] <= 1  # of the one copy
    assert source["last_run_at"] > copied


@pytest.mark.usefixtures("followed")
async def test_after_a_failover_all_is_copied_anew_and_what_was_lost_is_removed(
    admin: Caller, own_server: FollowedServer
) -> None:
    async with own_server.postgres.standby() as standby:
        standby.settings = dict(LOGICAL)
        await standby.start()
        await put(admin, own_server.body())
        lsn = await own_server.run("INSERT INTO articles VALUES (1, 'A', 'amber')")
        async with asyncio.timeout(30):
            while not await _has_replayed(standby, lsn):
                await asyncio.sleep(0.02)
        await standby.stop()  # it misses what comes now
        await reached(admin, await own_server.run("INSERT INTO articles VALUES (2, 'B', 'basalt')"))
        before = await all_articles(admin)

        await own_server.postgres.stop("killed")
        standby.lacks_the_tail()
        standby.take_port_of(own_server.postgres)
        await standby.start()
        await standby.promote()
        promoted = FollowedServer(standby, own_server.database)
        await reached(admin, await promoted.run("INSERT INTO articles VALUES (3, 'C', 'cedar')"))
        after = await all_articles(admin)
        await standby.stop()
        await own_server.postgres.start()

    assert before.keys() == {"articles/1", "articles/2"}
    assert after.keys() == {"articles/1", "articles/3"}


async def _has_replayed(standby: OwnPostgres, lsn: str) -> bool:
    connection = await asyncpg.connect(standby.url)
    try:
        return bool(
            await connection.fetchval("SELECT pg_last_wal_replay_lsn() >= $1::text::pg_lsn", lsn)
        )
    finally:
        await connection.close()


async def test_a_slot_that_was_dropped_is_made_anew_and_all_is_copied(
    admin: Caller, services: Services, server: FollowedServer
) -> None:
    await put(admin, server.body())
    async with following(services):
        await reached(admin, await server.run("INSERT INTO articles VALUES (1, 'A', 'amber')"))
    await server.run(
        "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots "
        "WHERE database = current_database()"
    )
    await server.run("DELETE FROM articles")
    lsn = await server.run("INSERT INTO articles VALUES (2, 'B', 'basalt')")
    async with following(services):
        await reached(admin, lsn)

    assert await all_articles(admin) == {"articles/2": "basalt"}


@pytest.mark.usefixtures("followed")
async def test_a_slot_that_is_dropped_under_its_follower_is_made_anew(
    admin: Caller, server: FollowedServer
) -> None:
    await put(admin, server.body())
    await reached(admin, await server.run("INSERT INTO articles VALUES (1, 'A', 'amber')"))

    await server.run(
        "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots "
        "WHERE database = current_database()"
    )
    await reached(admin, await server.run("UPDATE articles SET body = 'basalt'"))

    assert await all_articles(admin) == {"articles/1": "basalt"}


async def test_a_slot_that_keeps_too_much_is_made_anew(
    admin: Caller,
    services: Services,
    server: FollowedServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await put(admin, server.body())
    async with following(services):
        await reached(admin, await server.run("INSERT INTO articles VALUES (1, 'A', 'amber')"))
    slot = "SELECT confirmed_flush_lsn::text FROM pg_replication_slots ORDER BY 1 DESC LIMIT 1"
    before = await server.value(slot)
    lsn = await server.run("DELETE FROM articles")
    monkeypatch.setattr(replication_slot, "WAL_BYTES_MAX", 0)
    async with following(services):
        await reached(admin, lsn)

    assert await all_articles(admin) == {}
    assert await server.value(slot) != before
    assert await server.slots() == 1


async def test_a_worker_that_was_killed_is_followed_by_another_one(
    admin: Caller, settings: Settings, services: Services, server: FollowedServer
) -> None:
    await put(admin, server.body())
    worker = await _started_worker(settings, "gateway", "worker")
    try:
        lsn = await server.run("INSERT INTO articles VALUES (1, 'A', 'amber')")
        async with asyncio.timeout(WAIT_S_MAX * 2):
            while not (await wait(admin, lsn))["reached"]:  # it takes its time to start
                pass
    finally:
        os.kill(worker.pid, signal.SIGKILL)
        await worker.wait()
    await _expire_leases(settings)
    lsn = await server.run("UPDATE articles SET body = 'basalt', readers = '{}'")
    async with following(services):
        await reached(admin, lsn)

    assert await all_articles(admin) == {}  # the admin is no reader


async def _started_worker(
    settings: Settings, module: str, *arguments: str
) -> asyncio.subprocess.Process:
    assert settings.database_url is not None
    assert settings.redis_url is not None
    own = {
        "NEARHIT_DATABASE_URL": settings.database_url.get_secret_value(),
        "NEARHIT_REDIS_URL": settings.redis_url.get_secret_value(),
        "NEARHIT_CACHE_PREFIX": settings.cache_prefix,
    }
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, *arguments, env=os.environ | own
    )


async def _expire_leases(settings: Settings) -> None:
    """Let time go by."""
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()
    await run_sql(url, "UPDATE source_followers SET leased_until = now() - interval '1 s'")


STEPS = {
    "before the copy": "source_followers.begin_copy",
    "half copied": "documents.advance",
    "before the position": "documents.of_source",
    "position recorded, slot where it was": "source_followers.record",
}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.sampled("half copied", "position recorded, slot where it was")
async def test_a_worker_killed_at_any_step_leaves_nothing_out(
    admin: Caller, settings: Settings, services: Services, server: FollowedServer, step: str
) -> None:
    await server.run("INSERT INTO articles VALUES (1, 'A', 'amber'), (2, 'B', 'basalt')")
    await put(admin, server.body())
    module = "tests.gateway.extensions.sources_postgres.crashing_follower"
    worker = await _started_worker(settings, module, STEPS[step])
    async with asyncio.timeout(WAIT_S_MAX):
        assert await worker.wait() == -signal.SIGKILL

    lsn = await server.run("DELETE FROM articles WHERE id = 1; UPDATE articles SET body = 'cedar'")
    await _expire_leases(settings)
    async with following(services):
        await reached(admin, lsn)

    assert await all_articles(admin) == {"articles/2": "cedar"}
    assert await server.slots() == 1


async def test_what_stands_in_the_log_and_is_not_visible_yet_is_waited_for(
    admin: Caller, services: Services, own_server: FollowedServer
) -> None:
    """A commit that waits for a synchronous standby is decoded before anybody sees its rows."""
    await own_server.run("INSERT INTO articles VALUES (1, 'A', 'amber')")
    await put(admin, own_server.body())
    async with following(services):
        await reached(admin, await own_server.run("SELECT 1"))
        await own_server.run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        await own_server.run("SELECT pg_reload_conf()")
        deleting = asyncio.create_task(own_server.run("DELETE FROM articles"))
        async with asyncio.timeout(30):
            while not await own_server.value(
                "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep')"
            ):
                await asyncio.sleep(0.02)
        lsn = await own_server.value("SELECT pg_current_wal_lsn()::text")
        early = await wait(admin, lsn, timeout_s=1.0)
        kept = await all_articles(admin)
        await own_server.run("ALTER SYSTEM RESET synchronous_standby_names")
        await own_server.run("SELECT pg_reload_conf()")
        await reached(admin, await deleting)

    assert not early["reached"]
    assert kept == {"articles/1": "amber"}
    assert await all_articles(admin) == {}


async def test_a_follower_that_has_lost_its_lease_writes_nothing(
    admin: Caller,
    settings: Settings,
    services: Services,
    server: FollowedServer,
    embedder: Embedder,
) -> None:
    """A process that stood still goes on, while another one follows."""
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()
    await put(admin, server.body())
    frozen = followers_of(services)
    frozen.tick_s = 1_000.0  # it does not notice by itself
    async with following(services), worker_services(settings, embedder) as others:
        frozen.tick_s = 1_000.0
        await reached(admin, await server.run("INSERT INTO articles VALUES (1, 'A', 'amber')"))
        await run_sql(
            url, "UPDATE source_followers SET lease = gen_random_uuid(), leased_until = now()"
        )
        lsn = await server.run("UPDATE articles SET body = 'basalt'")
        waited = await wait(admin, lsn, timeout_s=1.0)
        before = await all_articles(admin)
        async with following(others):
            await reached(admin, lsn)
        after = await all_articles(admin)

    assert not waited["reached"]
    assert before == {"articles/1": "amber"}
    assert after == {"articles/1": "basalt"}


async def test_two_workers_follow_a_source_once(
    admin: Caller,
    settings: Settings,
    services: Services,
    server: FollowedServer,
    embedder: Embedder,
) -> None:
    await put(admin, server.body())
    async with (
        worker_services(settings, embedder) as others,
        following(services),
        following(others),
    ):
        for number in range(20):
            lsn = await server.run(
                "INSERT INTO articles VALUES ($1, 'A', 'amber ' || $1::integer)", number
            )
            await reached(admin, lsn)

        assert await server.slots() == 1
        assert len(await all_articles(admin)) == 20
