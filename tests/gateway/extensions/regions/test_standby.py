"""A gateway that searches its region's standby, which may be behind, away, or another server."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack

import pytest
from pydantic import SecretStr

from common.command_errors import CommandError
from gateway.cli.start.setting_checks import require_valid
from gateway.extensions._regions import standbys
from gateway.extensions.embedded_servers.owned_servers import Servers
from gateway.extensions.regions import region_process
from gateway.monitoring.metrics import Metrics
from gateway.services import Brought, open_services
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.extensions.regions.conftest import Pair
from tests.gateway.support.commands import environment_of, process_output
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.support.leases import holds_lease

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]


@pytest.fixture
async def gateway(region_settings: Settings, embedder: Embedder) -> AsyncIterator[Gateway]:
    async with running(region_settings, embedder) as started:
        await started.tenant("acme")
        yield started


@pytest.fixture
async def far(
    far_settings: Settings, embedder: Embedder, gateway: Gateway
) -> AsyncIterator[Gateway]:
    async with running(far_settings, embedder) as started:
        yield started


@pytest.fixture
async def ana(gateway: Gateway) -> Caller:
    return await gateway.caller("ana", roles=["reader", "writer"])


async def reads(far: Gateway, outcome: str) -> float:
    return await far.counted("nearhit_standby_reads_total", outcome=outcome)


async def asked_until_standby_answers(far: Gateway, caller: Caller) -> None:
    """Ask new questions until some in a row are answered without the primary.

    The first ones may need functions that the standby has not replayed yet.
    """
    answered = 0
    async with asyncio.timeout(60):
        while answered < 3:
            before = await reads(far, "standby")
            await caller.search(f"question {random.random()}")  # noqa: S311
            answered = answered + 1 if await reads(far, "standby") > before else 0
            await asyncio.sleep(0.05)


@pytest.mark.thorough
async def test_a_new_question_is_answered_while_the_primary_hangs(
    pair: Pair, far: Gateway, ana: Caller
) -> None:
    at_far = far.as_(ana)
    await ana.put("leave", "Everybody has 25 days of leave.")
    await asked_until_standby_answers(far, at_far)
    await holds_lease(far, at_far)

    with pair.primary.hanging():
        assert await at_far.found("how many days of leave are there") == ["leave"]


async def test_what_the_standby_has_not_replayed_comes_from_the_primary(
    pair: Pair, far: Gateway, ana: Caller
) -> None:
    at_far = far.as_(ana)
    await ana.put("leave", "Everybody has 25 days of leave.")
    await asked_until_standby_answers(far, at_far)
    behind = await reads(far, "behind")
    pair.standby.ask("SELECT pg_wal_replay_pause()")

    for days in range(30, 33):
        await ana.put("leave", f"Everybody has {days} days of leave.")
        (hit,) = (await at_far.search("days of leave")).json()["hits"]
        assert str(days) in hit["text"]

    assert await reads(far, "behind") > behind


async def test_answers_in_redis_are_invalidated_from_the_standby(
    pair: Pair, far: Gateway, ana: Caller
) -> None:
    at_far = far.as_(ana)
    for number in range(8):
        await ana.put(f"note-{number}", f"The note of number {number}.")
    random.seed(7)
    for round_ in range(40):
        if random.random() < 0.2:  # noqa: S311
            pair.standby.ask("SELECT pg_wal_replay_pause()")
        elif random.random() < 0.4:  # noqa: S311
            pair.standby.ask("SELECT pg_wal_replay_resume()")
        number = random.randrange(8)  # noqa: S311
        await ana.put(f"note-{number}", f"The note of number {number}, edition {round_}.")
        for asked in (number, random.randrange(8)):  # noqa: S311
            hits = (await at_far.search(f"note of number {asked}")).json()["hits"]
            fresh = (await ana.search(f"note of number {asked}")).json()["hits"]
            assert hits == fresh, "what home finds now, the region finds"
    assert await reads(far, "standby") > 0


@pytest.mark.thorough
async def test_a_standby_that_hangs_delays_a_question_and_no_more(
    pair: Pair, far: Gateway, ana: Caller
) -> None:
    at_far = far.as_(ana)
    await ana.put("leave", "Everybody has 25 days of leave.")
    await asked_until_standby_answers(far, at_far)

    with pair.standby.hanging():
        started_s = time.monotonic()
        for number in range(20):
            await ana.put("leave", f"Everybody has {number} days of leave.")
            (hit,) = (await at_far.search(f"days of leave {number}")).json()["hits"]
            assert f"{number} days" in hit["text"]
        for number in range(20):
            assert await at_far.found(f"leave of {number} days, or not") == ["leave"]
        assert time.monotonic() - started_s < 40  # each would wait two seconds

    await asked_until_standby_answers(far, at_far)


@pytest.mark.sampled("True")
@pytest.mark.parametrize("is_paused", [False, True])
async def test_a_gateway_starts_whatever_the_standby_does(
    pair: Pair,
    far_settings: Settings,
    gateway: Gateway,
    ana: Caller,
    embedder: Embedder,
    *,
    is_paused: bool,
) -> None:
    if is_paused:
        pair.standby.ask("SELECT pg_wal_replay_pause()")
    else:
        far_settings = far_settings.model_copy(
            update={
                "replica_url": SecretStr(
                    "postgresql://nobody:none@127.0.0.1:9/nowhere?sslmode=disable"
                )
            }
        )
    await ana.put("leave", "Everybody has 25 days of leave.")

    async with running(far_settings, embedder) as far:
        assert await far.as_(ana).found("days of leave") == ["leave"]
        assert await reads(far, "standby") == 0


@pytest.mark.thorough
async def test_shards_follow_the_standby_and_answer_while_the_primary_hangs(
    pair: Pair,
    far_settings: Settings,
    gateway: Gateway,
    ana: Caller,
    embedder: Embedder,
) -> None:
    in_memory = far_settings.model_copy(update={"shard_bytes_max": 100_000_000})
    async with running(in_memory, embedder) as far:
        at_far = far.as_(ana)
        await ana.put("leave", "Everybody has 25 days of leave.")
        async with asyncio.timeout(120):
            while not await far.counted("nearhit_shard_events_total", event="loaded"):
                await at_far.search(f"leave {random.random()}")  # noqa: S311
        for days in range(30, 40):
            await ana.put("leave", f"Everybody has {days} days of leave.")
            (hit,) = (await at_far.search(f"days of leave in {days}")).json()["hits"]
            assert str(days) in hit["text"]
        assert await far.counted("nearhit_shard_events_total", event="outdated") == 0
        await holds_lease(far, at_far)

        with ExitStack() as hanging:
            hanging.enter_context(pair.primary.hanging())
            # The standby is not asked for what has not changed.
            hanging.enter_context(pair.standby.hanging())
            await asyncio.sleep(1.2)
            assert await at_far.found("days of leave for all of us") == ["leave"]


@pytest.mark.thorough
async def test_a_copy_of_another_server_is_refused(
    far_settings: Settings, servers: Servers, gateway: Gateway, embedder: Embedder
) -> None:
    other = far_settings.model_copy(update={"replica_url": SecretStr(servers.database_url)})
    brought = Brought(open_region=region_process.opened)
    with pytest.raises(CommandError, match="another PostgreSQL"):
        async with open_services(other, Metrics(), embedder, brought=brought):
            pass


@pytest.mark.slow
async def test_a_standby_that_is_named_as_the_database_is_told(
    far_settings: Settings, far: Gateway, ana: Caller
) -> None:
    await asked_until_standby_answers(far, far.as_(ana))
    assert far_settings.replica_url is not None
    url = far_settings.replica_url.get_secret_value()
    environment = environment_of(far_settings) | {"NEARHIT_DATABASE_URL": url}

    shown = await process_output(environment, "status")
    checked = await process_output(environment, "config", "check", "--connect")

    assert shown[2].startswith("nearhit: PostgreSQL only reads: name the primary")
    assert "the server is a standby, which only reads: name the primary" in checked[2]
    assert (shown[0], checked[0]) == (1, 1)


def test_a_standby_needs_a_region() -> None:
    settings = Settings(
        database_url=SecretStr("postgresql://here"), replica_url=SecretStr("postgresql://there")
    )
    with pytest.raises(CommandError, match="NEARHIT_REGION"):
        require_valid(settings)


@pytest.mark.thorough
async def test_status_shows_the_standbys_and_how_far_they_are(
    pair: Pair, region_settings: Settings, gateway: Gateway, embedder: Embedder
) -> None:
    async with open_services(region_settings, Metrics(), embedder) as services:
        (streaming,) = await standbys.statuses(services.stores.database)
        assert (streaming.name, streaming.state, streaming.wal_status) == ("far", "streaming", None)

        pair.primary.ask("SELECT pg_create_physical_replication_slot('gone', true)")
        pair.standby.ask("SELECT pg_wal_replay_pause()")
        await gateway.tenant("late")
        try:
            far, gone = await standbys.statuses(services.stores.database)
        finally:
            pair.primary.ask("SELECT pg_drop_replication_slot('gone')")
        assert (gone.name, gone.state, gone.wal_status) == ("gone", "away", "reserved")
        assert far.behind_bytes is not None
        assert far.behind_bytes > 0
