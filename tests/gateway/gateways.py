"""Gateways that really run, over HTTP on a loopback port, in the event loop of the test."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import uvicorn

from gateway.api.app import create_app
from gateway.http.connection import Connection
from gateway.metrics import Metrics
from gateway.settings import Settings
from index.search.query_embedder import Embedder
from tests.conftest import ADMIN_KEY


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
    """One worker: its own memory, on servers that others may share."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client
        self.operator = Caller(client, ADMIN_KEY)
        self.stranger = Caller(client, None)

    async def tenant(self, tenant: str) -> None:
        answer = await self.operator.call("POST", "/v1/tenants", json={"id": tenant})
        assert answer.status_code == 201, answer.text

    async def caller(self, subject: str, *, tenant: str = "acme", **fields: Any) -> Caller:
        """Somebody new, with a key of the tenant."""
        body = {"tenant": tenant, "subject": subject, **fields}
        answer = await self.operator.call("POST", "/v1/keys", json=body)
        assert answer.status_code == 201, answer.text
        return Caller(self.client, answer.json()["key"])

    def as_(self, caller: Caller) -> Caller:
        """The same caller, coming to this worker."""
        return Caller(self.client, caller.key)

    async def counted(self, name: str, **labels: str) -> float:
        """A counter's value, from /metrics."""
        text = (await self.client.get("/metrics")).text
        named = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
        whole = f"{name}{{{named}}}" if named else name
        line = re.search(rf"^{re.escape(whole)} (\S+)$", text, re.MULTILINE)
        return float(line.group(1)) if line else 0.0

    async def answers(self) -> dict[str, float]:
        """How many answers came from each tier."""
        tiers = ("memory", "redis", "miss")
        return {tier: await self.counted("nearhit_answers_total", tier=tier) for tier in tiers}

    async def fills(self) -> float:
        return await self.counted("nearhit_answers_total", tier="miss")


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
    listener = socket.create_server(("127.0.0.1", 0))
    app = create_app(settings, counted or Metrics(), embedder)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_config=None,
            ws="none",
            http=Connection,
            proxy_headers=False,
            timeout_keep_alive=75,  # no connection closes just as a test uses it again
        )
    )
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        # Without TLS there is nothing to verify, and loading authorities takes a tenth of a second.
        async with httpx2.AsyncClient(base_url=url, timeout=30, verify=False) as client:
            yield Gateway(client)
    finally:
        server.should_exit = True
        await serving
