"""What a caller may choose in a gateway of a region that holds no lease, and what it then gets."""

import asyncio
import itertools
from typing import Any

import httpx2
import pytest

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.http.test_known_heads import ask, ask_repeat, request, watched
from tests.gateway.promises.asking import WINDOW_MS, asked, tool_call, written
from tests.gateway.support.gateways import Caller, Gateway, problem, running
from tests.gateway.support.leases import readings
from tests.gateway.support.raw_http import raw

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]


async def test_own_writes_are_read_at_another_gateway_which_then_needs_no_primary(
    far: Gateway, ana: Caller
) -> None:
    at_far = far.as_(ana)
    await asked(at_far)
    for days in range(20, 25):
        revision = await written(ana, days)

        first = await asked(at_far, revision)
        before = await readings(far)
        again = await asked(at_far, first.headers["nearhit-revision"])

        assert f"{days} days" in first.text
        assert first.headers["nearhit-consistency"] == "strong"
        assert f"{days} days" in again.text
        assert again.headers["nearhit-consistency"] == "session"
        assert await readings(far) == before


async def test_session_may_miss_what_others_have_written_and_strong_may_not(
    far: Gateway, ana: Caller
) -> None:
    at_far = far.as_(ana)
    revision = await written(ana, 25)
    await asked(at_far)
    await written(ana, 26)

    in_session = await asked(at_far, revision)
    strong = await asked(at_far, revision, consistency="strong")
    in_session_then = await asked(at_far, strong.headers["nearhit-revision"])

    assert ("25 days" in in_session.text, "26 days" in strong.text) == (True, True)
    assert strong.headers["nearhit-consistency"] == "strong"
    assert "26 days" in in_session_then.text


@pytest.mark.thorough
async def test_session_is_answered_at_the_newest_that_the_region_knows(
    far: Gateway, ana: Caller
) -> None:
    at_far = far.as_(ana)
    revision = await written(ana, 25)
    await asked(at_far)  # the answer in memory is of this revision
    await written(ana, 26)
    await at_far.call("GET", "/v1/documents")

    in_session = await asked(at_far, revision)
    bounded = await asked(at_far, "0", max_staleness_ms=WINDOW_MS)

    assert "26 days" in in_session.text
    assert in_session.headers["nearhit-consistency"] == "session"
    assert bounded.headers["nearhit-consistency"].startswith("bounded;ms=")


async def test_bounded_is_answered_at_what_the_region_knows_and_says_how_old_that_is(
    far: Gateway, ana: Caller
) -> None:
    at_far = far.as_(ana)
    await written(ana, 25)
    await asked(at_far)
    await written(ana, 26)
    before = await readings(far)

    bounded = await asked(at_far, max_staleness_ms=WINDOW_MS)
    between = await readings(far)
    young = await asked(at_far, max_staleness_ms=1)

    kind, _, age_ms = bounded.headers["nearhit-consistency"].partition(";ms=")
    assert "25 days" in bounded.text
    assert kind == "bounded"
    assert 0 < int(age_ms) < WINDOW_MS
    assert between == before
    assert "26 days" in young.text
    assert young.headers["nearhit-consistency"] == "strong"


@pytest.mark.thorough
async def test_a_bounded_answer_reaches_the_revision_that_the_caller_names(
    far: Gateway, ana: Caller
) -> None:
    at_far = far.as_(ana)
    await written(ana, 25)
    await asked(at_far)
    revision = await written(ana, 26)

    answer = await asked(at_far, revision, max_staleness_ms=WINDOW_MS)
    await written(ana, 27)
    again = await asked(at_far, revision, max_staleness_ms=WINDOW_MS)
    without = await asked(at_far, max_staleness_ms=WINDOW_MS)

    assert "26 days" in answer.text
    assert "26 days" in again.text
    assert again.headers["nearhit-consistency"].startswith("bounded;ms=")
    assert "27 days" not in without.text


async def test_at_home_each_request_reads_the_revision(gateway: Gateway, ana: Caller) -> None:
    revision = await written(ana, 25)
    await asked(ana)
    before = await readings(gateway)

    answers = [
        await asked(ana, revision),
        await asked(ana, max_staleness_ms=WINDOW_MS),
        await asked(ana, revision, max_staleness_ms=WINDOW_MS),
    ]

    assert [each.headers["nearhit-consistency"] for each in answers] == ["strong"] * 3
    assert await readings(gateway) - before == 3


