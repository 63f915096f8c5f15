"""Inactive documents over HTTP: kept, and found by nobody."""

from typing import Any

import asyncpg
import pytest

from tests.conftest import run_sql
from tests.gateway.documents.handbook import LEAVE, People, batch, listed, read
from tests.gateway.support.event_listener import listening, subscribe
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio

QUESTION = "days of annual leave"
PATH = "/v1/documents/leave"


@pytest.fixture
async def people(gateway: Gateway) -> People:
    return People(
        ana=await gateway.caller("ana"),
        ben=await gateway.caller("ben"),
        eve=await gateway.caller("eve"),
        admin=await gateway.caller("ada", roles=["admin"]),
        reader=await gateway.caller("rui", roles=["reader"]),
    )


async def set_active(caller: Caller, active: bool) -> None:  # noqa: FBT001  as the body says it
    answer = await caller.call("PATCH", f"{PATH}/access", json={"active": active})
    assert answer.status_code == 200, answer.text


async def test_what_is_deactivated_leaves_every_answer_at_once_and_comes_back(
    gateway: Gateway, other_worker: Gateway, people: People
) -> None:
    ana, ben = people.ana, people.ben
    await ana.put("leave", LEAVE, readers=["tenant"])
    workers = (ben, other_worker.as_(ben), ben)

    async def seen() -> list[tuple[list[str], int]]:
        """By each worker, cached or not, and with facets."""
        answers = [await each.search(QUESTION, facets=["source"]) for each in workers]
        bodies = [answer.json() for answer in answers]
        return [
            ([hit["document_id"] for hit in body["hits"]], body["facets"]["documents"])
            for body in bodies
        ]

    assert await seen() == [(["leave"], 1)] * 3
    assert [await each.found(QUESTION) for each in workers] == [["leave"]] * 3

    await set_active(ana, active=False)
    assert await seen() == [([], 0)] * 3
    assert [await each.found(QUESTION) for each in workers] == [[]] * 3
    assert await ana.found(QUESTION) == []

    await set_active(ana, active=True)
    assert await seen() == [(["leave"], 1)] * 3
    again = await ana.put("leave", LEAVE)
    assert again["chunks"]["embedded"] == again["chunks"]["added"] == 0


async def test_only_who_may_change_an_inactive_document_sees_that_it_exists(
    people: People,
) -> None:
    ana, ben, admin = people.ana, people.ben, people.admin
    await ana.put("leave", LEAVE, readers=["tenant"], active=False)

    assert [(await read(each, "leave"))["active"] for each in (ana, admin)] == [False, False]
    assert [await listed(each) for each in (ana, admin)] == [["leave"]] * 2
    assert [await listed(each, source="api") for each in (ana, ben)] == [["leave"], []]
    problem(await ben.call("GET", PATH), 404)
    problem(await ben.call("DELETE", PATH), 404)
    problem(await ben.call("PATCH", f"{PATH}/access", json={"readers": []}), 404)
    assert await listed(ben) == []
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    fetch = {**body, "params": {"name": "fetch", "arguments": {"id": "leave"}}}
    headers = {"Accept": "application/json, text/event-stream"}
    fetched = (await ana.call("POST", "/mcp", json=fetch, headers=headers)).json()["result"]
    assert fetched["isError"]


@pytest.mark.thorough
async def test_a_write_that_says_nothing_of_it_leaves_it_as_it_is(people: People) -> None:
    ana = people.ana
    await ana.put("leave", LEAVE, active=False)

    await ana.put("leave", f"{LEAVE} Or 30.")
    (line,) = await batch(ana, {"document_id": "leave", "text": f"{LEAVE} Or 31."})
    await ana.share("leave", "tenant")
    stored = await read(ana, "leave")

    assert line["chunks"] == {"added": 0, "unchanged": 0, "removed": 0, "embedded": 0}
    assert stored["active"] is False
    assert stored["text"].endswith("31.")
    assert stored["readers"] == ["tenant"]
    assert await people.ben.found(QUESTION) == []
    await ana.put("leave", LEAVE, active=True)
    assert await people.ben.found(QUESTION) == ["leave"]


async def test_who_may_not_change_a_document_may_not_deactivate_it(people: People) -> None:
    await people.ana.put("leave", LEAVE, readers=["tenant"])

    refused = await people.ben.call("PATCH", f"{PATH}/access", json={"active": False})
    await set_active(people.admin, active=False)

    problem(refused, 403)
    problem(await people.ben.call("PATCH", f"{PATH}/access", json={"active": True}), 404)
    assert await people.ana.found(QUESTION) == []


async def test_a_subscriber_hears_that_a_hit_was_deactivated(people: People) -> None:
    await people.ana.put("leave", LEAVE, readers=["tenant"])
    subscription = await subscribe(people.ben, QUESTION)

    async with listening(people.ben, subscription) as heard:
        await heard.until_documents("leave")
        await set_active(people.ana, active=False)
        await heard.until_documents()


@pytest.mark.thorough
async def test_words_of_inactive_documents_correct_no_typo(people: People) -> None:
    await people.ana.put("leave", "Sabbaticals.", readers=["tenant"], active=False)
    await people.ana.put("other", "Travel.", readers=["tenant"])

    async def corrections() -> dict[str, Any]:
        answer = await people.ben.search("sabbaticels", explain=True)
        found: dict[str, Any] = answer.json()["corrections"]
        return found

    assert await corrections() == {}
    await set_active(people.ana, active=True)
    assert await people.ben.found("sabbaticels", top_k=1, alpha=0) == ["leave"]


@pytest.mark.isolated
async def test_the_database_refuses_chunks_of_an_inactive_document(
    people: People, database_url: str
) -> None:
    await people.ana.put("leave", LEAVE, active=False)

    with pytest.raises(asyncpg.CheckViolationError):
        await run_sql(database_url, "UPDATE documents SET chunks = 1 WHERE NOT is_active")
