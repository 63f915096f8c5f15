"""Streams that break: where a client goes on, and what it raises. No gateway is needed."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TypeAlias

import httpx2
import pytest

from nearhit_client import AsyncClient, Client, Event, NearhitError, Retries

_URL, _AT_ONCE = "http://gateway.test", Retries(backoff_s=0)
_FIRST = 'id: 4-a\nevent: answer\ndata: {"number": 4}\n\n:\n\n'
_ENDED = 'event: ended\ndata: {"reason": "deleted"}\n\n'
_DELTA = 'event: delta\ndata: {"text": "25 days"}\n\n'
_ERROR = 'event: error\ndata: {"type": "urn:nearhit:problem:x", "status": 503}\n\n'


class BrokenStream(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A body whose connection is lost after these bytes."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __iter__(self) -> Iterator[bytes]:
        yield self._text.encode()
        raise httpx2.ReadError("the connection was lost")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self:
            yield part


class Streams:
    """Replies with one stream after the other; a text ends as it should, a `BrokenStream` not."""

    def __init__(self, *streams: str | BrokenStream | int) -> None:
        self.requests: list[httpx2.Request] = []
        self._streams = [*streams]

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        stream = self._streams.pop(0)
        if isinstance(stream, int):
            return httpx2.Response(stream, json={})
        headers = {"Content-Type": "text/event-stream; charset=utf-8"}
        if isinstance(stream, str):
            return httpx2.Response(200, headers=headers, text=stream)
        return httpx2.Response(200, headers=headers, stream=stream)


Listen: TypeAlias = Callable[[Streams, str], list[Event]]


def listen(streams: Streams, what: str) -> list[Event]:
    with httpx2.Client(transport=httpx2.MockTransport(streams)) as http:
        client = Client(_URL, "key", retries=_AT_ONCE, http=http)
        if what == "answer":
            return [*client.stream_answer(query="leave")]
        return [*client.events("sub_1")]


def listen_async(streams: Streams, what: str) -> list[Event]:
    async def main() -> list[Event]:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(streams)) as http:
            client = AsyncClient(_URL, "key", retries=_AT_ONCE, http=http)
            stream = client.stream_answer(query="leave") if what == "answer" else None
            return [event async for event in stream or client.events("sub_1")]

    return asyncio.run(main())


both = pytest.mark.parametrize("listen", [listen, listen_async])


@both
@pytest.mark.parametrize("first", [_FIRST, BrokenStream(_FIRST)], ids=["closed", "broken"])
def test_a_subscription_goes_on_after_the_last_event(listen: Listen, first: BrokenStream) -> None:
    streams = Streams(first, 503, BrokenStream(""), _ENDED)

    events = listen(streams, "subscription")

    assert events == [
        Event("answer", {"number": 4}, "4-a"),
        Event("ended", {"reason": "deleted"}),
    ]
    sent = [request.headers.get("last-event-id") for request in streams.requests]
    assert sent == [None, "4-a", "4-a", "4-a"]


@both
def test_a_subscription_that_is_refused_is_over(listen: Listen) -> None:
    with pytest.raises(NearhitError, match="401"):
        listen(Streams(_FIRST, 401), "subscription")


@both
@pytest.mark.parametrize(
    ("stream", "status"),
    [(_DELTA + _ERROR, 503), (BrokenStream(_DELTA), 0), (_DELTA, 0)],
    ids=["error", "broken", "closed"],
)
def test_half_an_answer_is_an_error(listen: Listen, stream: str, status: int) -> None:
    streams = Streams(stream)

    with pytest.raises(NearhitError) as raised:
        listen(streams, "answer")

    assert raised.value.status == status
    assert len(streams.requests) == 1


@both
def test_an_answer_is_asked_for_again_before_it_has_begun(listen: Listen) -> None:
    done = _DELTA + "event: done\ndata: {}\n\n"

    events = listen(Streams(503, done), "answer")

    assert [event.name for event in events] == ["delta", "done"]
