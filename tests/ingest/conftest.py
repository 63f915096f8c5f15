"""An index for the write path, the fixtures of the index's own tests; and a language model."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import openai

from ingest.chat_model import ChatModel
from tests.index.conftest import (
    connection,
    database,
    documents,
    embedder,
    invalidation,
    reused,
    reused_databases,
    searcher,
    settings,
    static_embedder,
    tenants,
    writer,
)
from tests.stub_openai import StubOpenAI

__all__ = [
    "connection",
    "database",
    "documents",
    "embedder",
    "invalidation",
    "reused",
    "reused_databases",
    "searcher",
    "settings",
    "static_embedder",
    "tenants",
    "writer",
]


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
