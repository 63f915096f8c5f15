from collections.abc import AsyncIterator, Iterator

import pytest
import structlog
from blockbuster import BlockBuster

from gateway.extensions.embedded_servers.owned_servers import Servers
from gateway.monitoring import logs
from gateway.monitoring.metrics import Metrics
from gateway.settings.settings import Settings
from index.embedders.static_embedder import StaticEmbedder
from index.search.query_embedder import Embedder
from tests.conftest import fresh_settings
from tests.database_copies import DatabaseCopies
from tests.gateway.support.gateways import (
    Caller,
    Gateway,
    connected,
    counted_until_now,
    running,
    serving,
)

_OUTPUT = open(1, "wb", buffering=0, closefd=False)  # noqa: SIM115  as long as the process


@pytest.fixture(scope="session")
def blocking_calls() -> BlockBuster:
    """Those that fail on the event loop, but for a gateway's start."""
    blockbuster = BlockBuster(["gateway", "cache", "index", "ingest", "common"])
    for function in blockbuster.functions.values():
        function.can_block_in("gateway/services.py", "open_services")
        function.can_block_in("gateway/configured/configured_embedders.py", "make")  # of commands
        function.can_block_in("gateway/extensions/console/console_files.py", "load")  # at start
        function.can_block_in("tests/conftest.py", "template")
        function.can_block_in(
            "gateway/problems/problems.py", "from_exception"
        )  # logs a stack trace
    return blockbuster


@pytest.fixture(autouse=True)
def no_blocking_calls(
    request: pytest.FixtureRequest, blocking_calls: BlockBuster
) -> Iterator[BlockBuster]:
    """A blocking call of ours on the event loop fails the test, if it runs on one.

    Not one that is marked as `blocking`.
    """
    is_blocking = request.node.get_closest_marker("blocking") is not None
    if "anyio_backend" in request.fixturenames and not is_blocking:
        blocking_calls.activate()
    yield blocking_calls
    blocking_calls.deactivate()


@pytest.fixture(autouse=True)
def warnings_are_kept() -> None:
    """A test that fails shows what its gateways warn of, as where a late request has waited.

    Not on `sys.stdout`, which is also that of a command in the test's process.
    """
    logs.configure("warning")
    structlog.configure(logger_factory=structlog.BytesLoggerFactory(_OUTPUT))


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return StaticEmbedder()


@pytest.fixture(scope="session")
async def shared_settings(servers: Servers, databases: DatabaseCopies) -> AsyncIterator[Settings]:
    async with fresh_settings(servers, databases) as made:
        yield made


@pytest.fixture(scope="session")
def shared_metrics() -> Metrics:
    return Metrics()


@pytest.fixture(scope="session")
def other_shared_metrics() -> Metrics:
    return Metrics()


@pytest.fixture(scope="session")
async def shared_worker(
    shared_settings: Settings, embedder: Embedder, shared_metrics: Metrics
) -> AsyncIterator[str]:
    """The URL of a worker that all tests of this process share."""
    async with serving(shared_settings, embedder, shared_metrics) as url:
        yield url


@pytest.fixture(scope="session")
async def other_shared_worker(
    shared_settings: Settings, embedder: Embedder, other_shared_metrics: Metrics
) -> AsyncIterator[str]:
    """A second one on the same servers."""
    async with serving(shared_settings, embedder, other_shared_metrics) as url:
        yield url


@pytest.fixture
async def tenant_on_shared_worker(
    shared_worker: str, shared_metrics: Metrics
) -> AsyncIterator[Gateway]:
    async with connected(shared_worker) as client:
        before = counted_until_now(shared_metrics)
        gateway = Gateway(client, counted_before=before, metrics=shared_metrics)
        gateway.tenant_name = await gateway.new_tenant()
        yield gateway


@pytest.fixture
async def own_gateway(settings: Settings, embedder: Embedder) -> AsyncIterator[Gateway]:
    """A worker on a database of its own, with the tenant acme."""
    async with running(settings, embedder) as started:
        await started.tenant(started.tenant_name)
        yield started


@pytest.fixture
async def logging_gateway(settings: Settings, embedder: Embedder) -> AsyncIterator[Gateway]:
    """A worker that logs each request, with a tenant of the test's own."""
    logging = settings.model_copy(update={"log_level": "info"})
    async with running(logging, embedder) as started:
        started.tenant_name = await started.new_tenant()
        yield started


@pytest.fixture
def gateway(request: pytest.FixtureRequest) -> Gateway:
    """A worker and a tenant of the test's own.

    The worker and its database are shared, unless the test is marked `isolated` or brings settings.
    """
    is_isolated = request.node.get_closest_marker("isolated") is not None
    gateway = request.getfixturevalue("own_gateway" if is_isolated else "tenant_on_shared_worker")
    assert isinstance(gateway, Gateway)
    return gateway


@pytest.fixture
async def other_shared_gateway(
    gateway: Gateway, other_shared_worker: str, other_shared_metrics: Metrics
) -> AsyncIterator[Gateway]:
    async with connected(other_shared_worker) as client:
        before = counted_until_now(other_shared_metrics)
        yield Gateway(client, gateway.tenant_name, before, other_shared_metrics)


@pytest.fixture
async def other_own_gateway(settings: Settings, embedder: Embedder) -> AsyncIterator[Gateway]:
    async with running(settings, embedder) as started:
        yield started


@pytest.fixture
def other_worker(request: pytest.FixtureRequest) -> Gateway:
    """A second worker on the same servers."""
    is_isolated = request.node.get_closest_marker("isolated") is not None
    gateway = request.getfixturevalue(
        "other_own_gateway" if is_isolated else "other_shared_gateway"
    )
    assert isinstance(gateway, Gateway)
    return gateway


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
async def module_settings(servers: Servers, databases: DatabaseCopies) -> AsyncIterator[Settings]:
    async with fresh_settings(servers, databases) as made:
        yield made
