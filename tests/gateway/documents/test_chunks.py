"""A document comes with its chunks if the caller asks for them and may read it."""

from typing import Any

import pytest

from tests.gateway.documents.handbook import LEAVE, People, read
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio

LINES = "\n".join(f"| {number} | {'a word and another ' * 20} |" for number in range(40))
TEXT = f"# Handbook 🌴\n\n## Rules\n\n| Number | Text |\n|---|---|\n{LINES}\n\n## Leave\n\n25 days."


async def read_with_chunks(caller: Caller, document_id: str, **query: str) -> dict[str, Any]:
    query = {"chunks": "true", **query}
    answer = await caller.call("GET", f"/v1/documents/{document_id}", params=query)
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


@pytest.mark.thorough
async def test_chunks_are_those_that_are_stored_with_the_headings_that_are_embedded(
    ana: Caller,
) -> None:
    await ana.put("handbook", TEXT, title="Handbook", summaries="extract")

    found = await read_with_chunks(ana, "handbook")

    chunks = [chunk for chunk in found.pop("chunks") if chunk["kind"] == "text"]
    assert found == await read(ana, "handbook")
    assert len(chunks) > 3
    for chunk in chunks:
        assert chunk["text"].endswith(TEXT[chunk["start"] : chunk["end"]])
    # A piece of a table repeats its head; a chunk that begins with its heading has it in its text.
    assert all(chunk["text"].startswith("| Number") for chunk in chunks[1:-1])
    assert chunks[1]["headings"] == ["Handbook 🌴", "Rules"]
    assert (chunks[-1]["headings"], chunks[-1]["text"]) == (["Handbook 🌴"], "## Leave\n\n25 days.")
    (hit,) = (await ana.search("25 days", top_k=1)).json()["hits"]
    assert hit["chunk_id"] in {chunk["chunk_id"] for chunk in chunks}


async def test_summaries_are_among_them(ana: Caller) -> None:
    await ana.put("handbook", TEXT, summaries="extract")

    chunks = (await read_with_chunks(ana, "handbook"))["chunks"]

    summaries = [chunk for chunk in chunks if chunk["kind"] == "summary"]
    assert (0, len(TEXT)) in {(chunk["start"], chunk["end"]) for chunk in summaries}
    assert all(chunk["text"] and chunk["headings"] is not None for chunk in summaries)


async def test_nobody_sees_chunks_of_what_it_may_not_read(people: People, gateway: Gateway) -> None:
    await people.ana.put("leave", LEAVE, readers=["user:ben"])
    other = await gateway.caller("ana", tenant=await gateway.new_tenant())
    refused = {"params": {"chunks": "true"}}

    (shown,) = (await read_with_chunks(people.ben, "leave"))["chunks"]
    assert shown["text"] == LEAVE
    for caller in (people.eve, people.reader, people.admin, other):
        problem(await caller.call("GET", "/v1/documents/leave", **refused), 404)
    await people.ana.call("PATCH", "/v1/documents/leave/access", json={"readers": []})
    problem(await people.ben.call("GET", "/v1/documents/leave", **refused), 404)


async def test_a_public_document_has_chunks_for_who_receives_it_and_an_inactive_one_has_none(
    people: People, gateway: Gateway
) -> None:
    tenant = await gateway.new_tenant()
    press = await gateway.caller("press", tenant=tenant, roles=["reader", "writer", "publisher"])
    await press.put("news", LEAVE, readers=["public"])
    await people.ana.put("draft", LEAVE, active=False, readers=["tenant"])
    query = {"tenant": tenant, "chunks": "true"}

    problem(await people.eve.call("GET", "/v1/documents/news", params=query), 404)
    await gateway.receive_public((await people.eve.call("GET", "/v1/caller")).json()["tenant"])
    (shown,) = (await read_with_chunks(people.eve, "news", tenant=tenant))["chunks"]
    assert shown["text"] == LEAVE
    assert (await read_with_chunks(people.ana, "draft"))["chunks"] == []
    problem(await people.eve.call("GET", "/v1/documents/draft", params={"chunks": "true"}), 404)


@pytest.mark.thorough
async def test_another_value_is_refused(ana: Caller) -> None:
    await ana.put("leave", LEAVE)

    refused = problem(await ana.call("GET", "/v1/documents/leave", params={"chunks": "1"}), 422)

    assert refused["errors"][0]["field"] == "chunks"
