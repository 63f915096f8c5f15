"""OpenAI's own client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
from openai import AsyncOpenAI

from tests.gateway.support.gateways import Caller


@asynccontextmanager
async def client_of(caller: Caller) -> AsyncIterator[AsyncOpenAI]:
    async with (
        httpx2.AsyncClient(verify=False, timeout=30) as http,
        AsyncOpenAI(
            base_url=str(caller.client.base_url.join("/v1")),
            api_key=caller.key or "none",
            http_client=http,
            max_retries=0,
        ) as client,
    ):
        yield client
