"""Several steps in one call: what later ones take from earlier ones, and at which revision."""

import asyncio
import re
from itertools import count
from typing import Any

import httpx2
import numpy as np
import orjson
import pytest
from numpy.typing import NDArray

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, Gateway, problem, running
from tests.gateway.support.unreliable_embedder import MoodyEmbedder

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."
PARENTS = "# Parents\n\nParents get 100 days of leave; they apply with the form P-7."
TRAVEL = "# Travel\n\nBook trains with the travel desk; apply two weeks ahead."


async def ask(caller: Caller, *steps: dict[str, Any], **fields: Any) -> httpx2.Response:
    answer = await caller.call("POST", "/v1/search/plan", json={"steps": steps, **fields})
    assert answer.status_code == 200, answer.text
    return answer


def documents(answer: httpx2.Response) -> dict[str, list[str]]:
    """The documents of each step's hits, best first."""
    return {
        step["name"]: [hit["document_id"] for hit in step["answer"]["hits"]]
        for step in answer.json()["steps"]
    }


@pytest.fixture
async def reader(ana: Caller) -> Caller:
    await ana.put("leave", LEAVE, tags=["people"], source="handbook")
    await ana.put("parents", PARENTS, tags=["people", "forms"], source="handbook", language="en")
    await ana.put("travel", TRAVEL, tags=["travel"], source="desk")
    return ana


async def test_a_step_searches_within_what_an_earlier_one_found(reader: Caller) -> None:
    answer = await ask(
        reader,
        {"name": "leave", "query": "days of leave", "filter": {"sources": ["handbook"]}},
        {
            "name": "how",
            "query": "apply",
            "filter": {"documents": {"from": "leave.document_ids"}},
            "explain": True,
        },
        {
            "name": "others",
            "query": "apply",
            "filter": {"exclude_documents": {"from": "leave.document_ids"}},
        },
    )

    found = documents(answer)
    assert set(found["leave"]) == set(found["how"]) == {"leave", "parents"}
    assert found["how"][0] == "parents"
    assert found["others"] == ["travel"]
    _, how, others = answer.json()["steps"]
    assert set(how["resolved"]["documents"]) == {"leave", "parents"}
    assert "resolved" not in others


@pytest.mark.parametrize(
    ("field", "property_name", "expected"),
    [
        ("sources", "sources", {"leave", "parents"}),
        ("tags_any", "tags", {"leave", "parents"}),
        ("languages", "languages", {"leave", "parents", "travel"}),
    ],
)
async def test_a_step_takes_other_values_of_earlier_hits(
    reader: Caller, field: str, property_name: str, expected: set[str]
) -> None:
    answer = await ask(
        reader,
        {"name": "first", "query": "form for parents", "top_k": 1},
        {"name": "then", "query": "days", "filter": {field: {"from": f"first.{property_name}"}}},
        output=["then"],
    )

    assert set(documents(answer)["then"]) == expected


async def test_sets_combine_the_hits_of_steps(reader: Caller) -> None:
    answer = await ask(
        reader,
        {"name": "days", "query": "leave", "filter": {"sources": ["handbook"]}},
        {"name": "apply", "query": "apply", "filter": {"tags_any": ["forms", "travel"]}},
        {"name": "all", "operation": "union", "of": ["days", "apply"]},
        {"name": "best", "operation": "union", "of": ["days", "apply"], "top_k": 1},
        {"name": "both", "operation": "intersection", "of": ["days", "apply"]},
        {"name": "rest", "operation": "difference", "of": ["all", "both"]},
    )

    found = documents(answer)
    assert sorted(found["all"]) == ["leave", "parents", "travel"]
    assert found["best"] == ["parents"]  # which both steps found
    assert found["both"] == ["parents"]
    assert sorted(found["rest"]) == ["leave", "travel"]


async def test_a_step_that_refers_to_nothing_finds_nothing_and_is_not_searched(
    gateway: Gateway, reader: Caller
) -> None:
    answer = await ask(
        reader,
        {"name": "none", "query": "leave", "filter": {"sources": ["nowhere"]}},
        {"name": "in", "query": "leave", "filter": {"documents": {"from": "none.document_ids"}}},
        {
            "name": "but",
            "query": "leave",
            "filter": {"exclude_documents": {"from": "none.document_ids"}},
        },
    )

    assert documents(answer)["in"] == []
    assert len(documents(answer)["but"]) == 3
    assert await gateway.counted("nearhit_cache_events_total", event="computed") == 2


