"""How a tenant's searches were answered is counted by hour, and shown to its admins alone."""

from datetime import timedelta
from typing import Any

import pytest

from gateway.extensions.activity.search_statistics import LATENCIES_MS_MAX
from gateway.extensions.activity.search_statistics_store import KEPT_DAYS
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.dates import today
from tests.gateway.support.gateways import Caller, Gateway, problem, running

pytestmark = pytest.mark.anyio


@pytest.fixture
async def admin(gateway: Gateway) -> Caller:
    return await gateway.caller("ada", roles=["admin"])


@pytest.fixture
async def ana(gateway: Gateway) -> Caller:
    return await gateway.caller("ana")


async def statistics(admin: Caller, query: str = "") -> dict[str, Any]:
    answer = await admin.call("GET", f"/v1/search/statistics{query}")
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def totals(body: dict[str, Any]) -> dict[str, int]:
    """The answers by outcome and by tier."""
    counts: dict[str, int] = {}
    for period in body["periods"]:
        for outcome in ("confident", "low_confidence", "empty"):
            if period[outcome]:
                counts[outcome] = counts.get(outcome, 0) + period[outcome]
                counts[period["tier"]] = counts.get(period["tier"], 0) + period[outcome]
    return counts


async def test_answers_are_counted_by_tier_and_outcome(admin: Caller, ana: Caller) -> None:
    await ana.put("leave", "Everybody gets 25 days of leave.")

    await admin.search("days of leave")
    for _ in range(3):
        await ana.search("days of leave")
    await ana.call("POST", "/v1/search/batch", json={"searches": [{"query": "days of leave"}] * 2})
    body = await statistics(admin)

    assert totals(body) == {"confident": 5, "empty": 1, "miss": 2, "memory": 4}
    assert sum(row["answers"] for row in body["latencies"]) == 4  # those of the batch have none
    assert {row["latency_ms_max"] for row in body["latencies"]} <= set(LATENCIES_MS_MAX)
    assert body["audits"] == {"equal": 0, "other": 0}
    assert [period["start"][:13] for period in body["periods"]] == [f"{today()}T00"] * 2


async def test_an_unsure_answer_is_counted_as_such(admin: Caller, ana: Caller) -> None:
    await ana.put("leave", "Everybody gets 25 days of leave.")
    await admin.call("PUT", "/v1/confidence", json={"score_min": 0.99})

    await ana.search("days of leave")

    assert totals(await statistics(admin)) == {"low_confidence": 1, "miss": 1}


async def test_what_is_typed_counts_once_it_is_asked(admin: Caller, ana: Caller) -> None:
    await ana.put("leave", "Everybody gets 25 days of leave.")
    await admin.call("PUT", "/v1/search/questions/recording", json={"kept_days": 7})

    for caller in (ana, admin):
        for query in ("da", "days of", "days of leave"):
            await caller.search(query, typing=True)
        await caller.search("days of leave")
    questions = (await admin.call("GET", "/v1/search/questions")).json()["questions"]

    assert totals(await statistics(admin)) == {"confident": 1, "empty": 1, "memory": 2}
    assert [(each["question"], each["asked"]) for each in questions] == [("days of leave", 2)]


@pytest.mark.isolated
async def test_audits_of_cached_answers_are_counted(settings: Settings, embedder: Embedder) -> None:
    audited = settings.model_copy(update={"cache_audit_per_mille": 1_000})
    async with running(audited, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        await ana.put("leave", "Everybody gets 25 days of leave.")
        await ana.search("days of leave")
    async with running(settings, embedder) as gateway:  # the first has stored all of its counts
        admin = await gateway.caller("ada", roles=["admin"])
        body = await statistics(admin)

    assert body["audits"] == {"equal": 1, "other": 0}
    assert totals(body) == {"confident": 1, "miss": 1}


async def test_other_tenants_and_other_days_do_not_count(
    gateway: Gateway, admin: Caller, ana: Caller
) -> None:
    await ana.search("anything")
    other = await gateway.caller("ada", tenant=await gateway.new_tenant(), roles=["admin"])
    yesterday = today() - timedelta(days=1)

    assert totals(await statistics(other)) == {}
    assert totals(await statistics(admin, f"?from={yesterday}&to={yesterday}")) == {}
    assert totals(await statistics(admin, f"?from={today()}&step=hour"))["empty"] == 1


async def test_nobody_but_an_admin_sees_them(ana: Caller) -> None:
    problem(await ana.call("GET", "/v1/search/statistics"), 403)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("from=2025-01-02&to=2025-01-01", "to"),
        (f"from=2025-01-01&to=2025-04-{KEPT_DAYS - 89}", "to"),
        ("step=hour&from=2025-01-01&to=2025-01-08", "to"),
        ("step=week", "step"),
        ("from=yesterday", "from"),
    ],
)
async def test_a_wrong_range_is_refused(admin: Caller, query: str, field: str) -> None:
    refused = problem(await admin.call("GET", f"/v1/search/statistics?{query}"), 422)

    assert refused["errors"][0]["field"] == field
