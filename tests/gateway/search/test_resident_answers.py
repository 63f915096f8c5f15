"""Answers from shards: in one statement or, with texts in memory, in none.

They are kept in the process that computed them. The tests share two workers, and each has a tenant.
"""

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from starlette.responses import Response

from cache.rate_limit import LocalTokens
from gateway.auth.authenticator import Authenticator
from gateway.http.known_heads import ComputingRequest, OnResponse
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.http.test_known_heads import OF_EACH_REQUEST, ask, request
from tests.gateway.support.gateways import Caller, Gateway, problem, running
from tests.gateway.support.raw_http import RawAnswer, RawConnection, raw

pytestmark = pytest.mark.anyio

CONFIRM = "search_confirmation.confirm"
_numbers = itertools.count()


async def stored(gateway: Gateway) -> float:
    return await gateway.counted("nearhit_cache_events_total", event="stored")


async def statements(gateway: Gateway, name: str) -> float:
    return await gateway.counted("nearhit_sql_statement_duration_seconds_count", statement=name)


@pytest.fixture(scope="module")
async def worker_without_shards(
    module_settings: Settings, embedder: Embedder
) -> AsyncIterator[Gateway]:
    async with running(module_settings, embedder) as worker:
        yield worker


@pytest.fixture(scope="module")
async def worker_with_shards(
    module_settings: Settings, embedder: Embedder
) -> AsyncIterator[Gateway]:
    own = {"shard_bytes_max": 1 << 26}
    async with running(module_settings.model_copy(update=own), embedder) as worker:
        yield worker


@pytest.fixture
async def gateway(worker_without_shards: Gateway) -> Gateway:
    return await worker_without_shards.with_new_tenant()


@pytest.fixture
async def resident(
    worker_with_shards: Gateway, gateway: Gateway, ana: Caller, admin: Caller
) -> Gateway:
    """A worker that has loaded the shards of the tenant and of the public documents."""
    await ana.put("leave", "Everybody gets 25 days of annual leave a year.", readers=["tenant"])
    await admin.put("secret", "The annual leave of the board.", readers=["group:board"])
    await gateway.receive_public()
    worker_with_shards.tenant_name = gateway.tenant_name
    before = await loads(worker_with_shards)
    async with asyncio.timeout(60):
        while await loads(worker_with_shards) == before:
            await found(worker_with_shards.as_(ana))
        while await searches_tables(worker_with_shards, ana):
            pass  # one of the two shards is not there yet
    return worker_with_shards


async def loads(worker: Gateway) -> float:
    return await worker.counted("nearhit_shard_events_total", event="loaded")


async def searches_tables(worker: Gateway, caller: Caller) -> bool:
    """Whether a new question takes a search of the tables."""
    before = await search_statements(worker)
    await found(worker.as_(caller))
    return await search_statements(worker) != before


async def search_statements(gateway: Gateway) -> list[float]:
    names = "search.details", "search.exact", "search.exact_legs", "search.survey"
    return [await statements(gateway, name) for name in names]


async def found(caller: Caller) -> list[str]:
    """What a question finds that nobody has asked before."""
    return await caller.found(f"annual leave {next(_numbers)}")


@asynccontextmanager
async def in_one_statement(worker: Gateway) -> AsyncIterator[None]:
    """A test fails if the revision is read meanwhile, or no shard is asked."""
    names = "tenants.revisions", CONFIRM
    before = [await statements(worker, name) for name in names]
    yield
    after = [await statements(worker, name) for name in names]
    assert [now - then for now, then in zip(after, before, strict=True)] == [0, 1]


