"""What callers see while Redis is away, hangs or has forgotten: the same answers, slower."""

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from random import Random

import pytest
from pydantic import SecretStr

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.faults.test_outage import QUESTION, leave, with_, writer_of_a_new_tenant
from tests.gateway.servers.own_redis import OwnRedis, own_redis
from tests.gateway.support.gateways import Caller, Gateway, running

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

RECOVERY_S_MAX = 15.0  # past the breaker's longest pause


@pytest.fixture
def settings(module_settings: Settings) -> Settings:
    """One database for all tests here, each with a tenant and a prefix of its own."""
    return with_(module_settings, cache_prefix=f"nearhit-test-{secrets.token_hex(6)}:")


@asynccontextmanager
async def workers(
    settings: Settings, embedder: Embedder, count: int = 2
) -> AsyncIterator[list[Gateway]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(running(settings, embedder)) for _ in range(count)]


async def at_each(caller: Caller, gateways: list[Gateway], query: str = QUESTION) -> list[str]:
    """What the caller gets from each worker, as text."""
    return [(await gateway.as_(caller).search(query)).text for gateway in gateways]


async def until_redis_serves(caller: Caller, *, filled_by: Gateway, read_by: Gateway) -> None:
    """Ask new questions until what one worker fills is what the other finds in Redis."""
    async with asyncio.timeout(RECOVERY_S_MAX):
        while True:
            query = f"{QUESTION} {secrets.token_hex(6)}"
            await filled_by.as_(caller).search(query)
            answer = await read_by.as_(caller).search(query)
            if answer.headers["cache-status"] == "nearhit; hit; detail=redis":
                return
            await asyncio.sleep(0.02)


async def mishap(redis: OwnRedis, random: Random) -> None:
    """Something that may happen to a Redis, or the end of it."""
    if not redis.is_running:
        await redis.start()
        return
    match random.choice(("kill", "hang", "go on", "go on", "save")):
        case "kill":
            await redis.kill()
        case "hang":
            redis.hang()
        case "go on":
            redis.go_on()
        case _:
            redis.go_on()
            await redis.save()


