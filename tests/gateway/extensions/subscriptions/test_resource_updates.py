"""Agents' clients hear when the answer that they read as a resource changes."""

import asyncio
from contextlib import AsyncExitStack, suppress

import pytest
from mcp import MCPError
from mcp.shared.subscriptions import ResourceUpdated

from gateway.extension import EventSender, problems
from gateway.extensions.subscriptions.resource_updates import URIS_MAX, keep_alive
from gateway.extensions.subscriptions.subscription_watcher import SubscriptionEnded
from gateway.settings.settings import Settings
from index.errors import DatabaseUnavailable
from index.search.query_embedder import Embedder
from tests.gateway.extensions.mcp.test_mcp import LEAVE, connected
from tests.gateway.extensions.mcp.test_resources import NO_SEARCHES, URI, text
from tests.gateway.support.commands import WAIT_S_MAX
from tests.gateway.support.gateways import Caller, Gateway, running

pytestmark = pytest.mark.anyio

STREAMS = 8


async def test_an_address_that_names_no_search_is_not_honoured(ana: Caller) -> None:
    async with connected(ana) as client:
        for uri in NO_SEARCHES:
            async with client.listen(resource_subscriptions=[uri]) as stream:
                assert not stream.honored.resource_subscriptions, uri


@pytest.mark.thorough
async def test_a_client_that_listens_hears_of_each_new_answer(ana: Caller) -> None:
    await ana.put("leave", LEAVE)
    async with connected(ana) as client, client.listen(resource_subscriptions=[URI]) as stream:
        async with asyncio.timeout(60):
            first = await anext(stream)
            await ana.put("leave", "# Leave\n\nEverybody gets 30 days of annual leave a year.")
            second = await anext(stream)
        read = await client.read_resource(URI)

    assert first == second == ResourceUpdated(URI)
    assert "30 days" in text(read)


async def test_a_client_that_loses_its_key_hears_the_end(gateway: Gateway) -> None:
    ada = await gateway.caller("ada", roles=["admin"])
    key = (await ada.call("POST", "/v1/keys", json={"subject": "ana"})).json()
    ana = Caller(gateway.client, key["key"])
    async with connected(ana) as client, client.listen(resource_subscriptions=[URI]) as stream:
        async with asyncio.timeout(60):
            await anext(stream)
            await ada.call("DELETE", f"/v1/keys/{key['id']}")
            assert [event async for event in stream] == []


async def test_a_subject_listens_to_so_many_resources_and_no_more(
    settings: Settings, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEARHIT_SUBSCRIPTIONS_SUBJECT_MAX", "2")
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        uris = [f"nearhit://search?query=leave%20{number}" for number in range(2)]
        async with connected(ana) as client, client.listen(resource_subscriptions=uris) as stream:
            await anext(stream)
            with pytest.raises(MCPError):
                async with client.listen(resource_subscriptions=uris[:1]):
                    pass
            async with client.listen(resource_subscriptions=[]):
                pass


@pytest.mark.thorough
async def test_streams_that_begin_together_listen_to_no_more_either(
    settings: Settings, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEARHIT_SUBSCRIPTIONS_SUBJECT_MAX", "2")
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        honoured = [0] * STREAMS
        connecting, listening = asyncio.Barrier(STREAMS), asyncio.Barrier(STREAMS)

        async def listen(number: int) -> None:
            uri = f"nearhit://search?query=leave%20{number}"
            async with connected(ana) as client, AsyncExitStack() as stack:
                await connecting.wait()
                with suppress(MCPError):  # one that begins after others hears 429
                    listened = client.listen(resource_subscriptions=[uri])
                    stream = await stack.enter_async_context(listened)
                    honoured[number] = len(stream.honored.resource_subscriptions or ())
                await listening.wait()

        async with asyncio.timeout(WAIT_S_MAX), asyncio.TaskGroup() as group:
            for number in range(STREAMS):
                group.create_task(listen(number))
        assert sum(honoured) == 2


async def test_a_stream_honours_so_many_addresses_and_no_more(ana: Caller) -> None:
    uris = [f"nearhit://search?query=leave%20{number}" for number in range(URIS_MAX + 1)]
    async with connected(ana) as client, client.listen(resource_subscriptions=uris) as stream:
        assert stream.honored.resource_subscriptions == uris[:-1]


async def test_addresses_beyond_those_are_not_read(ana: Caller) -> None:
    no_searches = [f"nearhit://elsewhere?query={number}" for number in range(URIS_MAX)]
    async with connected(ana) as client:
        async with client.listen(resource_subscriptions=[*no_searches, URI]) as stream:
            assert not stream.honored.resource_subscriptions
        repeated = [no_searches[0]] * URIS_MAX
        async with client.listen(resource_subscriptions=[*repeated, URI]) as stream:
            assert stream.honored.resource_subscriptions == [URI]


class CommentCounter(EventSender):
    def __init__(self) -> None:
        self.comments = 0

    async def keep_alive(self) -> None:
        self.comments += 1


async def test_a_stream_without_resources_ends_with_the_rights_of_its_caller() -> None:
    states = iter([None, DatabaseUnavailable("away"), problems.unauthorized()])

    async def confirm() -> None:
        state = next(states)
        if state is not None:
            raise state

    sender = CommentCounter()
    with pytest.raises(SubscriptionEnded):
        await keep_alive(sender, confirm, 0.0)
    assert sender.comments == 2
