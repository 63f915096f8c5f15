"""Many searches in one call: what one gets, at which revision, and what it counts for."""

import asyncio
from itertools import count
from typing import Any

import httpx2
import numpy as np
import orjson
import pytest
from numpy.typing import NDArray

from gateway.settings.settings import Settings
from index.search.query_embedder import EMBEDDING_BUDGET_S, Embedder
from tests.gateway.support.gateways import Caller, Gateway, problem, running
from tests.gateway.support.unreliable_embedder import MoodyEmbedder

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."
TRAVEL = "# Travel\n\nBook trains with the travel desk, two weeks ahead."


async def ask(caller: Caller, *searches: dict[str, Any]) -> httpx2.Response:
    answer = await caller.call("POST", "/v1/search/batch", json={"searches": searches})
    assert answer.status_code == 200, answer.text
    return answer


async def test_the_answers_are_byte_for_byte_those_of_single_searches(ana: Caller) -> None:
    await ana.put("leave", LEAVE)
    await ana.put("travel", TRAVEL)
    searches: list[dict[str, Any]] = [
        {"query": "annual leave"},
        {"query": "trains", "explain": True, "top_k": 1},
        {
            "query": "annual leave",
            "highlights": True,
            "facets": ["source"],
            "diversity": 0.4,
            "boost": {"recency": {"half_life_days": 30, "weight": 0.1}},
        },
    ]

    together = await ask(ana, *searches)
    singly = [await ana.call("POST", "/v1/search", json=each) for each in searches]

    assert together.content == b'{"answers":[%b]}' % b",".join(each.content for each in singly)
    assert {each.headers["cache-status"] for each in singly} == {"nearhit; hit; detail=memory"}


@pytest.mark.isolated
async def test_the_headers_tell_of_each_answer_and_of_all(ana: Caller) -> None:
    written = await ana.put("leave", LEAVE)
    await ana.search("annual leave")

    answer = await ask(ana, {"query": "annual leave"}, {"query": "trains"})

    assert answer.headers["nearhit-revision"].startswith(f"{written['revision']};of=")
    assert answer.headers["cache-status"] == 'nearhit; fwd=miss; detail="1 of 2"'
    assert answer.headers["nearhit-batch-cache-status"] == (
        "nearhit; hit; detail=memory, nearhit; fwd=miss; stored"
    )
    assert "total;dur=" in answer.headers["server-timing"]


async def test_equal_searches_are_computed_once(gateway: Gateway, ana: Caller) -> None:
    await ana.put("leave", LEAVE)

    answer = await ask(ana, *[{"query": "annual leave"}] * 8)

    # Whoever joins an answer under way is told what it was; it was computed once.
    assert await gateway.counted("nearhit_cache_events_total", event="computed") == 1
    first, *others = answer.json()["answers"]
    assert first["hits"]
    assert others == [first] * 7


@pytest.mark.slow
async def test_all_are_answered_at_one_revision_whatever_is_written_meanwhile(
    gateway: Gateway, ana: Caller
) -> None:
    """Each write changes what all of the questions find."""
    await ana.put("counter", "counter zero and counter more")
    over = asyncio.Event()

    async def write() -> None:
        number = 0
        while not over.is_set():
            number += 1
            await ana.put("counter", f"counter {number} and counter more")

    writing = asyncio.create_task(write())
    try:
        for number in range(25):
            searches = [{"query": f"counter {word} {number}"} for word in ("and", "more", "zero")]
            answer = await ask(ana, *searches)
            texts = {hit["text"] for each in answer.json()["answers"] for hit in each["hits"]}
            assert len(texts) == 1
    finally:
        over.set()
        await writing


@pytest.mark.thorough
@pytest.mark.slow
async def test_however_much_is_written_meanwhile_there_is_an_answer_of_one_revision(
    gateway: Gateway, ana: Caller
) -> None:
    """More questions than can be brought to agree between two of so many writes."""
    await ana.put("counter0", "counter zero and more")
    over, written = asyncio.Event(), count(1)

    async def write() -> None:
        while not over.is_set():
            await ana.put("counter0", f"counter {next(written)} and more")

    writing = [asyncio.create_task(write()) for _ in range(4)]
    try:
        for number in range(4):
            answer = await ask(ana, *({"query": f"counter {word} {number}"} for word in range(32)))
            texts = {hit["text"] for each in answer.json()["answers"] for hit in each["hits"]}
            assert len(texts) == 1
            assert all(each["hits"] for each in answer.json()["answers"])
    finally:
        over.set()
        await asyncio.gather(*writing)


async def test_what_a_revoked_reader_may_not_see_is_in_no_answer(
    gateway: Gateway, ana: Caller, ben: Caller
) -> None:
    await ana.put("leave", LEAVE, readers=["user:ben"])
    seen = await ask(ben, {"query": "leave"}, {"query": "annual leave"})
    await ana.share("leave")

    unseen = await ask(ben, {"query": "leave"}, {"query": "annual leave"})

    assert all(each["hits"] for each in seen.json()["answers"])
    assert not any(each["hits"] for each in unseen.json()["answers"])


async def test_an_old_answer_will_do_only_if_it_will_for_each(ana: Caller) -> None:
    await ana.put("leave", LEAVE)
    stale = {"max_staleness_ms": 60_000}
    await ask(ana, {"query": "leave", **stale}, {"query": "travel", **stale})
    await ana.put("travel", TRAVEL)

    answer = await ask(ana, {"query": "leave", **stale}, {"query": "travel"})

    assert answer.json()["answers"][1]["hits"][0]["document_id"] == "travel"


