"""Searches by the caller's own vector, on every path to an answer."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import numpy as np
import orjson
import pytest

from gateway.bodies import schemas
from gateway.extensions.answers.answer_schemas import AnswerBody
from gateway.problems.problems import Problem
from gateway.settings.settings import Settings
from index.errors import EmbeddingUnavailable
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, Gateway, problem, running

pytestmark = pytest.mark.anyio

TEXTS = {
    "leave": "Everybody gets 25 days of annual leave a year.",
    "trains": "Trains to Lisbon leave every hour from the central station.",
    "soup": "Boil the carrots for twenty minutes, then blend the soup.",
}


async def vector_of(embedder: Embedder, text: str) -> list[float]:
    vector: list[float] = (await embedder.embed_query(text)).tolist()
    return vector


async def search(caller: Caller, **body: Any) -> httpx2.Response:
    answer = await caller.call("POST", "/v1/search", json=body)
    assert answer.status_code == 200, answer.text
    return answer


async def found(caller: Caller, vector: list[float], **body: Any) -> list[str]:
    hits = (await search(caller, vector=vector, **body)).json()["hits"]
    return [hit["document_id"] for hit in hits]


@pytest.fixture
async def holiday(embedder: Embedder) -> list[float]:
    return await vector_of(embedder, "vacation days")


@pytest.fixture
async def cooking(embedder: Embedder) -> list[float]:
    return await vector_of(embedder, "recipe with vegetables")


@pytest.fixture
async def stored(ana: Caller) -> None:
    for name, text in TEXTS.items():
        await ana.put(name, text, readers=["tenant"])


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"alpha": 0.7},
        {"fusion": "relative"},
        {"fusion": "rrf", "explain": True},
        {"rerank": True},
        {"history": [{"role": "user", "content": "Is it sunny?"}]},
        {
            "highlights": True,
            "expand": True,
            "boost": {"recency": {"half_life_days": 9, "weight": 0.1}},
        },
        {"context": {"token_budget": 50, "compress": "extract"}},
        {"facets": ["language"], "diversity": 0.3},
        {"filter": {"exclude_documents": ["leave"]}, "min_score": 0.01},
    ],
)
async def test_the_embedders_vector_beside_its_query_gives_the_querys_answer(
    ana: Caller, stored: None, holiday: list[float], fields: dict[str, Any]
) -> None:
    by_text = await search(ana, query="vacation days", **fields)
    by_vector = await search(ana, query="vacation days", vector=holiday, **fields)

    assert by_vector.content == by_text.content
    assert "; hit" not in by_vector.headers["cache-status"]
    again = await search(ana, query="vacation days", vector=holiday, **fields)
    assert (again.content, "; hit" in again.headers["cache-status"]) == (by_text.content, True)


async def test_without_a_query_meaning_alone_ranks(
    ana: Caller, stored: None, holiday: list[float]
) -> None:
    by_vector = await search(ana, vector=holiday)
    by_text = await search(ana, query="vacation days", alpha=1)

    assert by_vector.json()["hits"] == by_text.json()["hits"] != []


async def test_vectors_of_one_direction_share_an_answer_and_others_do_not(
    ana: Caller, stored: None, holiday: list[float], cooking: list[float]
) -> None:
    first = await search(ana, vector=holiday)
    scaled = await search(ana, vector=[1e200 * number for number in holiday])
    opposite = await search(ana, vector=[-number for number in holiday])
    nearly = await search(ana, vector=[*holiday[:-1], holiday[-1] + 0.01])

    assert "; hit" in scaled.headers["cache-status"]
    assert scaled.content == first.content
    for other in (opposite, nearly):
        assert "; hit" not in other.headers["cache-status"]
        assert other.content != first.content
    assert (await found(ana, holiday))[0] == "leave"
    assert (await found(ana, cooking))[0] == "soup"
    for query in ("trains", "soup"):  # the words count too, and are part of the key
        assert query in await found(ana, holiday, query=query)


async def test_a_warm_answer_shows_nobody_what_it_may_not_read(
    gateway: Gateway, other_worker: Gateway, ana: Caller, ben: Caller, holiday: list[float]
) -> None:
    await ana.put("sales", TEXTS["leave"], readers=["group:sales"])
    stranger = await gateway.caller("eve")

    for worker in (gateway, other_worker):
        for _ in range(2):
            assert await found(worker.as_(ben), holiday) == ["sales"]
            assert await found(worker.as_(stranger), holiday) == []
    await ana.share("sales", "user:eve")
    for worker in (gateway, other_worker):
        assert await found(worker.as_(ben), holiday) == []
        assert await found(worker.as_(stranger), holiday) == ["sales"]


async def test_no_warm_answer_misses_a_write(
    gateway: Gateway, other_worker: Gateway, ana: Caller, stored: None, cooking: list[float]
) -> None:
    workers = [worker.as_(ana) for worker in (gateway, other_worker)]
    for asking in (*workers, *workers):
        assert (await found(asking, cooking, top_k=1)) == ["soup"]

    await ana.put("stew", "A recipe with vegetables: stew them.", readers=["tenant"])
    assert [await found(asking, cooking, top_k=1) for asking in workers] == [["stew"]] * 2
    await ana.call("DELETE", "/v1/documents/stew")
    assert [await found(asking, cooking, top_k=1) for asking in workers] == [["soup"]] * 2


@pytest.mark.thorough
async def test_a_batch_and_another_subjects_search_take_vectors(
    ana: Caller, admin: Caller, stored: None, holiday: list[float], cooking: list[float]
) -> None:
    searches: list[dict[str, Any]] = [
        {"vector": holiday},
        {"vector": cooking, "query": "soup"},
        {"query": "trains"},
    ]
    batch = await ana.call("POST", "/v1/search/batch", json={"searches": searches})
    singles = [(await search(ana, **body)).json() for body in searches]
    as_ana = await admin.call(
        "POST", "/v1/search/as", json={"subject": "ana", "groups": [], "search": searches[0]}
    )

    assert batch.json()["answers"] == singles
    assert as_ana.json() == singles[0]


ONES = [1.0] * 256
REFUSED: list[tuple[dict[str, Any] | str, str]] = [
    ({}, "query"),
    ({"query": "  "}, "query"),
    ({"vector": None}, "query"),
    ({"vector": []}, "vector"),
    ({"vector": [1.0] * 255}, "vector"),
    ({"vector": [1.0] * 257, "query": "x"}, "vector"),
    ({"vector": [0.1] * 4_001}, "vector"),
    ({"vector": [0] * 256}, "vector"),
    ({"vector": ["1"] * 256}, "vector"),
    ({"vector": [True] * 256}, "vector"),
    ({"vector": [*ONES[1:], None]}, "vector"),
    ({"vector": {"0": 1}}, "vector"),
    ({"vector": "AAAA"}, "vector"),
    ('{"vector": [' + ",".join(["1e999"] * 256) + "]}", "vector"),
    ({"vector": ONES, "rerank": True}, "rerank"),
    ({"vector": ONES, "alpha": 0.5}, "alpha"),
    ({"vector": ONES, "gate": "support"}, "gate"),
    ({"vector": ONES, "history": [{"role": "user", "content": "x"}]}, "history"),
    ({"vector": ONES, "context": {"token_budget": 9, "compress": "extract"}}, "context.compress"),
]


@pytest.mark.parametrize(("body", "field"), REFUSED)
async def test_what_is_no_vector_of_the_index_is_refused(
    ana: Caller, body: dict[str, Any] | str, field: str
) -> None:
    sent: dict[str, Any] = {"content": body} if isinstance(body, str) else {"json": body}
    for _ in range(2):
        refused = problem(await ana.call("POST", "/v1/search", **sent), 422)

        assert [error["field"] for error in refused["errors"]] == [field]


@pytest.mark.parametrize("number", [0, 2])
@pytest.mark.parametrize("numbers", [[], [1.0] * 255, [1.0] * 257, [0] * 256, "AAAA"])
async def test_a_batch_names_the_search_with_the_wrong_vector(
    ana: Caller, stored: None, number: int, numbers: Any
) -> None:
    searches: list[dict[str, Any]] = [{"query": "trains", "vector": ONES} for _ in range(3)]
    searches[number]["vector"] = numbers

    refused = problem(await ana.call("POST", "/v1/search/batch", json={"searches": searches}), 422)

    assert refused["errors"][0]["field"] == f"searches.{number}.vector"


async def test_another_subjects_search_names_its_wrong_vector(admin: Caller, stored: None) -> None:
    body = {"subject": "ana", "groups": [], "search": {"vector": [1.0] * 255}}

    refused = problem(await admin.call("POST", "/v1/search/as", json=body), 422)

    assert [error["field"] for error in refused["errors"]] == ["search.vector"]


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v1/search/plan", {"steps": [{"name": "a", "vector": ONES}]}, "steps.0.vector"),
        ("/v1/subscriptions", {"search": {"vector": ONES}}, "search.vector"),
    ],
)
async def test_calls_that_need_words_take_no_vector(
    ana: Caller, path: str, body: dict[str, Any], field: str
) -> None:
    refused = problem(await ana.call("POST", path, json=body), 422)

    assert [error["field"] for error in refused["errors"]] == [field]


def test_a_written_answer_takes_no_vector() -> None:
    body = orjson.dumps({"query": "x", "vector": ONES})
    with pytest.raises(Problem) as refused:
        schemas.parse(AnswerBody, body)

    assert [error.field for error in refused.value.errors or ()] == ["vector"]


@pytest.mark.isolated
async def test_no_similar_question_answers_a_vector(
    settings: Settings, embedder: Embedder, holiday: list[float], cooking: list[float]
) -> None:
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        admin = await gateway.caller("ada", tenant="acme", roles=["writer", "admin"])
        await admin.put("leave", TEXTS["leave"])
        await admin.put("soup", TEXTS["soup"])
        for query in ("How many days of leave?", "How many days of leave??"):
            for vector in (holiday, cooking):
                bounded = await search(admin, query=query, vector=vector, semantic="bounded")
                exact = await search(admin, query=query, vector=vector)
                assert bounded.content == exact.content
        await search(admin, vector=holiday, semantic="bounded")

        assert (await admin.call("GET", "/v1/cache/semantic")).json()["pairs"] == 0


@pytest.fixture
async def resident(
    settings: Settings,
    embedder: Embedder,
    gateway: Gateway,
    stored: None,
    ana: Caller,
) -> AsyncIterator[Gateway]:
    """A worker that has loaded the tenant's shard."""
    own = {"shard_bytes_max": 1 << 26}
    async with running(settings.model_copy(update=own), embedder) as worker:
        worker.tenant_name = gateway.tenant_name
        numbers = iter(range(1_000))
        async with asyncio.timeout(60):
            while await worker.counted("nearhit_shard_events_total", event="loaded") < 1:
                await worker.as_(ana).found(f"annual leave {next(numbers)}")
        yield worker