async def test_answers_are_byte_for_byte_those_of_single_searches_and_share_their_cache(
    reader: Caller,
) -> None:
    search = {"query": "leave", "highlights": True, "facets": ["source"]}
    within = {"query": "apply", "filter": {"documents": ["leave", "parents"]}}
    single = [await reader.call("POST", "/v1/search", json=one) for one in (search, within)]

    answer = await ask(
        reader,
        {"name": "leave", **search, "filter": {"tags_any": ["people"]}},
        {"name": "again", **search},
        {"name": "in", "query": "apply", "filter": {"documents": {"from": "leave.document_ids"}}},
    )

    assert b'{"name":"again","answer":%b,' % single[0].content in answer.content
    assert b'{"name":"in","answer":%b,' % single[1].content in answer.content
    assert answer.headers["cache-status"] == 'nearhit; fwd=miss; detail="2 of 3"'
    timing = answer.headers["server-timing"]
    assert re.search(r"step\.leave;dur=[0-9.]+;desc=miss, ", timing)
    assert re.search(r"step\.in;dur=[0-9.]+;desc=memory", timing)


@pytest.mark.slow
async def test_all_steps_are_of_one_revision_whatever_is_written_meanwhile(ana: Caller) -> None:
    """Each write changes the tag by which the second step finds, and the text of both."""
    await ana.put("counter", "counter zero", tags=["t0"])
    over, written = asyncio.Event(), count(1)

    async def write() -> None:
        while not over.is_set():
            number = next(written)
            await ana.put("counter", f"counter {number}", tags=[f"t{number}"])

    writing = [asyncio.create_task(write()) for _ in range(3)]
    try:
        for number in range(8):
            answer = await ask(
                ana,
                {"name": "a", "query": f"counter {number}"},
                {
                    "name": "b",
                    "query": f"a counter {number}",
                    "filter": {"tags_any": {"from": "a.tags"}},
                },
                {
                    "name": "c",
                    "query": f"the counter {number}",
                    "filter": {"tags_any": {"from": "b.tags"}},
                },
                {"name": "both", "operation": "intersection", "of": ["a", "c"]},
            )
            steps = answer.json()["steps"]
            assert [len(step["answer"]["hits"]) for step in steps] == [1, 1, 1, 1]
            assert len({step["answer"]["hits"][0]["text"] for step in steps}) == 1
    finally:
        over.set()
        await asyncio.gather(*writing)


class WritesBetween(MoodyEmbedder):
    """Lets the test write when a question of the second step is embedded."""

    def __init__(self, real: Embedder) -> None:
        super().__init__(real)
        self.writes: asyncio.Queue[Any] = asyncio.Queue()

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        if text.startswith("then") and not self.writes.empty():
            await self.writes.get_nowait()
        return await super().embed_query(text)


async def test_a_write_between_two_steps_is_in_both_or_in_none(
    settings: Settings, embedder: Embedder
) -> None:
    between = WritesBetween(embedder)
    async with running(settings, between) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        for writes in (1, 9):  # nine: more than a plan runs again for
            await ana.put("counter", "counter 0", tags=["t0"])
            for number in range(writes):
                write = ana.put("counter", f"counter {number + 1}", tags=[f"t{number + 1}"])
                between.writes.put_nowait(write)
            answer = await ask(
                ana,
                {"name": "first", "query": f"counter {writes}"},
                {
                    "name": "then",
                    "query": f"then counter {writes}",
                    "filter": {"tags_any": {"from": "first.tags"}},
                },
            )
            first, then = (step["answer"]["hits"] for step in answer.json()["steps"])
            assert [hit["text"] for hit in first] == [hit["text"] for hit in then]
            assert first[0]["text"] != "counter 0"
            while not between.writes.empty():
                await between.writes.get_nowait()


