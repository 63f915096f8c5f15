"""A subscriber: it reads a stream of server-sent events, and applies what they report."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx2
import orjson

from tests.gateway.support.gateways import Caller


class EventListener:
    """What one subscriber has heard. hits: of the answer, as the events give them."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.hits: list[dict[str, Any]] = []
        self.last_event_id = ""
        self.is_over = False
        self._changed = asyncio.Condition()

    @property
    def documents(self) -> list[str]:
        return [hit["document_id"] for hit in self.hits]

    @property
    def answers(self) -> list[dict[str, Any]]:
        return [data for name, data in self.events if name == "answer"]

    async def until(self, is_reached: Any, seconds: float = 20) -> None:
        """Wait until the condition holds for this listener."""
        async with asyncio.timeout(seconds), self._changed:
            await self._changed.wait_for(lambda: is_reached(self))

    async def until_answers(self, number: int) -> None:
        await self.until(lambda listener: len(listener.answers) >= number)

    async def until_documents(self, *documents: str) -> None:
        await self.until(lambda listener: listener.documents == list(documents))

    async def listen(self, caller: Caller, subscription_id: str) -> None:
        """Read the stream to its end. Raises `httpx2.HTTPError`."""
        headers = {"Authorization": f"Bearer {caller.key}"}
        if self.last_event_id:
            headers["Last-Event-ID"] = self.last_event_id
        path = f"/v1/subscriptions/{subscription_id}/events"
        async with caller.client.stream("GET", path, headers=headers, timeout=None) as answer:
            answer.raise_for_status()
            async for fields in events_of(answer):
                await self._hear(fields)
        self.is_over = True
        await self._tell()

    async def _hear(self, fields: Mapping[str, str]) -> None:
        self.last_event_id = fields.get("id", self.last_event_id)
        data = orjson.loads(fields["data"])
        if fields["event"] == "answer" and "hits" in data:
            self.hits = _applied(self.hits, data)
        self.events.append((fields["event"], data))
        await self._tell()

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()


@asynccontextmanager
async def listening(
    caller: Caller, subscription_id: str, listener: EventListener | None = None
) -> AsyncIterator[EventListener]:
    """A listener that is connected during the block."""
    listener = listener or EventListener()
    task = asyncio.create_task(listener.listen(caller, subscription_id))
    try:
        yield listener
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, httpx2.HTTPError):
            await task


async def subscribe(caller: Caller, query: str, **fields: Any) -> str:
    """The id of a new subscription, whose events name hits and come as often as they may."""
    deliver = {"hits": "changes", "interval_ms": 100, **fields.pop("deliver", {})}
    body = {"search": {"query": query, **fields}, "deliver": deliver}
    answer = await caller.call("POST", "/v1/subscriptions", json=body)
    assert answer.status_code == 201, answer.text
    subscription_id: str = answer.json()["id"]
    return subscription_id


async def events_of(answer: httpx2.Response) -> AsyncIterator[Mapping[str, str]]:
    fields: dict[str, str] = {}
    async for line in answer.aiter_lines():
        name, _, value = line.partition(": ")
        if name and value:
            fields[name] = value
        elif not line and "data" in fields:
            yield fields
            fields = {}


def _applied(hits: list[dict[str, Any]], data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The hits after an event; a test fails if the event does not fit what was heard before."""
    changes = data["hits"]
    by_chunk = {} if data["since"] is None else {hit["chunk_id"]: hit for hit in hits}
    for removed in changes["removed"]:
        assert by_chunk.pop(removed["chunk_id"])["document_id"] == removed["document_id"]
    for hit in changes["added"]:
        assert hit["chunk_id"] not in by_chunk
        by_chunk[hit["chunk_id"]] = hit
    for hit in changes["updated"]:
        assert hit["chunk_id"] in by_chunk
        by_chunk[hit["chunk_id"]] = hit
    assert set(by_chunk) == set(changes["chunk_ids"])
    return [by_chunk[chunk_id] for chunk_id in changes["chunk_ids"]]
