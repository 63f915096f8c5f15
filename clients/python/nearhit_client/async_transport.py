"""The same as `transport`, for asyncio."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self, Unpack

import httpx2

from nearhit_client import errors, types
from nearhit_client.errors import NearhitError
from nearhit_client.events import EVENT_BYTES_MAX, Event, ended_early, of_message
from nearhit_client.retries import Retries
from nearhit_client.wire import Call, Headers, Server, decode, in_path, is_answer


class AsyncTransport:
    """As `Transport`; http: an asynchronous client of your own."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout_s: float = 60.0,
        retries: Retries | None = None,
        http: httpx2.AsyncClient | None = None,
    ) -> None:
        self._server = Server.of(url, key)
        self._timeout_s = timeout_s
        self._retries = retries or Retries()
        self._http = http or httpx2.AsyncClient()
        self._closes = http is None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        if self._closes:
            await self._http.aclose()

    async def request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """The response with its headers. Raises `NearhitError`; options: fields of `Call`."""
        return await self._send(Call(method, path, **options))

    async def call(self, method: str, path: str, **options: Any) -> Any:
        """The body of the response. Raises `NearhitError`; options: fields of `Call`."""
        return decode(await self.request(method, path, **options))

    async def stream_answer(
        self, *, headers: Headers = None, **fields: Unpack[types.AnswerBody]
    ) -> AsyncIterator[Event]:
        """`post_answer` as events: `retrieved`, then `delta` and `citation`, at the end `done`.

        Raises `NearhitError`, also for the event `error`.
        """
        body = {**fields, "stream": True}
        call = Call("POST", "/v1/answer", body=body, headers=headers, repeats=True)
        async with self._stream(call) as events:
            async for event in events:
                if event.name == "error":
                    raise errors.of_event(event.data)
                yield event
                if event.name == "done":
                    return
        raise ended_early()

    async def events(
        self, subscription_id: str, *, last_event_id: str = ""
    ) -> AsyncIterator[Event]:
        """The events of a subscription, for as long as it lasts: `answer`, at the end `ended`.

        It connects again when the connection is lost. last_event_id: of an earlier event, to go on
        after it.
        """
        path = f"/v1/subscriptions/{in_path(subscription_id)}/events"
        failed = 0
        while True:
            headers = {"Last-Event-ID": last_event_id} if last_event_id else None
            try:
                async with self._stream(Call("GET", path, headers=headers)) as events:
                    async for event in events:
                        failed, last_event_id = 0, event.id or last_event_id
                        yield event
                        if event.name == "ended":
                            return
            except NearhitError as error:
                if not error.is_temporary:
                    raise
            await asyncio.sleep(self._retries.own_wait_s(failed))
            failed += 1

    @asynccontextmanager
    async def _stream(self, call: Call) -> AsyncIterator[AsyncIterator[Event]]:
        response = await self._send(call, stream=True)
        try:
            messages = httpx2.EventSource(response, EVENT_BYTES_MAX)
            yield (of_message(message) async for message in messages)
        except httpx2.TransportError as error:
            raise errors.unreachable(error) from error
        finally:
            await response.aclose()

    async def _send(self, call: Call, *, stream: bool = False) -> httpx2.Response:
        arguments = call.arguments(self._server)
        for retried in itertools.count():
            try:
                request = self._http.build_request(**arguments, timeout=self._timeout_s)
                response = await self._http.send(request, stream=stream)
                if is_answer(response):
                    return response
                await response.aread()
                failure = errors.of_response(response)
            except httpx2.TransportError as error:
                failure = errors.unreachable(error)
            wait_s = self._retries.wait_s(failure, retried, is_repeatable=call.is_repeatable)
            if wait_s is None:
                raise failure
            await asyncio.sleep(wait_s)
        raise AssertionError("the loop ends by itself")
