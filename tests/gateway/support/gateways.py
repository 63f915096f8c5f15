"""Gateways that really run, over HTTP on a loopback port, in the event loop of the test."""

import asyncio
import itertools
import secrets
import socket
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from types import MappingProxyType
from typing import Any

import httpx2
import uvicorn
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.metrics_core import Metric

from gateway.api.app import create_app
from gateway.configured.installed_extensions import switched_on
from gateway.extensions._files.installed_formats import formats
from gateway.http.transport.connection import Connection
from gateway.monitoring.metrics import Metrics
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.conftest import ADMIN_KEY
from tests.gateway.support.http_transport import HttpTransport

# Thousands of series once many tests have run: to read them before each test takes 20 ms.
_LARGE_FAMILIES = (
    "nearhit_http_request_duration_seconds",
    "nearhit_sql_statement_duration_seconds",
)

# A gateway imports extensions before its event loop runs.
formats("")
switched_on("")


class Caller:
    """Somebody with a key, or without one."""

    def __init__(self, client: httpx2.AsyncClient, key: str | None) -> None:
        self.client = client
        self.key = key

    async def call(self, method: str, path: str, **kwargs: Any) -> httpx2.Response:
        headers = dict(kwargs.pop("headers", {}))
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key}"
        return await self.client.request(method, path, headers=headers, **kwargs)

    async def search(self, query: str, **fields: Any) -> httpx2.Response:
        answer = await self.call("POST", "/v1/search", json={"query": query, **fields})
        assert answer.status_code == 200, answer.text
        return answer

    async def found(self, query: str, **fields: Any) -> list[str]:
        """The documents of the hits, best first."""
        answer = await self.search(query, **fields)
        return [hit["document_id"] for hit in answer.json()["hits"]]

    async def put(self, document_id: str, text: str, **fields: Any) -> dict[str, Any]:
        body = {"text": text, **fields}
        answer = await self.call("PUT", f"/v1/documents/{document_id}", json=body)
        assert answer.status_code == 200, answer.text
        written: dict[str, Any] = answer.json()
        return written

    async def share(self, document_id: str, *readers: str) -> None:
        path = f"/v1/documents/{document_id}/access"
        answer = await self.call("PATCH", path, json={"readers": readers})
        assert answer.status_code == 200, answer.text


class Gateway:
    """One worker: its own memory, on servers that others may share.

    tenant_name: of the tenant that the test's callers belong to unless they name another.
    counted_before: the counters of the worker when the test began; empty if it has just started.
    metrics: of the worker, if it runs in this process.
    """

    def __init__(
        self,
        client: httpx2.AsyncClient,
        tenant_name: str = "acme",
        counted_before: Mapping[str, float] = MappingProxyType({}),
        metrics: Metrics | None = None,
    ) -> None:
        self.client = client
        self.tenant_name = tenant_name
        self.operator = Caller(client, ADMIN_KEY)
        self.stranger = Caller(client, None)
        self._counted_before = counted_before
        self._metrics = metrics

    async def tenant(self, tenant: str) -> None:
        answer = await self.operator.call("POST", "/v1/tenants", json={"id": tenant})
        assert answer.status_code == 201, answer.text

    async def new_tenant(self) -> str:
        """The name of one more tenant."""
        name = f"t-{secrets.token_hex(6)}"
        await self.tenant(name)
        return name

    async def with_new_tenant(self) -> "Gateway":
        """The same worker, for callers of one more tenant."""
        tenant_name = await self.new_tenant()
        return Gateway(self.client, tenant_name, self._counted_before, self._metrics)

    async def caller(self, subject: str, *, tenant: str = "", **fields: Any) -> Caller:
        """Somebody new, with a key of the tenant."""
        body = {"tenant": tenant or self.tenant_name, "subject": subject, **fields}
        answer = await self.operator.call("POST", "/v1/keys", json=body)
        assert answer.status_code == 201, answer.text
        return Caller(self.client, answer.json()["key"])

    async def receive_public(self, *tenants: str, receives: bool = True) -> None:
        """Let these tenants, or the test's own, receive other tenants' public documents."""
        for tenant in tenants or (self.tenant_name,):
            admin = await self.caller("receiving-admin", tenant=tenant, roles=["admin"])
            body = {"receives": receives}
            answer = await admin.call("PUT", "/v1/public-documents", json=body)
            assert answer.status_code == 200, answer.text

    def as_(self, caller: Caller) -> Caller:
        """The same caller, coming to this worker."""
        return Caller(self.client, caller.key)

    async def counted(self, name: str, **labels: str) -> float:
        """How far a counter has gone up since the test began.

        Those of the large families count for isolated tests alone.
        """
        series = _series(name, labels)
        assert not (self._counted_before and name.startswith(_LARGE_FAMILIES)), "mark it isolated"
        if self._metrics is None:
            samples = await read_samples(self.client)
        else:
            await self.client.get("/healthz")  # what the worker has answered before is counted
            self._metrics.flush()
            registry = self._metrics.registry.collected
            samples = _samples_of(registry.restricted_registry([name]).collect())
        return samples.get(series, 0.0) - self._counted_before.get(series, 0.0)

    async def answers(self) -> dict[str, float]:
        """How many answers came from each tier."""
        tiers = ("memory", "redis", "miss")
        return {
            tier: await self.counted("nearhit_cache_lookups_total", tier=tier) for tier in tiers
        }

    async def fills(self) -> float:
        return await self.counted("nearhit_cache_lookups_total", tier="miss")