@pytest.mark.thorough
@pytest.mark.isolated
async def test_shards_give_the_answer_of_the_tables(
    resident: Gateway, gateway: Gateway, admin: Caller, ana: Caller
) -> None:
    await admin.put("secret", "The vacation days of the board.", readers=["group:board"])
    vectors = np.random.default_rng(3).normal(size=(12, 256))
    for number, vector in enumerate(vectors.tolist()):
        fields: dict[str, Any] = {"query": "leave"} if number % 2 else {}
        from_shards = await search(resident.as_(ana), vector=vector, **fields)
        from_tables = await search(ana, vector=vector, **fields)

        assert from_shards.content == from_tables.content
        assert "secret" not in from_shards.text
    wrong = await resident.as_(ana).call("POST", "/v1/search", json={"vector": [1.0]})
    problem(wrong, 422)


class AwayEmbedder:
    """An embedder that can't be reached."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    async def embed_query(self, _: str) -> np.ndarray[Any, Any]:
        raise EmbeddingUnavailable("away")


@pytest.mark.isolated
async def test_a_vector_needs_no_embedder(
    settings: Settings,
    embedder: Embedder,
    ana: Caller,
    stored: None,
    gateway: Gateway,
    holiday: list[float],
) -> None:
    usual = await search(ana, vector=holiday)
    async with running(settings, AwayEmbedder(embedder)) as worker:
        answer = await search(worker.as_(ana), vector=holiday, top_k=4)

    assert answer.json() == usual.json()
