"""A language model whose service is a stub."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import openai

from gateway.extensions._chat.chat_model import ChatModel
from tests.stub_openai import StubOpenAI


@asynccontextmanager
async def chat_model(
    stub: StubOpenAI, count_tokens: Callable[[int, int], None]
) -> AsyncIterator[ChatModel]:
    """One that gives up soon, and tries twice."""
    async with (
        openai.DefaultAsyncHttpxClient(verify=False) as http,
        openai.AsyncOpenAI(
            api_key="secret", base_url=stub.url, max_retries=1, http_client=http
        ) as client,
    ):
        yield ChatModel(
            client,
            model="stub",
            count_tokens=count_tokens,
            deadline_s=2.0,
        )
