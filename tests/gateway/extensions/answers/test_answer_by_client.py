"""A client reads `POST /v1/answer` as it is written."""

import pytest

from nearhit_client import AsyncClient, NearhitError
from tests.gateway.extensions.rag.conftest import Served
from tests.stub_openai import Stream, StubOpenAI

pytestmark = pytest.mark.anyio

QUERY = "How many days of leave?"


async def test_an_answer_comes_whole_or_in_pieces(served: Served, stub: StubOpenAI) -> None:
    stub.chat_answer = lambda _: Stream(["Everybody gets ", "25 days [1]."])
    async with served() as gateway:
        ana = await gateway.caller("ana")
        async with AsyncClient(str(ana.client.base_url), ana.key) as client:
            await client.put_document("leave", text="Everybody gets 25 days of leave.")
            whole = await client.post_answer(query=QUERY)
            events = [event async for event in client.stream_answer(query=QUERY)]

    pieces = [event.data["text"] for event in events if event.name == "delta"]
    assert "".join(pieces) == whole["answer"] == "Everybody gets 25 days [1]."
    assert (events[0].name, events[-1].name) == ("retrieved", "done")


async def test_a_model_that_breaks_off_is_an_error(served: Served, stub: StubOpenAI) -> None:
    stub.chat_answer = lambda _: Stream(["Everybody "], ends=False)
    async with served() as gateway:
        ana = await gateway.caller("ana")
        async with AsyncClient(str(ana.client.base_url), ana.key) as client:
            await client.put_document("leave", text="Everybody gets 25 days of leave.")
            with pytest.raises(NearhitError) as raised:
                [event async for event in client.stream_answer(query=QUERY)]

    assert (raised.value.status, raised.value.kind) == (503, "unavailable")
