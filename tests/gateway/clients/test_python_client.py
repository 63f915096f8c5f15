"""The Python client with a gateway: what it writes is found, and streams are read to their end."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from nearhit_client import AsyncClient, Client, Event, NearhitError
from nearhit_client.types import BatchLine
from tests.gateway.support.gateways import Caller

pytestmark = pytest.mark.anyio

QUERY = "How many days of leave?"


def url_of(caller: Caller) -> str:
    return str(caller.client.base_url).rstrip("/")


@pytest.fixture
async def client(ana: Caller) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(url_of(ana), ana.key) as client:
        yield client


async def test_what_is_written_is_found_until_it_is_deleted(client: AsyncClient) -> None:
    await client.put_document("team/leave", text="25 days of leave.", tags=["people"])
    found = await client.search(query=QUERY, top_k=1, filter={"tags_any": ["people"]})
    listed = await client.list_documents(prefix="team/")
    await client.delete_document("team/leave")

    assert [hit["document_id"] for hit in found["hits"]] == ["team/leave"]
    assert [document["document_id"] for document in listed["documents"]] == ["team/leave"]
    assert (await client.search(query=QUERY))["hits"] == []


async def test_the_synchronous_client_does_the_same(ana: Caller) -> None:
    def work() -> list[str]:
        with Client(url_of(ana), ana.key) as client:
            lines: list[BatchLine] = [{"document_id": "a", "text": "25 days."}]
            lines.append({"document_id": "b", "text": "x"})
            written = client.put_batch(iter(lines))
            client.delete_document("b")
            assert [line["document_id"] for line in written] == ["a", "b"]
            return [hit["document_id"] for hit in client.search(query="how many days?")["hits"]]

    assert await asyncio.to_thread(work) == ["a"]


async def test_a_response_has_what_the_next_request_needs(client: AsyncClient) -> None:
    await client.put_document("leave", text="25 days of leave.")
    response = await client.request("GET", "/v1/documents/leave")
    unchanged = {"If-Match": response.headers["etag"]}

    await client.put_document("leave", text="26 days.", headers=unchanged)
    with pytest.raises(NearhitError) as refused:
        await client.put_document("leave", text="27 days.", headers=unchanged)

    assert refused.value.kind == "precondition-failed"
    assert [error["field"] for error in refused.value.errors] == ["If-Match"]


async def test_a_subscription_is_heard_to_its_end(client: AsyncClient) -> None:
    await client.put_document("leave", text="25 days of leave.")
    subscription = await client.create_subscription(
        search={"query": QUERY}, deliver={"hits": "changes", "interval_ms": 100}
    )
    heard: list[Event] = []

    async for event in client.events(subscription["id"]):
        heard.append(event)
        if len(heard) == 1:
            await client.put_document("more", text="30 days of leave for parents.")
        if len(heard) == 2:
            await client.delete_subscription(subscription["id"])

    first, second, last = heard
    assert [hit["document_id"] for hit in first.data["hits"]["added"]] == ["leave"]
    assert [hit["document_id"] for hit in second.data["hits"]["added"]] == ["more"]
    assert (last.name, last.data["reason"]) == ("ended", "deleted")
    assert first.id != second.id


async def test_a_subscription_that_is_not_there_is_an_error(client: AsyncClient) -> None:
    with pytest.raises(NearhitError) as refused:
        await anext(client.events("sub_0000000000000000"))

    assert refused.value.status == 404
