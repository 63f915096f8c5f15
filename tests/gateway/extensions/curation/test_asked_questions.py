"""Questions are recorded only where an admin wants it: without askers, for some days, bounded."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.dates import today
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio

PATH = "/v1/search/questions"


@pytest.fixture
async def admin(gateway: Gateway) -> Caller:
    return await gateway.caller("ada", roles=["admin"])


@pytest.fixture
async def ana(gateway: Gateway) -> Caller:
    return await gateway.caller("ana")


async def record(admin: Caller, kept_days: int) -> None:
    body = {"kept_days": kept_days}
    answer = await admin.call("PUT", f"{PATH}/recording", json=body)
    assert (answer.status_code, answer.json()) == (200, body)


async def listed(admin: Caller, query: str = "") -> list[dict[str, Any]]:
    answer = await admin.call("GET", f"{PATH}{query}")
    assert answer.status_code == 200, answer.text
    questions: list[dict[str, Any]] = answer.json()["questions"]
    return questions


async def ask(caller: Caller, questions: Sequence[str]) -> None:
    for question in questions:
        await caller.search(question)


async def test_nothing_is_recorded_until_an_admin_wants_it(admin: Caller, ana: Caller) -> None:
    await ask(ana, ["days of leave"] * 3)
    before = (await admin.call("GET", PATH)).json()

    await record(admin, 7)  # from the next request on, also for a repeat
    await ask(ana, ["days of leave"] * 2)

    assert before == {"questions": [], "kept_days": 0}
    assert [(each["question"], each["asked"]) for each in await listed(admin)] == [
        ("days of leave", 2)
    ]


async def test_questions_are_counted_whoever_asks_and_however_they_are_written(
    gateway: Gateway, admin: Caller, ana: Caller
) -> None:
    await ana.put("leave", "Everybody gets 25 days of leave.")
    other = await gateway.caller("ada", tenant=await gateway.new_tenant(), roles=["admin"])
    await record(admin, 7)

    # The text that is kept is the one that makes it two: a flush may come after any question.
    await ask(ana, ["days of leave", "days of leave", "who keeps the keys?", "only once"])
    await ask(admin, ["who keeps the keys?", "Days  of leave?"])
    await ana.call("POST", "/v1/search/batch", json={"searches": [{"query": "days of leave"}]})
    questions = await listed(admin)

    assert [(each["question"], each["asked"], each["unsure"]) for each in questions] == [
        ("days of leave", 4, 1),  # the admin finds nothing
        ("who keeps the keys?", 2, questions[1]["unsure"]),
    ]
    assert questions[0]["last_day"] == today().isoformat()
    assert await listed(admin, "?limit=1") == questions[:1]
    assert await listed(other) == []


async def test_a_question_is_deleted_and_turning_it_off_deletes_all(
    admin: Caller, ana: Caller
) -> None:
    await record(admin, 7)
    await ask(ana, ["days of leave", "who is ill?"] * 2)
    (leave, _) = sorted(await listed(admin), key=lambda each: str(each["question"]))

    deleted = await admin.call("DELETE", f"{PATH}/{leave['question_id']}")
    again = await admin.call("DELETE", f"{PATH}/{leave['question_id']}")
    left = await listed(admin)
    await ask(ana, ["who is ill?"])
    await record(admin, 0)
    await record(admin, 7)

    assert deleted.status_code == 204
    problem(again, 404)
    assert [each["question"] for each in left] == ["who is ill?"]
    assert await listed(admin) == []


async def test_a_long_message_is_not_recorded(admin: Caller, ana: Caller) -> None:
    await record(admin, 7)

    await ask(ana, ["word " * 100] * 2)

    assert await listed(admin) == []


async def test_the_admin_is_told_in_the_audit_log_who_turned_it_on(admin: Caller) -> None:
    await record(admin, 7)

    rows = (await admin.call("GET", "/v1/audit/log")).json()["rows"]
    assert [row["action"] for row in rows[:1]] == ["questions_kept.put"]


async def test_nobody_but_an_admin_sees_them(ana: Caller) -> None:
    problem(await ana.call("GET", PATH), 403)
    problem(await ana.call("PUT", f"{PATH}/recording", json={"kept_days": 7}), 403)
    problem(await ana.call("DELETE", f"{PATH}/{'0' * 32}"), 403)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?from=2025-01-02&to=2025-01-01", "to"),
        ("?from=2025-01-01&to=2025-04-03", "to"),
        ("?limit=0", "limit"),
        ("?limit=101", "limit"),
        ("?from=today", "from"),
    ],
)
async def test_a_wrong_range_is_refused(admin: Caller, query: str, field: str) -> None:
    refused = problem(await admin.call("GET", PATH + query), 422)

    assert refused["errors"][0]["field"] == field
