"""A gateway with a language model and a service that puts hits in order, both stood in for."""

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeAlias

import pytest

from gateway.monitoring.metrics import Metrics
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Gateway, running
from tests.stub_openai import StubOpenAI, stub_openai

Served: TypeAlias = Callable[..., AbstractAsyncContextManager[Gateway]]


@pytest.fixture
async def stub() -> AsyncIterator[StubOpenAI]:
    async with stub_openai() as stub:
        yield stub


@pytest.fixture
def settings(shared_settings: Settings) -> Settings:
    """Those of the shared database, with a part of Redis of the test's own."""
    return shared_settings.model_copy(
        update={"cache_prefix": f"nearhit-test-{secrets.token_hex(6)}:"}
    )


@pytest.fixture
def served(settings: Settings, embedder: Embedder, stub: StubOpenAI) -> Served:
    """A worker with these settings beside the model's; all of a test have the same tenant."""
    tenant = f"t-{secrets.token_hex(6)}"

    @asynccontextmanager
    async def start(**update: Any) -> AsyncIterator[Gateway]:
        model = {"chat_model": "stub", "chat_base_url": stub.url}
        own = settings.model_copy(update=model | update)
        async with running(own, embedder, Metrics()) as started:
            started.tenant_name = tenant
            if not update.pop("again", False):
                await started.tenant(tenant)
            yield started

    return start
