"""The HTTP client of model services, which tells them the trace of each call."""

from collections.abc import AsyncIterator
from typing import cast

import httpx2

from common import current_span
from gateway.extensions._web import tls

REPLY_BYTES_MAX = 16_777_216  # a starting value: five times the vectors of a batch as numbers


def http_client() -> httpx2.AsyncClient:
    """A client with the time-outs and limits of OpenAI's package.

    It follows no redirect, which might lead to another host, and reads no more than
    `REPLY_BYTES_MAX` of a reply, uncompressed. With tracing it adds `traceparent` to its requests.
    """
    from openai import DefaultAsyncHttpxClient

    async def add_trace(request: httpx2.Request) -> None:
        request.headers.update(current_span.headers())

    return DefaultAsyncHttpxClient(
        verify=tls.verifying(),
        follow_redirects=False,
        headers={"Accept-Encoding": "identity"},
        event_hooks={"request": [add_trace], "response": [_limit]},
    )


async def _limit(response: httpx2.Response) -> None:
    """Let the response end with an error beyond the limit."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.DecodingError("the reply is compressed")
    response.stream = _LimitedStream(cast("httpx2.AsyncByteStream", response.stream))


class _LimitedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left_bytes = REPLY_BYTES_MAX
        async for piece in self._stream:
            left_bytes -= len(piece)
            if left_bytes < 0:
                raise httpx2.ReadError(f"the reply is larger than {REPLY_BYTES_MAX} bytes")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