async def test_a_step_only_narrows_what_its_caller_may_see(
    reader: Caller, ben: Caller, admin: Caller
) -> None:
    steps: list[dict[str, Any]] = [
        {"name": "leave", "query": "days of leave"},
        {"name": "in", "query": "apply", "filter": {"documents": {"from": "leave.document_ids"}}},
    ]
    await ask(reader, *steps)
    await reader.share("parents", "user:ben")
    shared = await ask(ben, *steps)
    token = await reader.call("POST", "/v1/tokens", json={"filter": {"documents": ["travel"]}})
    narrow = await ask(Caller(reader.client, token.json()["token"]), *steps)
    await reader.share("parents")
    revoked = await ask(ben, *steps)

    assert documents(shared) == {"leave": ["parents"], "in": ["parents"]}
    assert documents(narrow) == {"leave": ["travel"], "in": ["travel"]}
    assert documents(revoked) == {"leave": [], "in": []}


async def test_an_answer_is_cut_to_its_budgets_of_tokens_and_says_so(reader: Caller) -> None:
    steps: list[dict[str, Any]] = [
        {"name": "a", "query": "leave", "tokens": 20},
        {"name": "b", "query": "apply", "filter": {"documents": {"from": "a.document_ids"}}},
        {"name": "c", "query": "trains"},
    ]

    whole = await ask(reader, *steps)
    cut = await ask(reader, *steps, budget={"tokens": 45})

    def left_out(answer: httpx2.Response) -> list[int]:
        return [step["left_out"] for step in answer.json()["steps"]]

    assert left_out(whole) == [2, 0, 0]
    assert len(documents(whole)["b"]) == 3  # of the hits that the answer leaves out too
    assert left_out(cut) == [2, 2, 3]
    assert [len(found) for found in documents(cut).values()] == [1, 1, 0]


class Stuck(MoodyEmbedder):
    """Never embeds one question."""

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        if text == "stuck":
            await asyncio.get_running_loop().create_future()
        return await super().embed_query(text)


@pytest.mark.thorough
async def test_when_the_time_is_over_the_finished_steps_are_answered(
    settings: Settings, embedder: Embedder
) -> None:
    async with running(settings, Stuck(embedder)) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        await ana.put("leave", LEAVE)
        steps: list[dict[str, Any]] = [
            {"name": "leave", "query": "leave"},
            {"name": "late", "query": "stuck"},
            {
                "name": "in",
                "query": "days",
                "filter": {"documents": {"from": "leave.document_ids"}},
            },
            {"name": "after", "operation": "union", "of": ["in", "late"]},
        ]
        await ask(ana, steps[0], steps[2])  # from the cache from now on

        answer = await ask(ana, *steps, budget={"time_ms": 150})
        nothing = await ask(ana, steps[1], budget={"time_ms": 1})

    assert documents(answer) == {"leave": ["leave"], "in": ["leave"]}
    assert answer.json()["unfinished"] == ["late", "after"]
    assert nothing.json() == {"steps": [], "unfinished": ["late"]}
    assert nothing.headers["nearhit-revision"] == answer.headers["nearhit-revision"]


class Together(MoodyEmbedder):
    """Embeds two questions only once both were asked."""

    def __init__(self, real: Embedder) -> None:
        super().__init__(real)
        self.both = asyncio.Barrier(2)

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        async with asyncio.timeout(60):
            await self.both.wait()
        return await super().embed_query(text)


async def test_steps_that_use_none_of_each_other_run_at_once(
    settings: Settings, embedder: Embedder
) -> None:
    together = Together(embedder)
    async with running(settings, together) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        await ana.put("leave", LEAVE)

        answer = await ask(
            ana,
            {"name": "a", "query": "leave"},
            {"name": "b", "query": "days"},
            {"name": "c", "operation": "union", "of": ["a", "b"]},
        )

    assert "nearhit-degraded" not in answer.headers
    assert documents(answer)["c"] == ["leave"]


