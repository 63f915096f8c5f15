"""OpenAI's own client, with a caller's key."""

from collections.abc import AsyncIterator

import pytest
from openai import AsyncOpenAI

from tests.gateway.extensions.vector_stores.openai_client import client_of
from tests.gateway.support.gateways import Caller


@pytest.fixture
async def client(ana: Caller) -> AsyncIterator[AsyncOpenAI]:
    async with client_of(ana) as opened:
        yield opened
