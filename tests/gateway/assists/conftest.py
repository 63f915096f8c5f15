"""A gateway with a language model and a service that puts hits in order, both stood in for."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeAlias

import pytest

from gateway.metrics import Metrics
from gateway.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.conftest import (
    admin,
    ana,
    embedder,
    gateway,
    no_blocking_calls,
    quiet,
)
from tests.gateway.gateways import Gateway, running
from tests.stub_openai import StubOpenAI, stub_openai

__all__ = ["admin", "ana", "embedder", "gateway", "no_blocking_calls", "quiet"]

Served: TypeAlias = Callable[..., AbstractAsyncContextManager[Gateway]]


@pytest.fixture
async def stub() -> AsyncIterator[StubOpenAI]:
    async with stub_openai() as stub:
        yield stub


@pytest.fixture
def served(settings: Settings, embedder: Embedder, stub: StubOpenAI) -> Served:
    """A worker with the tenant acme, and with these settings beside the model's."""

    @asynccontextmanager
    async def start(**update: Any) -> AsyncIterator[Gateway]:
        model = {"chat_model": "stub", "chat_base_url": stub.url}
        own = settings.model_copy(update=model | update)
        async with running(own, embedder, Metrics()) as started:
            if not update.pop("again", False):
                await started.tenant("acme")
            yield started

    return start