async def test_each_search_counts_against_the_rate(settings: Settings, embedder: Embedder) -> None:
    limited = settings.model_copy(update={"key_requests_per_s": 2.0})
    async with running(limited, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        searches: list[dict[str, Any]] = [
            {"name": name, "query": "leave"} for name in ("a", "b", "c")
        ]
        union = {"name": "all", "operation": "union", "of": ["a", "b", "c"]}

        await ask(ana, *searches, union)
        await ask(ana, searches[0])  # all that is left
        refused = await ana.call("POST", "/v1/search/plan", json={"steps": searches})

    assert problem(refused, 429)["type"] == "urn:nearhit:problem:too-many-requests"


A: dict[str, Any] = {"name": "a", "query": "leave"}


def within(reference: str, field: str = "documents", **fields: Any) -> dict[str, Any]:
    return {"name": "b", "query": "days", "filter": {field: {"from": reference}}, **fields}


PROBLEMS: list[tuple[list[dict[str, Any]], str, str]] = [
    ([], "steps", "at least 1"),
    ([{**A, "name": f"a{n}"} for n in range(17)], "steps", "at most 16"),
    ([A, A], "steps.1.name", "two steps have the name a"),
    ([{**A, "name": "Not a name"}], "steps.0.name", "pattern"),
    ([{"name": "a"}], "steps.0.query", "required"),
    ([A, {"name": "b", "of": ["a", "a"]}], "steps.1.operation", "required"),
    ([A, {"name": "b", "operation": "union", "of": ["a"]}], "steps.1.of", "at least 2"),
    (
        [A, {"name": "b", "operation": "union", "of": ["a", "a"]}],
        "steps.1.of.1",
        "names step a twice",
    ),
    (
        [A, {"name": "b", "operation": "union", "of": ["a", "x"]}],
        "steps.1.of.1",
        "no step has the name x",
    ),
    ([A, within("x.document_ids")], "steps.1.filter.documents.from", "no step has the name x"),
    ([within("b.document_ids")], "steps.0.filter.documents.from", "uses itself"),
    (
        [within("a.document_ids"), A],
        "steps.0.filter.documents.from",
        "step a comes after step b",
    ),
    ([A, within("a")], "steps.1.filter.documents.from", "pattern"),
    ([A, within("a.tags")], "steps.1.filter.documents.from", "must be a.document_ids"),
    ([A, within("a.tags", "tags_all")], "steps.1.filter.tags_all", "valid array"),
    (
        [A, within("a.document_ids", to=1)],
        "steps.1.to",
        "unknown field",
    ),
    ([A, {**A, "name": "b", "filter": {"tags_any": [""]}}], "steps.1.filter.tags_any.0", "1 "),
    ([{**A, "top_k": 101}], "steps.0.top_k", "at most 100"),
    ([{**A, "history": []}], "steps.0.history", "a call of its own"),
    ([{**A, "context": {"token_budget": 5}}], "steps.0.context", "a call of its own"),
    (
        [
            *({**A, "name": f"a{n}", "top_k": 100} for n in range(3)),
            {"name": "a", "operation": "union", "of": ["a0", "a1", "a2"]},
            within("a.document_ids"),
        ],
        "steps.4.filter.documents.from",
        "step a can find 300 hits",
    ),
    (
        [{**A, "name": f"a{n}", "top_k": 100} for n in range(16)] + [{**A, "name": "b"}],
        "steps",
        "at most 16",
    ),
]


async def test_a_problem_names_the_step_and_its_field(ana: Caller) -> None:
    for steps, field, reason in PROBLEMS:
        body = orjson.dumps({"steps": steps})

        error = problem(await ana.call("POST", "/v1/search/plan", content=body), 422)["errors"][0]

        assert error["field"] == field
        assert reason in error["detail"]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"output": ["x"]}, "output.0"),
        ({"output": ["a", "a"]}, "output.1"),
        ({"budget": {"time_ms": 0}}, "budget.time_ms"),
        ({"parameters": {}}, "parameters"),
        ({"strategy": "other"}, "steps"),
    ],
)
async def test_a_problem_names_what_is_wrong_beside_the_steps(
    ana: Caller, fields: dict[str, Any], field: str
) -> None:
    answer = await ana.call("POST", "/v1/search/plan", json={"steps": [A], **fields})

    assert problem(answer, 422)["errors"][0]["field"] == field


async def test_a_step_that_names_public_is_refused_where_it_is_not_received(ana: Caller) -> None:
    body = {"steps": [A, {**A, "name": "b", "scopes": ["public"]}]}

    refused = problem(await ana.call("POST", "/v1/search/plan", json=body), 422)

    assert refused["errors"][0]["field"] == "steps.1.scopes"