async def test_old_answers_are_for_who_may_still_read_them(ana: Caller, admin: Caller) -> None:
    await admin.put("travel", TRAVEL, readers=["group:sales"])
    await admin.call("PUT", "/v1/groups/sales/members/ana")
    stale = {"max_staleness_ms": 60_000}
    before = await ask(ana, {"query": "trains", **stale})
    assert before.json()["answers"][0]["hits"]
    await admin.call("DELETE", "/v1/groups/sales/members/ana")

    known = await ask(ana, {"query": "trains", **stale})
    new = await ask(ana, {"query": "trains", **stale}, {"query": "travel desk", **stale})

    assert [each["hits"] for each in known.json()["answers"]] == [[]]
    assert [each["hits"] for each in new.json()["answers"]] == [[], []]


@pytest.mark.thorough
@pytest.mark.slow
async def test_what_a_batch_has_shown_is_in_the_audit_log(ana: Caller, admin: Caller) -> None:
    await ana.put("leave", LEAVE)
    await ana.put("travel", TRAVEL)

    await ask(ana, {"query": "annual leave", "alpha": 0.0}, {"query": "trains", "alpha": 0.0})

    async with asyncio.timeout(60):
        rows: list[dict[str, Any]] = []
        while not rows:
            logged = await admin.call("GET", "/v1/audit/log?subject=ana")
            rows = [row for row in logged.json()["rows"] if row["action"] == "documents.read"]
            await asyncio.sleep(0.05)
    assert {name for row in rows for name in row["details"]["documents"]} == {"leave", "travel"}


async def test_a_stranger_is_not_told_what_is_wrong_with_a_body(gateway: Gateway) -> None:
    problem(await gateway.stranger.call("POST", "/v1/search/batch", json={"queries": []}), 401)


async def test_each_search_counts_against_the_rate(settings: Settings, embedder: Embedder) -> None:
    limited = settings.model_copy(update={"key_requests_per_s": 2.0})
    async with running(limited, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")

        await ask(ana, *[{"query": "leave"}] * 3)
        await ask(ana, {"query": "leave"})  # all that is left
        refused = await ana.call(
            "POST", "/v1/search/batch", json={"searches": [{"query": "leave"}] * 3}
        )

    assert problem(refused, 429)["type"] == "urn:nearhit:problem:too-many-requests"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"searches": []}, "searches"),
        ({"searches": [{"query": "a"}] * 33}, "searches"),
        ({"searches": [{"query": "a"}, {"query": ""}]}, "searches.1.query"),
        ({"searches": [{"query": "a"}, {"query": "b", "top_k": 101}]}, "searches.1.top_k"),
        ({"searches": [{"query": "a", "topk": 3}]}, "searches.0.topk"),
        (
            {"searches": [{"query": "a", "rerank": True, "candidates": 101}]},
            "searches.0.candidates",
        ),
        ({"searches": [{"query": "a"}, {"query": "b", "gate": "support"}]}, "searches.1"),
        ({"searches": [{"query": "a", "history": []}]}, "searches.0"),
        ({"queries": []}, "searches"),
    ],
)
async def test_a_problem_names_the_search_and_its_field(
    ana: Caller, body: dict[str, Any], field: str
) -> None:
    answer = await ana.call("POST", "/v1/search/batch", content=orjson.dumps(body))

    assert problem(answer, 422)["errors"][0]["field"] == field


@pytest.mark.thorough
@pytest.mark.slow
async def test_without_the_embedder_it_is_said_that_words_alone_were_compared(
    settings: Settings, embedder: Embedder
) -> None:
    moody = MoodyEmbedder(embedder)
    async with running(settings, moody) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        await ana.put("leave", LEAVE)
        whole = await ask(ana, {"query": "leave"})
        moody.away = True
        answer = await ask(ana, {"query": "leave"}, {"query": "annual leave"})
        body = {"query": "days of leave"}
        of_store = await ana.call("POST", "/v1/vector_stores/api/search", json=body)

    assert "nearhit-degraded" not in whole.headers
    for each in (answer, of_store):
        assert each.headers["nearhit-degraded"] == "lexical-only"


class Divided(MoodyEmbedder):
    """Breaks at one question once others are asked, and holds these until they are given up."""

    def __init__(self, real: Embedder) -> None:
        super().__init__(real)
        self.given_up = asyncio.Event()

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        if text == "break":
            await self.asked.wait()
            raise RuntimeError("the test said so")
        self.asked.set()
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            self.given_up.set()
        raise AssertionError


@pytest.mark.slow
async def test_once_one_search_has_failed_the_others_are_given_up(
    settings: Settings, embedder: Embedder
) -> None:
    divided = Divided(embedder)
    async with running(settings, divided) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        searches = [{"query": "hold"}, {"query": "break"}]
        failed = await ana.call("POST", "/v1/search/batch", json={"searches": searches})
        async with asyncio.timeout(EMBEDDING_BUDGET_S / 2):  # after which it is given up anyhow
            await divided.given_up.wait()

    problem(failed, 500)


async def test_one_search_that_fails_fails_the_batch(
    settings: Settings, embedder: Embedder
) -> None:
    """Not half an answer: the deadline has passed for one of them, and so for all."""
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        await ask(ana, {"query": "leave"})

        late = await ana.call(
            "POST",
            "/v1/search/batch",
            json={"searches": [{"query": "leave"}, *[{"query": f"a{n}"} for n in range(30)]]},
            headers={"Request-Timeout": "0.001"},
        )

    problem(late, 504)
