"""What a model service may send, and where it may send the gateway."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import httpx2
import pytest
from openai import AsyncOpenAI

from gateway.extensions._chat import outgoing
from gateway.extensions._chat.chat_model import ChatModel
from gateway.extensions._chat.errors import ChatUnavailable
from gateway.extensions.embedders.openai_embedder import OpenAIEmbedder
from index.errors import EmbeddingUnavailable
from tests.stub_openai import WIDTH, Reply, Stream, StubOpenAI, chat, embeddings, stub_openai

pytestmark = pytest.mark.anyio

LONG = "a" * (outgoing.REPLY_BYTES_MAX + 1)


async def ignore(_piece: str) -> None:
    pass


async def embed(client: AsyncOpenAI) -> object:
    embedder = OpenAIEmbedder(
        client,
        model="stub",
        dimensions=WIDTH,
        batch_texts_max=1,
        clock_s=time.monotonic,
        count_tokens=lambda _kind, _tokens: None,
    )
    return await embedder.embed_query("leave")


def chat_model(client: AsyncOpenAI) -> ChatModel:
    return ChatModel(client, model="stub", count_tokens=lambda _read, _written: None)


CALLS: Mapping[str, Callable[[AsyncOpenAI], Awaitable[object]]] = {
    "embeddings": embed,
    "chat": lambda client: chat_model(client).answer("", "leave", tokens_max=len(LONG)),
    "stream": lambda client: chat_model(client).stream(
        "", "leave", tokens_max=len(LONG), on_text=ignore
    ),
}


@pytest.fixture
async def stub() -> AsyncIterator[StubOpenAI]:
    async with stub_openai() as stub:
        yield stub


@pytest.fixture
def http_client() -> httpx2.AsyncClient:
    return outgoing.http_client()


@pytest.fixture
async def client(stub: StubOpenAI, http_client: httpx2.AsyncClient) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(
        api_key="secret", base_url=stub.url, max_retries=0, http_client=http_client
    ) as client:
        yield client


@pytest.mark.parametrize("call", CALLS)
async def test_a_reply_beyond_the_limit_is_none(
    stub: StubOpenAI, client: AsyncOpenAI, call: str
) -> None:
    padded = embeddings([[1.0] * WIDTH]).body[:-1] + b', "more": "%b"}' % LONG.encode()
    stub.answer = lambda _texts: Reply(padded)
    stub.chat_answer = lambda _text: Stream([LONG]) if call == "stream" else chat(LONG)

    with pytest.raises((EmbeddingUnavailable, ChatUnavailable)):
        await CALLS[call](client)


@pytest.mark.parametrize("call", CALLS)
async def test_no_redirect_is_followed(stub: StubOpenAI, client: AsyncOpenAI, call: str) -> None:
    async with stub_openai() as inside:
        elsewhere: dict[str, Any] = {"status": 307, "body": b""}
        stub.answer = lambda _: Reply(**elsewhere, retry=f"Location: {inside.url}/embeddings")
        path = f"{inside.url}/chat/completions"
        inside.chat_answer = lambda text: Stream([text]) if call == "stream" else chat(text)
        stub.chat_answer = lambda _: Reply(**elsewhere, retry=f"Location: {path}")

        with pytest.raises((EmbeddingUnavailable, ChatUnavailable)):
            await CALLS[call](client)

        assert [*inside.asked, *inside.chats] == []