class TestRedis:
    """However Redis goes and comes back, answers are right, and no request fails."""

    @pytest.fixture
    async def redis(self) -> AsyncIterator[OwnRedis]:
        async with own_redis() as made:
            yield made

    @pytest.fixture
    async def gateways(
        self, settings: Settings, redis: OwnRedis, embedder: Embedder
    ) -> AsyncIterator[list[Gateway]]:
        """Two workers, on a Redis that is about to fail them."""
        own = with_(settings, redis_url=SecretStr(redis.url), redis_timeout_s=0.1)
        async with workers(own, embedder) as made:
            yield made

    async def test_never_there_costs_speed_and_nothing_else(
        self, settings: Settings, embedder: Embedder
    ) -> None:
        with socket.socket() as closed:  # bound, so that nobody else listens on its port
            closed.bind(("127.0.0.1", 0))
            url = SecretStr(f"redis://127.0.0.1:{closed.getsockname()[1]}/0")
            async with workers(with_(settings, redis_url=url), embedder) as gateways:
                first, second = gateways
                ana = await writer_of_a_new_tenant(first)
                await ana.put("leave", leave(25))

                assert all("25 days" in text for text in await at_each(ana, gateways))
                again = await ana.search(QUESTION)
                await second.as_(ana).put("leave", leave(27))
                assert all("27 days" in text for text in await at_each(ana, gateways))
                await ana.call("DELETE", "/v1/documents/leave")
                assert await second.as_(ana).found(QUESTION) == []

                assert again.headers["cache-status"] == "nearhit; hit; detail=memory"
                assert (await first.client.get("/readyz")).status_code == 200
                assert await first.counted("nearhit_cache_events_total", event="unavailable") > 0

    @pytest.mark.thorough
    async def test_killed_and_started_empty_serves_nothing_from_before(
        self, redis: OwnRedis, gateways: list[Gateway]
    ) -> None:
        first, second = gateways
        ana = await writer_of_a_new_tenant(first)
        await ana.put("leave", leave(25))
        await at_each(ana, gateways)

        await redis.kill()
        assert all("25 days" in text for text in await at_each(ana, gateways))
        await ana.put("leave", leave(27))
        assert all("27 days" in text for text in await at_each(ana, gateways))
        await redis.start()

        assert all("27 days" in text for text in await at_each(ana, gateways))
        await until_redis_serves(ana, filled_by=first, read_by=second)
        await ana.put("leave", leave(29))
        assert all("29 days" in text for text in await at_each(ana, gateways))

    async def test_back_with_an_old_memory_is_not_believed(
        self, redis: OwnRedis, gateways: list[Gateway], settings: Settings, embedder: Embedder
    ) -> None:
        first, second = gateways
        ana = await writer_of_a_new_tenant(first)
        await ana.put("leave", leave(25))
        await at_each(ana, gateways)
        await redis.save()

        await redis.kill()
        await ana.put("leave", leave(27))
        await redis.start()

        assert await redis.size() >= 3  # the state, the registry and the answer of 25 days
        own = with_(settings, redis_url=SecretStr(redis.url), redis_timeout_s=1.0)
        async with running(own, embedder) as newcomer:  # has no breaker that keeps it from asking
            answer = await newcomer.as_(ana).search(QUESTION)
            assert "27 days" in answer.text
            assert answer.headers["cache-status"] == "nearhit; fwd=miss; stored"
            assert await newcomer.counted("nearhit_cache_events_total", event="reset") > 0
        await until_redis_serves(ana, filled_by=first, read_by=second)
        assert all("27 days" in text for text in await at_each(ana, gateways))

    async def test_a_write_that_could_not_invalidate_is_seen_by_who_still_reaches_redis(
        self, redis: OwnRedis, gateways: list[Gateway], settings: Settings, embedder: Embedder
    ) -> None:
        first, second = gateways
        ana = await writer_of_a_new_tenant(first)
        await ana.put("leave", leave(25))
        await at_each(ana, gateways)

        unreachable = SecretStr(f"unix://{redis.folder}/nobody.sock?db=0")
        async with running(with_(settings, redis_url=unreachable), embedder) as cut_off:
            await cut_off.as_(ana).put("leave", leave(27))

        assert all("27 days" in text for text in await at_each(ana, gateways))
        await until_redis_serves(ana, filled_by=second, read_by=first)

    @pytest.mark.thorough
    async def test_hanging_and_going_on_leaves_no_answer_to_another_question(
        self, redis: OwnRedis, gateways: list[Gateway]
    ) -> None:
        first, second = gateways
        ana = await writer_of_a_new_tenant(first)
        for topic in ("leave", "travel", "salary", "parking"):
            await ana.put(topic, f"# About {topic}\n\nAll that there is to know about {topic}.")

        async def ask_all() -> None:
            async def ask(gateway: Gateway, topic: str) -> None:
                found = await gateway.as_(ana).found(topic, top_k=1, alpha=0)
                assert found == [topic]

            topics = ("leave", "travel", "salary", "parking")
            await asyncio.gather(*(ask(each, topic) for each in gateways for topic in topics))

        await ask_all()
        redis.hang()
        await ask_all()
        await ana.put("notes", "# Notes\n\nA change, so that every answer has to be made anew.")
        await ask_all()
        redis.go_on()
        await ask_all()

        await until_redis_serves(ana, filled_by=first, read_by=second)
        await ask_all()

    @pytest.mark.thorough
    async def test_an_edit_while_it_hangs_is_seen_when_it_goes_on(
        self, redis: OwnRedis, gateways: list[Gateway]
    ) -> None:
        first, second = gateways
        ana = await writer_of_a_new_tenant(first)
        await ana.put("leave", leave(25))
        await at_each(ana, gateways)

        redis.hang()
        await ana.put("leave", leave(27))
        while_away = await at_each(ana, gateways)
        redis.go_on()
        await until_redis_serves(ana, filled_by=first, read_by=second)
        afterwards = await at_each(ana, gateways)

        assert all("27 days" in text for text in while_away + afterwards)

    @pytest.mark.thorough
    async def test_hanging_is_found_out_by_few_requests_and_not_asked_by_the_others(
        self, settings: Settings, embedder: Embedder
    ) -> None:
        """Each that asks waits for the budget, so it is their number that bounds the delay."""
        asked = 0

        async def never_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal asked
            with closing(writer):
                while await reader.read(65_536):
                    asked += 1

        server = await asyncio.start_server(never_answer, "127.0.0.1", 0)
        url = SecretStr(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0")
        own = with_(settings, redis_url=url, redis_timeout_s=0.02)
        async with server, running(own, embedder) as gateway:
            ana = await writer_of_a_new_tenant(gateway)
            for number in range(100):
                await ana.search(f"question {number}")

            assert await gateway.fills() == 100
            assert 1 <= asked <= 20

    @pytest.mark.sampled("0")
    @pytest.mark.parametrize("seed", range(3))
    async def test_whatever_happens_to_it_the_last_edit_is_what_is_shown(
        self, redis: OwnRedis, gateways: list[Gateway], seed: int
    ) -> None:
        random = Random(seed)  # noqa: S311  no secret
        ana = await writer_of_a_new_tenant(gateways[0])
        await ana.put("leave", leave(0))
        edits = 0
        for _ in range(80):
            caller = random.choice(gateways).as_(ana)
            match random.choice(("search", "search", "search", "edit", "mishap")):
                case "search":
                    assert f"{edits} days" in (await caller.search(QUESTION)).text
                case "edit":
                    edits += 1
                    await caller.put("leave", leave(edits))
                case _:
                    await mishap(redis, random)
