"""What a gateway answers while the primary cannot be reached."""

import asyncio
import itertools

import pytest
from pydantic import SecretStr

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.promises.asking import WINDOW_MS, asked, limit, written
from tests.gateway.servers.database_proxy import DatabaseProxy
from tests.gateway.support.gateways import Caller, Gateway, problem, running

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]


async def test_cut_off_a_region_answers_what_it_promised_and_nothing_else(
    far: Gateway, ana: Caller, admin: Caller, proxy: DatabaseProxy
) -> None:
    at_far = far.as_(ana)
    revision = await written(ana, 25)
    await asked(at_far)
    later = await written(ana, 26)

    proxy.cut()
    known = await asked(at_far, revision)
    bounded = await asked(at_far, max_staleness_ms=WINDOW_MS)

    assert ("25 days" in known.text, "25 days" in bounded.text) == (True, True)
    assert known.headers["nearhit-consistency"] == "session"
    assert bounded.headers["nearhit-consistency"].startswith("bounded;ms=")
    for refused in (
        await asked(at_far),
        await asked(at_far, later),
        await asked(at_far, revision, consistency="strong"),
        await asked(at_far, max_staleness_ms=1),
        await asked(at_far, later, max_staleness_ms=WINDOW_MS),
        await at_far.call("PUT", "/v1/documents/x", json={"text": "x"}),
    ):
        problem(refused, 503)
    proxy.mend()
    assert "26 days" in (await asked(at_far, later)).text


@pytest.mark.sampled("own")
@pytest.mark.parametrize("receives", [False, True], ids=["own", "own and public"])
async def test_cut_off_shards_answer_new_questions_too(
    settings: Settings,
    embedder: Embedder,
    far: Gateway,
    ana: Caller,
    proxy: DatabaseProxy,
    *,
    receives: bool,
) -> None:
    """The far gateway sees to it that no lease is stored."""
    there = {"region": "shards", "database_url": SecretStr(proxy.url)}
    there |= {"shard_bytes_max": 1 << 26}
    await far.receive_public(receives=receives)
    revision = await written(ana, 25)
    async with running(settings.model_copy(update=there), embedder) as worker:
        at_worker, numbers = worker.as_(ana), itertools.count()
        async with asyncio.timeout(60):
            while await worker.counted("nearhit_shard_events_total", event="loaded") < 1 + receives:
                await asked(at_worker, query=f"days {next(numbers)}")

        proxy.cut()
        in_session = await asked(at_worker, revision, query="how much leave")
        bounded = await asked(at_worker, query="leave of everybody", max_staleness_ms=WINDOW_MS)
        strong = await asked(at_worker, query="how many days")

    assert ("25 days" in in_session.text, "25 days" in bounded.text) == (True, True)
    assert in_session.headers["nearhit-consistency"] == "session"
    assert bounded.headers["nearhit-consistency"].startswith("bounded;ms=")
    problem(strong, 503)


async def test_cut_off_nothing_is_known_for_longer_than_the_tenant_allows(
    far: Gateway, ana: Caller, admin: Caller, proxy: DatabaseProxy
) -> None:
    at_far = far.as_(ana)
    revision = await written(ana, 25)
    await limit(admin, 1)
    await asked(at_far)
    await asyncio.sleep(0.002)

    proxy.cut()

    problem(await asked(at_far, revision), 503)
    problem(await asked(at_far, max_staleness_ms=WINDOW_MS), 503)


async def test_cut_off_at_home_only_a_caller_that_named_an_age_is_answered(
    settings: Settings, embedder: Embedder, gateway: Gateway, ana: Caller, proxy: DatabaseProxy
) -> None:
    there = settings.model_copy(update={"database_url": SecretStr(proxy.url)})
    async with running(there, embedder) as home:
        revision = await written(ana, 25)
        await asked(home.as_(ana))

        proxy.cut()
        in_session = await asked(home.as_(ana), revision)
        bounded = await asked(home.as_(ana), revision, max_staleness_ms=WINDOW_MS)

    problem(in_session, 503)
    assert "25 days" in bounded.text
    assert bounded.headers["nearhit-consistency"].startswith("bounded;ms=")


@pytest.mark.thorough
async def test_a_silent_primary_is_waited_for_until_the_deadline(
    far: Gateway, ana: Caller, proxy: DatabaseProxy
) -> None:
    at_far = far.as_(ana)
    await asked(at_far)
    revision = await written(ana, 25)
    proxy.hold()
    waiting = asyncio.create_task(asked(at_far, revision))

    await asyncio.wait([waiting], timeout=6)  # the deadline is two seconds
    in_time = waiting.done()
    proxy.mend()

    assert in_time
    assert (await waiting).status_code in (503, 504)
    assert "25 days" in (await asked(at_far, revision)).text