def exposition(metrics: Metrics) -> tuple[bytes, str]:
    """What `GET /metrics` answers, and its media type."""
    metrics.flush()
    return metrics.registry.exposition()


def counted_until_now(metrics: Metrics) -> dict[str, float]:
    """What `read_samples` would read of a worker in this process, but for the large families."""
    samples = {}
    for family in metrics.registry.collectors:
        assert isinstance(family, MetricWrapperBase)
        if next(iter(family.describe())).name not in _LARGE_FAMILIES:
            samples.update(_samples_of(family.collect()))
    return samples


def _samples_of(families: Iterable[Metric]) -> dict[str, float]:
    return {
        _series(sample.name, sample.labels): sample.value
        for family in families
        for sample in family.samples
    }


def _series(name: str, labels: Mapping[str, str]) -> str:
    named = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
    return f"{name}{{{named}}}" if named else name


async def read_samples(client: httpx2.AsyncClient) -> dict[str, float]:
    """Each sample of /metrics by its name with its labels."""
    lines = (await client.get("/metrics")).text.splitlines()
    pairs = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {series: float(value) for series, value in pairs}


def problem(answer: httpx2.Response, status: int) -> dict[str, Any]:
    """The problem that an answer is; a test fails if it is none, or one of another status."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = answer.json()
    assert document["status"] == status
    assert document["type"].startswith("urn:nearhit:problem:")
    assert document["title"]
    assert document["detail"]
    return document


@asynccontextmanager
async def running(
    settings: Settings, embedder: Embedder, counted: Metrics | None = None
) -> AsyncIterator[Gateway]:
    metrics = counted or Metrics()
    async with serving(settings, embedder, metrics) as url, connected(url) as client:
        yield Gateway(client, metrics=metrics)


def connected(url: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(base_url=url, timeout=120, transport=HttpTransport(), trust_env=False)


class _Server(uvicorn.Server):
    """One that ends when it is told to, not at its next look a tenth of a second later."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ended = asyncio.Event()

    async def main_loop(self) -> None:
        for tick in itertools.count():
            if await self.on_tick(tick % 864_000):
                break
            with suppress(TimeoutError):
                await asyncio.wait_for(self.ended.wait(), 0.1)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for _ in range(20):  # in which it notices that the test's client has gone
            if not (self.server_state.connections or self.server_state.tasks):
                break
            await asyncio.sleep(0.002)
        else:
            await super().shutdown(sockets)
            return
        for server in self.servers:
            server.close()
            await server.wait_closed()
        await self.lifespan.shutdown()


@asynccontextmanager
async def serving(
    settings: Settings,
    embedder: Embedder,
    counted: Metrics | None = None,
    *,
    port: int = 0,
    send_buffer_bytes: int = 0,
) -> AsyncIterator[str]:
    """The URL of a worker; port 0: any free one.

    send_buffer_bytes: what the system takes for a client that does not read; 0 for its own choice.
    """
    listener = socket.create_server(("127.0.0.1", port))
    if send_buffer_bytes:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer_bytes)
    app = create_app(settings, counted or Metrics(), embedder)
    server = _Server(
        uvicorn.Config(
            app,
            log_config=None,
            ws="none",
            http=Connection,
            proxy_headers=False,
            timeout_keep_alive=75,  # no connection closes just as a test uses it again
        )
    )
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        server.ended.set()
        await task