@pytest.mark.thorough
async def test_a_new_question_to_shards_at_home_reaches_the_revision_or_is_refused(
    settings: Settings, embedder: Embedder, gateway: Gateway, ana: Caller
) -> None:
    """Whose statement would prove a revision of its own."""
    revision = await written(ana, 25)
    async with running(settings.model_copy(update={"shard_bytes_max": 1 << 26}), embedder) as home:
        at_home, numbers = home.as_(ana), itertools.count()
        async with asyncio.timeout(60):
            while not await home.counted("nearhit_shard_events_total", event="loaded"):
                await asked(at_home, query=f"days {next(numbers)}")

        for _ in range(3):
            assert (await asked(at_home, revision, query=f"{next(numbers)}")).status_code == 200
            problem(await asked(at_home, "1000", query=f"days {next(numbers)}"), 409)


@pytest.mark.thorough
async def test_a_conversation_needs_no_primary_either(far: Gateway, ana: Caller) -> None:
    at_far = far.as_(ana)
    revision = await written(ana, 25)
    await asked(at_far)
    before = await readings(far)

    answer = await asked(at_far, revision, history=[])

    assert "25 days" in answer.text
    assert answer.headers["nearhit-consistency"] == "session"
    assert await readings(far) == before


async def test_known_heads_keep_the_promises_too(
    far: Gateway, ana: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_far = far.as_(ana)
    revision = await written(ana, 25)
    await asked(at_far)
    outcomes: list[bool] = watched(monkeypatch)
    in_session = request(at_far, "days of leave", f"Nearhit-Min-Revision: {revision}")
    bounded = request(at_far, "days of leave", max_staleness_ms=WINDOW_MS)
    async with raw(far) as connection:
        for sent, promise in ((in_session, "session"), (bounded, "bounded;ms=")):
            await ask(connection, sent)
            before = await readings(far)

            repeated = await ask_repeat(connection, sent, outcomes)

            assert repeated.headers["nearhit-consistency"].startswith(promise)
            assert await readings(far) == before
        later = await written(ana, 26)
        stale = await ask_repeat(connection, in_session, outcomes)
        fresh = await asked(at_far, later)
        after = await ask_repeat(connection, in_session, outcomes)

    assert ("25 days" in stale.body.decode(), "26 days" in fresh.text) == (True, True)
    assert "26 days" in after.body.decode()


@pytest.mark.thorough
async def test_tools_and_vector_stores_keep_the_promises(far: Gateway, ana: Caller) -> None:
    at_far = far.as_(ana)
    revision = await written(ana, 25)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("/mcp", tool_call("search", query="days of leave")),
        ("/v1/vector_stores/api/search", {"query": "days of leave"}),
    ]
    for path, body in calls:
        headers = {"Nearhit-Min-Revision": revision}
        strong = await at_far.call("POST", path, json=body)
        before = await readings(far)
        in_session = await at_far.call("POST", path, json=body, headers=headers)

        assert await readings(far) == before
        assert strong.headers["nearhit-consistency"] == "strong"
        assert in_session.headers["nearhit-consistency"] == "session"
        assert (
            in_session.headers["nearhit-revision"].partition(";")[0] == revision.partition(";")[0]
        )

        revision = await written(ana, int(revision.partition(";")[0]) + 40)
        headers = {"Nearhit-Min-Revision": revision}
        own = await at_far.call("POST", path, json=body, headers=headers)
        assert own.headers["nearhit-consistency"] == "strong"
        assert int(own.headers["nearhit-revision"].partition(";")[0]) >= int(
            revision.partition(";")[0]
        )


@pytest.mark.thorough
async def test_in_a_batch_the_strictest_promise_counts(far: Gateway, ana: Caller) -> None:
    at_far = far.as_(ana)
    revision = await written(ana, 25)
    bounded = {"query": "days of leave", "max_staleness_ms": WINDOW_MS}

    async def batch(*searches: dict[str, Any], revision: str | None = None) -> httpx2.Response:
        headers = {} if revision is None else {"Nearhit-Min-Revision": revision}
        body = {"searches": searches}
        return await at_far.call("POST", "/v1/search/batch", json=body, headers=headers)

    first = await batch(bounded)
    await written(ana, 26)
    before = await readings(far)
    both = await batch(bounded, bounded)
    mixed = await batch(bounded, {"query": "days of leave"}, revision=revision)
    assert await readings(far) == before
    strict = await batch(bounded, {"query": "days of leave"})

    assert first.headers["nearhit-consistency"] == "strong"
    assert both.headers["nearhit-consistency"].startswith("bounded;ms=")
    assert mixed.headers["nearhit-consistency"] == "session"
    assert ("25 days" in both.text, "25 days" in mixed.text) == (True, True)
    assert strict.headers["nearhit-consistency"] == "strong"
    assert "26 days" in strict.text
    refused = await batch(bounded, {"query": "x", "consistency": "bounded"})
    assert problem(refused, 422)["errors"][0]["field"] == "searches.1.consistency"