async def test_a_new_question_takes_one_statement_and_its_answer_says_the_revision(
    resident: Gateway, ana: Caller
) -> None:
    asking = resident.as_(ana)
    await found(asking)  # so that the worker has tokens of the rates ahead
    async with asyncio.timeout(60):
        while True:
            try:
                async with in_one_statement(resident):
                    answer = await asking.search(f"annual leave {next(_numbers)}")
                break
            except AssertionError:
                pass  # no token ahead yet

    assert [hit["document_id"] for hit in answer.json()["hits"]] == ["leave"]
    usual = await asking.search("annual leave", rerank=True)
    assert answer.headers["nearhit-revision"] == usual.headers["nearhit-revision"]


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each new question with a known head, whether it was answered without the application."""
    outcomes: list[bool] = []
    begin = ComputingRequest.begin

    def watching(self: ComputingRequest, on_response: OnResponse) -> None:
        def noted(response: Response | None) -> None:
            outcomes.append(response is not None)
            on_response(response)

        begin(self, noted)

    monkeypatch.setattr(ComputingRequest, "begin", watching)
    return outcomes


async def new_question(
    connection: RawConnection, ana: Caller, computed: list[bool]
) -> tuple[str, RawAnswer]:
    """A question that was computed without the application, and its answer."""
    async with asyncio.timeout(60):
        while True:
            question, before = f"annual leave {next(_numbers)}", len(computed)
            answer = await ask(connection, request(ana, question))
            if computed[before:] == [True]:
                return question, answer


async def test_a_new_question_with_a_known_head_gets_the_response_of_the_usual_way(
    resident: Gateway, ana: Caller, computed: list[bool]
) -> None:
    async with raw(resident) as connection:
        question, answer = await new_question(connection, ana, computed)
        # A header that means nothing makes other bytes, so this one takes the usual way.
        usual = await ask(connection, request(ana, question, "X-Other: 1"))
        other = await ask(connection, request(ana, f"{question} or so", "X-Other: 2"))

    assert (answer.status, answer.body) == (200, usual.body)
    assert answer.headers.keys() == other.headers.keys()
    for name in other.headers.keys() - OF_EACH_REQUEST - {"content-length"}:
        assert answer.headers[name] == other.headers[name], name
    assert answer.headers["cache-status"] == "nearhit; fwd=miss"
    phases = [
        [part.partition(";")[0] for part in each.headers["server-timing"].split(", ")]
        for each in (answer, other)
    ]
    assert phases[0] == phases[1]


@pytest.mark.thorough
async def test_a_new_question_with_a_known_head_is_logged_and_counted_once(
    resident: Gateway, ana: Caller, computed: list[bool]
) -> None:
    async with raw(resident) as connection:
        await new_question(connection, ana, computed)
        before = await resident.fills()
        asked = [await new_question(connection, ana, computed) for _ in range(3)]

    assert await resident.fills() - before >= len(asked)
    assert {answer.headers["cache-status"] for _, answer in asked} == {"nearhit; fwd=miss"}


@pytest.mark.thorough
async def test_a_new_question_that_is_not_proven_takes_the_usual_way_and_counts_once(
    resident: Gateway, ana: Caller, computed: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens: Counter[str] = Counter()
    async with raw(resident) as connection:
        await new_question(connection, ana, computed)
        monkeypatch.setattr(Authenticator, "confirm_at", lambda *_: False)
        for name in ("spend", "unspend"):
            monkeypatch.setattr(LocalTokens, name, counting(tokens, name))
        asked = 0
        async with asyncio.timeout(60):
            while computed.count(False) < 3:
                answer = await ask(connection, request(ana, f"annual leave {next(_numbers)}"))
                assert answer.status == 200
                asked += 1

    assert tokens["unspend"] >= 3
    assert tokens["spend"] - tokens["unspend"] == 2 * asked  # of the key and of the tenant


def counting(tokens: Counter[str], name: str) -> Callable[[LocalTokens], bool | None]:
    """The method, which counts what it has spent or put back."""
    method = getattr(LocalTokens, name)

    def counted(self: LocalTokens) -> bool | None:
        result: bool | None = method(self)
        tokens[name] += result is not False
        return result

    return counted


@pytest.mark.thorough
async def test_a_new_question_of_many_at_once_is_computed_once_or_twice(
    resident: Gateway, ana: Caller
) -> None:
    asking = resident.as_(ana)
    before = await resident.counted("nearhit_cache_events_total", event="computed")

    answers = await asyncio.gather(*(asking.found("leave of all at once") for _ in range(30)))

    assert answers == [["leave"]] * 30
    after = await resident.counted("nearhit_cache_events_total", event="computed")
    # Twice: who comes while one is computed without a revision reads it, and computes for the rest.
    assert 1 <= after - before <= 2


async def test_a_new_question_sees_what_was_acknowledged_before_it(
    resident: Gateway, ana: Caller
) -> None:
    asking = resident.as_(ana)
    for number in range(5):
        await ana.put(f"more-{number}", f"More annual leave, {number} days.")
        assert f"more-{number}" in await found(asking)

    for number in range(5):
        assert (await ana.call("DELETE", f"/v1/documents/more-{number}")).status_code < 300
        assert f"more-{number}" not in await found(asking)


async def test_a_new_question_with_a_revoked_key_is_refused(resident: Gateway, ana: Caller) -> None:
    made = await resident.operator.call(
        "POST", "/v1/keys", json={"tenant": resident.tenant_name, "subject": "eve"}
    )
    eve = Caller(resident.client, made.json()["key"])
    assert [await found(eve) for _ in range(3)] == [["leave"]] * 3

    await resident.operator.call("DELETE", f"/v1/keys/{made.json()['id']}")

    for _ in range(3):
        body = {"query": f"annual leave {next(_numbers)}"}
        problem(await eve.call("POST", "/v1/search", json=body), 401)


async def test_a_new_question_of_who_joins_or_leaves_a_group_finds_what_it_may(
    resident: Gateway, admin: Caller
) -> None:
    ben = await resident.caller("ben")
    membership = "/v1/groups/board/members/ben"
    for method, readable in (("PUT", ["leave", "secret"]), ("DELETE", ["leave"])) * 2:
        assert (await admin.call(method, membership)).status_code == 204

        assert [sorted(await found(ben)) for _ in range(2)] == [readable] * 2


async def test_a_new_question_with_an_expired_key_is_refused(resident: Gateway) -> None:
    expires_at = datetime.now(UTC) + timedelta(seconds=1)
    eve = await resident.caller("eve", expires_at=expires_at.isoformat())
    assert await found(eve) == ["leave"]
    while datetime.now(UTC) <= expires_at:
        await asyncio.sleep(0.05)

    body = {"query": f"annual leave {next(_numbers)}"}
    problem(await eve.call("POST", "/v1/search", json=body), 401)


async def test_an_answer_from_shards_is_repeated_from_memory_and_is_not_in_redis(
    resident: Gateway, ana: Caller
) -> None:
    asking = resident.as_(ana)
    before = await stored(resident)
    hits = await resident.counted("nearhit_cache_lookups_total", tier="memory")

    for _ in range(2):
        assert await asking.found("days of leave") == ["leave"]
    assert await resident.counted("nearhit_cache_lookups_total", tier="memory") == hits + 1
    assert await stored(resident) == before

    await asking.found("days of leave", fusion="rrf")
    await asking.found("days of leave", rerank=True)
    assert await stored(resident) == before + 2


async def test_a_new_question_gets_the_bytes_of_the_tables_without_a_search_of_them(
    resident: Gateway, ana: Caller
) -> None:
    asking = resident.as_(ana)
    before = await search_statements(resident)
    questions = ("annual leave", "days a year", "boards", "25")
    fields = {"metadata": True, "highlights": True, "boost": {"importance": {"weight": 0.1}}}
    answers = [await asking.search(question, **fields) for question in questions]
    assert await search_statements(resident) == before

    for question, answer in zip(questions, answers, strict=True):
        usual = await ana.search(question, **fields)
        assert answer.content == usual.content
        assert answer.headers["nearhit-revision"] == usual.headers["nearhit-revision"]
    assert any(answer.json()["hits"] for answer in answers)


NOT_IN_MEMORY: list[dict[str, Any]] = [
    {"expand": True},
    {"summaries": True},
    {"explain": True},
    {"facets": ["source"]},
    {"diversity": 0.5},
    {"boost": {"recency": {"half_life_days": 1, "weight": 1}}},
    {"boost": {"replaced": {"weight": 1}}},
]


async def test_what_memory_does_not_hold_is_asked_of_postgresql(
    resident: Gateway, ana: Caller
) -> None:
    for fields in NOT_IN_MEMORY:
        before = await search_statements(resident)
        answer = await resident.as_(ana).search("annual leave", **fields)
        assert answer.content == (await ana.search("annual leave", **fields)).content, fields
        assert [hit["document_id"] for hit in answer.json()["hits"]] == ["leave"], fields
        assert await search_statements(resident) != before, fields


async def test_a_new_question_shows_the_title_and_text_that_were_acknowledged_before_it(
    resident: Gateway, ana: Caller
) -> None:
    for number in range(5):
        written = (f"Title {number}", f"Annual leave is {number} days.")
        await ana.put("days", written[1], title=written[0])
        answer = await resident.as_(ana).search(f"annual leave {next(_numbers)}")
        hits = {hit["document_id"]: (hit["title"], hit["text"]) for hit in answer.json()["hits"]}
        assert hits["days"] == written


async def test_a_cached_answer_takes_no_search_after_the_callers_groups_have_changed(
    resident: Gateway, admin: Caller
) -> None:
    ben = await resident.caller("ben")
    await found(ben)
    assert (await admin.call("PUT", "/v1/groups/board/members/ben")).status_code == 204

    for number in range(6):  # an id of its own each, so that none is a repeat
        if number == 2:
            before = await statements(resident, CONFIRM)
        headers = {"X-Request-Id": f"id-{number}"}
        answer = await ben.call(
            "POST", "/v1/search", json={"query": "the board's leave"}, headers=headers
        )
        assert len(answer.json()["hits"]) == 2

    assert await statements(resident, CONFIRM) == before


@pytest.mark.thorough
async def test_an_answer_survives_changes_that_do_not_concern_it(
    resident: Gateway, gateway: Gateway, ana: Caller
) -> None:
    async def revalidated() -> float:
        return await resident.counted("nearhit_cache_events_total", event="revalidated")

    ben = await gateway.caller("ben")

    async def change_another(number: int) -> None:
        await ben.put("zebra", f"The zebra has {number} stripes.")

    question = "how much leave in a year"
    asking = resident.as_(ana)
    assert await asking.found(question) == ["leave"]
    before = await revalidated()
    await change_another(1)
    assert await asking.found(question) == ["leave"]
    await change_another(2)
    again = await asking.search(question)
    assert await revalidated() == before + 2
    assert (
        again.headers["nearhit-revision"]
        == ((await asking.search(f"{question} {next(_numbers)}")).headers["nearhit-revision"])
    )

    await ana.put("leave", "Everybody gets 30 days of annual leave a year.", readers=["tenant"])
    assert "30 days" in (await asking.search(question)).json()["hits"][0]["text"]
    await ana.put("more", "How much leave in a year? 30 days.", readers=["tenant"])
    assert set(await asking.found(question)) == {"more", "leave"}
    await ana.share("more", "user:ana")
    assert set(await resident.as_(ben).found(question)) == {"leave", "zebra"}
    await ana.call("DELETE", "/v1/documents/more")
    assert await asking.found(question) == ["leave"]
