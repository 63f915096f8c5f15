"""What callers see while PostgreSQL or the embedding service is away, and once it is back.

PostgreSQL: a problem that says when to try again, or what the caller said would do. The embedding
service: words alone, and saying so.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator

import orjson
import pytest
from pydantic import SecretStr

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from index.text.word_lists import analysed_languages
from tests.gateway.servers.database_proxy import DatabaseProxy, database_proxy
from tests.gateway.support.gateways import Caller, Gateway, problem, running
from tests.gateway.support.unreliable_embedder import MoodyEmbedder

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

WAIT_S_MAX = 60.0
QUESTION = "annual leave"


def leave(days: int) -> str:
    return f"# Leave\n\nEverybody gets {days} days of annual leave a year."


@pytest.fixture
def settings(module_settings: Settings) -> Settings:
    """One database for all tests here, each with a tenant and a prefix of its own."""
    return with_(module_settings, cache_prefix=f"nearhit-test-{secrets.token_hex(6)}:")


def with_(settings: Settings, **fields: object) -> Settings:
    return settings.model_copy(update=fields)


async def writer_of_a_new_tenant(gateway: Gateway) -> Caller:
    tenant = f"t-{secrets.token_hex(6)}"
    await gateway.tenant(tenant)
    return await gateway.caller("ana", tenant=tenant)


@pytest.fixture
async def proxy(settings: Settings) -> AsyncIterator[DatabaseProxy]:
    assert settings.database_url is not None
    async with database_proxy(settings.database_url.get_secret_value()) as made:
        yield made


@pytest.fixture
async def gateway(
    settings: Settings, proxy: DatabaseProxy, embedder: Embedder
) -> AsyncIterator[Gateway]:
    """A worker behind a wire to its database."""
    own = with_(settings, database_url=SecretStr(proxy.url))
    async with running(own, embedder) as made:
        yield made


@pytest.fixture
async def ana(gateway: Gateway) -> Caller:
    return await writer_of_a_new_tenant(gateway)


class TestPostgres:
    """Without the truth there is no answer, but one that the caller said is young enough."""

    async def test_away_is_a_problem_that_says_when_to_try_again(
        self, gateway: Gateway, proxy: DatabaseProxy, ana: Caller
    ) -> None:
        await ana.put("leave", leave(25))
        await ana.search(QUESTION)

        proxy.cut()
        answers = [
            await ana.call("POST", "/v1/search", json={"query": QUESTION}),
            await ana.call("POST", "/v1/search", json={"query": "never asked before"}),
            await ana.call("GET", "/v1/documents/leave"),
            await ana.call("GET", "/v1/documents"),
            await ana.call("PUT", "/v1/documents/more", json={"text": "more"}),
            await ana.call("DELETE", "/v1/documents/leave"),
            await Caller(gateway.client, "nh_unknown").call("GET", "/v1/documents"),
            await gateway.client.get("/readyz"),
        ]

        for answer in answers:
            problem(answer, 503)
            assert int(answer.headers["retry-after"]) > 0
        assert (await gateway.client.get("/healthz")).status_code == 200
        assert (await gateway.client.get("/metrics")).status_code == 200
        assert (await gateway.stranger.call("GET", "/v1/documents")).status_code == 401

    @pytest.mark.thorough
    async def test_back_again_it_is_found_by_itself(
        self, gateway: Gateway, proxy: DatabaseProxy, ana: Caller
    ) -> None:
        await ana.put("leave", leave(25))
        proxy.cut()
        problem(await ana.call("POST", "/v1/search", json={"query": QUESTION}), 503)

        proxy.mend()

        assert await ana.found(QUESTION) == ["leave"]
        await ana.put("leave", leave(27))
        assert "27 days" in (await ana.search(QUESTION)).text
        assert (await gateway.client.get("/readyz")).status_code == 200

    @pytest.mark.thorough
    async def test_connections_that_broke_unnoticed_are_replaced(
        self, proxy: DatabaseProxy, ana: Caller
    ) -> None:
        await ana.put("leave", leave(25))
        await asyncio.gather(*(ana.search(f"question {number}") for number in range(20)))

        proxy.cut()
        proxy.mend()

        assert await ana.found(QUESTION) == ["leave"]
        answers = [ana.found(f"leave {number}") for number in range(20)]
        assert await asyncio.gather(*answers) == [["leave"]] * 20

    async def test_max_staleness_gets_an_answer_that_is_known_within_that_age(
        self, proxy: DatabaseProxy, ana: Caller
    ) -> None:
        await ana.put("leave", leave(25))
        fresh = await ana.search(QUESTION)

        proxy.cut()
        within_an_hour = await ana.search(QUESTION, max_staleness_ms=3_600_000)
        within_no_time = await ana.call(
            "POST", "/v1/search", json={"query": QUESTION, "max_staleness_ms": 1}
        )
        never_asked = await ana.call(
            "POST", "/v1/search", json={"query": "another", "max_staleness_ms": 3_600_000}
        )

        assert within_an_hour.content == fresh.content
        assert within_an_hour.headers["nearhit-revision"] == fresh.headers["nearhit-revision"]
        problem(within_no_time, 503)
        problem(never_asked, 503)

    async def test_away_a_key_is_believed_no_longer_than_its_own_bound(
        self, settings: Settings, proxy: DatabaseProxy, embedder: Embedder
    ) -> None:
        """Whatever staleness its caller chooses."""
        url = SecretStr(proxy.url)
        hour = {"query": QUESTION, "max_staleness_ms": 3_600_000}
        never = with_(settings, database_url=url, credential_staleness_s_max=0.0)
        shortly = with_(settings, database_url=url, credential_staleness_s_max=0.5)
        async with running(never, embedder) as one, running(shortly, embedder) as other:
            ana = await writer_of_a_new_tenant(one)
            await ana.put("leave", leave(25))
            for worker in (one, other):
                await worker.as_(ana).search(QUESTION)

            proxy.cut()

            problem(await ana.call("POST", "/v1/search", json=hour), 503)
            async with asyncio.timeout(60):
                while (
                    await other.as_(ana).call("POST", "/v1/search", json=hour)
                ).status_code == 200:
                    await asyncio.sleep(0.01)
            problem(await other.as_(ana).call("POST", "/v1/search", json=hour), 503)

    async def test_cut_while_a_search_waits_for_it_is_a_503(
        self, proxy: DatabaseProxy, ana: Caller
    ) -> None:
        await ana.put("leave", leave(25))
        proxy.hold()
        searching = asyncio.create_task(ana.call("POST", "/v1/search", json={"query": QUESTION}))
        while not proxy.held:
            await asyncio.sleep(0.001)

        proxy.cut()

        problem(await searching, 503)

    async def test_silent_is_a_problem_within_the_deadline(
        self, settings: Settings, proxy: DatabaseProxy, embedder: Embedder
    ) -> None:
        own = with_(settings, database_url=SecretStr(proxy.url), deadline_s=1.0)
        async with running(own, embedder) as made, asyncio.timeout(WAIT_S_MAX):
            ana = await writer_of_a_new_tenant(made)
            await ana.put("leave", leave(25))

            proxy.hold()
            late = await ana.call("POST", "/v1/search", json={"query": QUESTION})
            proxy.mend()

            assert late.status_code in (503, 504)
            await found_again(ana)


async def found_again(ana: Caller) -> None:
    """On a busy machine a deadline of a second may pass before new connections are open."""
    while True:
        answer = await ana.call("POST", "/v1/search", json={"query": QUESTION})
        if answer.status_code == 200:
            break
        problem(answer, 504)
    assert [hit["document_id"] for hit in answer.json()["hits"]] == ["leave"]


class TestEmbedder:
    """Words still find what words can find; it is said, and not kept."""

    @pytest.fixture
    def moody(self, embedder: Embedder) -> MoodyEmbedder:
        return MoodyEmbedder(embedder)

    @pytest.fixture
    async def gateway(self, settings: Settings, moody: MoodyEmbedder) -> AsyncIterator[Gateway]:
        async with running(settings, moody) as made:
            yield made

    async def test_away_leaves_the_words_which_is_said_and_not_cached(
        self, ana: Caller, moody: MoodyEmbedder
    ) -> None:
        await ana.put("leave", leave(25))
        await ana.put("travel", "# Travel\n\nBook trains with the travel desk.")

        moody.away = True
        degraded = [await ana.search("leave") for _ in range(2)]
        moody.away = False
        whole = await ana.search("leave")

        for answer in degraded:
            assert answer.headers["nearhit-degraded"] == "lexical-only"
            assert answer.headers["cache-status"] == "nearhit; fwd=miss"
            assert [hit["document_id"] for hit in answer.json()["hits"]] == ["leave"]
        assert "nearhit-degraded" not in whole.headers
        assert whole.headers["cache-status"] == "nearhit; fwd=miss; stored"
        assert {hit["document_id"] for hit in whole.json()["hits"]} == {"leave", "travel"}

    async def test_a_word_list_that_is_not_there_yet_is_said_and_the_answer_not_cached(
        self, ana: Caller
    ) -> None:
        await ana.put("leave", leave(25))
        async with asyncio.timeout(120):  # the gateway itself loads all lists
            while not (await ana.client.get("/readyz")).json()["warm"]:
                await asyncio.sleep(0.05)
        analysed_languages.LOADED.pop("it")  # as on a new machine

        with analysed_languages._LOADING:  # noqa: SLF001  the list takes long to make
            without = await ana.search("leave", language="it")

        assert without.headers["nearhit-degraded"] == "no-word-list"
        assert without.headers["cache-status"] == "nearhit; fwd=miss"
        assert [hit["document_id"] for hit in without.json()["hits"]] == ["leave"]

    @pytest.mark.sampled("fields0")
    @pytest.mark.parametrize("fields", [{"alpha": 1}, {"fusion": "rrf"}, {"min_score": 0.01}])
    async def test_away_leaves_words_to_every_kind_of_search(
        self, ana: Caller, moody: MoodyEmbedder, fields: dict[str, object]
    ) -> None:
        await ana.put("leave", leave(25))
        moody.away = True

        answer = await ana.search("leave", **fields)

        assert [hit["document_id"] for hit in answer.json()["hits"]] == ["leave"]
        assert answer.headers["nearhit-degraded"] == "lexical-only"

    async def test_away_leaves_whole_answers_from_before_as_they_are(
        self, ana: Caller, moody: MoodyEmbedder
    ) -> None:
        await ana.put("leave", leave(25))
        whole = await ana.search(QUESTION)

        moody.away = True
        cached = await ana.search(QUESTION)

        assert cached.content == whole.content
        assert "nearhit-degraded" not in cached.headers

    @pytest.mark.thorough
    async def test_away_lets_what_needs_it_wait_in_the_queue(
        self, ana: Caller, moody: MoodyEmbedder
    ) -> None:
        before = await ana.put("leave", leave(25))
        moody.away = True

        new = await ana.call("PUT", "/v1/documents/travel", json={"text": "Trains."})
        edit = await ana.call("PUT", "/v1/documents/leave", json={"text": leave(27)})
        batch = await ana.call(
            "POST", "/v1/documents/batch", content=b'{"document_id": "a", "text": "Another."}'
        )

        waiting = [new.json(), edit.json(), orjson.loads(batch.content)]
        jobs = (await ana.call("GET", "/v1/jobs?state=waiting")).json()["jobs"]
        assert (new.status_code, edit.status_code) == (202, 202)
        assert {each["job_id"] for each in waiting} == {each["job_id"] for each in jobs}
        for document_id in ("travel", "a"):
            assert (await ana.call("GET", f"/v1/documents/{document_id}")).status_code == 404
        assert "25 days" in (await ana.call("GET", "/v1/documents/leave")).text
        moody.away = False
        assert (await ana.put("leave", leave(27)))["revision"] == before["revision"] + 1

    @pytest.mark.thorough
    async def test_away_stops_no_line_of_a_batch_that_embeds_nothing(
        self, ana: Caller, moody: MoodyEmbedder
    ) -> None:
        await ana.put("leave", leave(25))
        moody.away = True
        lines = [
            {"document_id": "new", "text": "Something new."},
            {"document_id": "leave", "text": leave(25), "title": "Another title"},
            {"document_id": "copy", "text": leave(25)},
        ]

        answer = await ana.call(
            "POST", "/v1/documents/batch", content=b"\n".join(map(orjson.dumps, lines))
        )

        results = [orjson.loads(line) for line in answer.content.splitlines()]
        assert ["job_id" in result for result in results] == [True, False, False]
        assert (await ana.call("GET", "/v1/documents/new")).status_code == 404
        assert "Another title" in (await ana.call("GET", "/v1/documents/leave")).text

    async def test_away_stops_no_write_that_embeds_nothing(
        self, ana: Caller, moody: MoodyEmbedder
    ) -> None:
        await ana.put("leave", leave(25))
        moody.away = True

        renamed = await ana.put("leave", leave(25), title="Another title")
        copied = await ana.put("copy", leave(25))
        await ana.share("leave", "tenant")
        deleted = await ana.call("DELETE", "/v1/documents/copy")

        assert renamed["chunks"]["embedded"] == copied["chunks"]["embedded"] == 0
        assert deleted.status_code == 200
