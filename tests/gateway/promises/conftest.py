"""A gateway far from the primary, with a way to it that can be cut, and without a lease."""

from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from gateway.extensions._regions.read_lease_store import ReadLeaseStore
from gateway.settings.settings import Settings
from index.errors import DatabaseUnavailable
from index.search.query_embedder import Embedder
from tests.gateway.promises.asking import WINDOW_MS
from tests.gateway.servers.database_proxy import DatabaseProxy, database_proxy
from tests.gateway.support.gateways import Gateway, running


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(
        update={"cache_audit_per_mille": 0.0, "staleness_s_max": WINDOW_MS / 1000}
    )


@pytest.fixture
async def proxy(settings: Settings) -> AsyncIterator[DatabaseProxy]:
    """The way of the far gateway to the primary."""
    assert settings.database_url is not None
    async with database_proxy(settings.database_url.get_secret_value()) as wire:
        yield wire


@pytest.fixture
async def far(
    settings: Settings,
    embedder: Embedder,
    gateway: Gateway,
    proxy: DatabaseProxy,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Gateway]:
    async def refused(*_arguments: object) -> None:
        raise DatabaseUnavailable("no lease is stored")

    monkeypatch.setattr(ReadLeaseStore, "renew", refused)
    there = {"region": "far", "database_url": SecretStr(proxy.url), "deadline_s": 2.0}
    async with running(settings.model_copy(update=there), embedder) as started:
        started.tenant_name = gateway.tenant_name
        yield started
