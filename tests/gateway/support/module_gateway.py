"""Servers that all tests of a file share; take them by `import *` instead of those of each test."""

from collections.abc import AsyncIterator

import pytest

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.commands import environment_of
from tests.gateway.support.gateways import Gateway, running

__all__ = ["environment", "gateway", "settings"]


@pytest.fixture(scope="module")
def settings(module_settings: Settings) -> Settings:
    return module_settings


@pytest.fixture(scope="module")
def environment(settings: Settings) -> dict[str, str]:
    """Of commands on these servers."""
    return environment_of(settings)


@pytest.fixture(scope="module")
async def gateway(settings: Settings, embedder: Embedder) -> AsyncIterator[Gateway]:
    """It has no tenants: each test has some of its own."""
    async with running(settings, embedder) as made:
        yield made
