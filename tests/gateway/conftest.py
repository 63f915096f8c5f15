import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from blockbuster import BlockBuster, blockbuster_ctx

from gateway import logs
from gateway.embedded.embedded_servers import Servers
from gateway.settings import Settings
from index.embedders.static_embedder import StaticEmbedder
from index.search.query_embedder import Embedder
from tests.conftest import fresh_settings
from tests.gateway.gateways import Caller, Gateway, running


@pytest.fixture(autouse=True)
def no_blocking_calls() -> Iterator[BlockBuster]:
    """A blocking call of ours on the event loop fails the test, but for a gateway's start."""
    with blockbuster_ctx(["gateway", "cache", "index", "ingest"]) as blockbuster:
        for function in blockbuster.functions.values():
            function.can_block_in("gateway/services.py", "open_services")
            function.can_block_in(
                "gateway/search/embedders.py", "make"
            )  # of commands, before they begin
            function.can_block_in("gateway/problems.py", "from_exception")  # logs a stack trace
        yield blockbuster


@pytest.fixture(scope="session", autouse=True)
def quiet() -> None:
    logs.configure("error")


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return StaticEmbedder()


@pytest.fixture
async def gateway(settings: Settings, embedder: Embedder) -> AsyncIterator[Gateway]:
    """A worker, with the tenant acme."""
    async with running(settings, embedder) as started:
        await started.tenant("acme")
        yield started


@pytest.fixture
async def other_worker(settings: Settings, embedder: Embedder) -> AsyncIterator[Gateway]:
    """A second worker on the same servers."""
    async with running(settings, embedder) as started:
        yield started


@pytest.fixture
async def ana(gateway: Gateway) -> Caller:
    return await gateway.caller("ana")


@pytest.fixture
async def ben(gateway: Gateway) -> Caller:
    return await gateway.caller("ben", groups=["sales"])


@pytest.fixture
async def admin(gateway: Gateway) -> Caller:
    return await gateway.caller("ada", roles=["admin"])


@pytest.fixture(scope="module")
async def module_settings(
    servers: Servers, databases: "asyncio.Queue[str]"
) -> AsyncIterator[Settings]:
    async with fresh_settings(servers, databases) as made:
        yield made
