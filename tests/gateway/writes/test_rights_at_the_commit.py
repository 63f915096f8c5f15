"""A write that takes long is committed only while its caller may still write."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.support.unreliable_embedder import MoodyEmbedder

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]

LINES = "\n".join(f'{{"document_id":"leave{n}","text":"25 days of leave {n}"}}' for n in range(3))
WAIT_S_MAX = 60.0


@pytest.fixture
def moody(embedder: Embedder) -> MoodyEmbedder:
    return MoodyEmbedder(embedder)


@pytest.fixture
async def held(settings: Settings, moody: MoodyEmbedder) -> AsyncIterator[Gateway]:
    """A gateway whose writes wait for their vectors."""
    async with running(settings, moody) as gateway:
        await gateway.tenant("acme")
        moody.hold()
        try:
            yield gateway
        finally:
            moody.go_on()


async def made_key(gateway: Gateway, *roles: str) -> tuple[Caller, str]:
    body = {"tenant": "acme", "subject": "ana", "roles": roles}
    made = (await gateway.operator.call("POST", "/v1/keys", json=body)).json()
    return Caller(gateway.client, made["key"]), made["id"]


async def stored(gateway: Gateway) -> list[str]:
    admin, _ = await made_key(gateway, "admin")
    answer = await admin.call("GET", "/v1/documents")
    return [document["document_id"] for document in answer.json()["documents"]]


async def test_a_key_that_ends_during_its_write_ends_the_write(
    held: Gateway, moody: MoodyEmbedder
) -> None:
    ana, key_id = await made_key(held, "writer")
    body = {"text": "25 days of leave", "readers": ["tenant"]}
    writing = asyncio.create_task(ana.call("PUT", "/v1/documents/leave", json=body))
    await asyncio.wait_for(moody.asked.wait(), WAIT_S_MAX)

    assert (await held.operator.call("DELETE", f"/v1/keys/{key_id}")).status_code == 204
    moody.go_on()

    assert (await writing).status_code == 401
    assert await stored(held) == []


async def test_a_key_that_ends_during_its_batch_ends_the_batch(
    held: Gateway, moody: MoodyEmbedder
) -> None:
    ana, key_id = await made_key(held, "writer")
    writing = asyncio.create_task(ana.call("POST", "/v1/documents/batch", content=LINES))
    await asyncio.wait_for(moody.asked.wait(), WAIT_S_MAX)

    await held.operator.call("DELETE", f"/v1/keys/{key_id}")
    moody.go_on()
    await writing

    assert await stored(held) == []


async def test_a_write_goes_on_beside_other_changes_of_rights(
    held: Gateway, moody: MoodyEmbedder
) -> None:
    ana, _ = await made_key(held, "writer")
    _, other = await made_key(held, "reader")
    writing = asyncio.create_task(
        ana.call("PUT", "/v1/documents/leave", json={"text": "25 days", "readers": ["tenant"]})
    )
    await asyncio.wait_for(moody.asked.wait(), WAIT_S_MAX)

    await held.operator.call("DELETE", f"/v1/keys/{other}")
    moody.go_on()

    assert (await writing).status_code == 200
    assert await stored(held) == ["leave"]
