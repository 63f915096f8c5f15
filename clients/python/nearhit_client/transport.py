"""Sends calls, again where that helps, and reads streams: what `Client` has besides its calls."""

import itertools
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self, Unpack

import httpx2

from nearhit_client import errors, types
from nearhit_client.errors import NearhitError
from nearhit_client.events import EVENT_BYTES_MAX, Event, ended_early, of_message
from nearhit_client.retries import Retries
from nearhit_client.wire import Call, Headers, Server, decode, in_path, is_answer


class Transport:
    """url, key: by default the variables NEARHIT_URL and NEARHIT_KEY; an empty key is none.

    timeout_s: of connecting, and of each wait for bytes. http: a client with your own proxies,
    certificates or hooks, which you close.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout_s: float = 60.0,
        retries: Retries | None = None,
        http: httpx2.Client | None = None,
    ) -> None:
        self._server = Server.of(url, key)
        self._timeout_s = timeout_s
        self._retries = retries or Retries()
        self._http = http or httpx2.Client()
        self._closes = http is None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._closes:
            self._http.close()

    def request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """The response with its headers. Raises `NearhitError`; options: fields of `Call`."""
        return self._send(Call(method, path, **options))

    def call(self, method: str, path: str, **options: Any) -> Any:
        """The body of the response. Raises `NearhitError`; options: fields of `Call`."""
        return decode(self.request(method, path, **options))

    def stream_answer(
        self, *, headers: Headers = None, **fields: Unpack[types.AnswerBody]
    ) -> Iterator[Event]:
        """`post_answer` as events: `retrieved`, then `delta` and `citation`, at the end `done`.

        Raises `NearhitError`, also for the event `error`.
        """
        body = {**fields, "stream": True}
        call = Call("POST", "/v1/answer", body=body, headers=headers, repeats=True)
        with self._stream(call) as events:
            for event in events:
                if event.name == "error":
                    raise errors.of_event(event.data)
                yield event
                if event.name == "done":
                    return
        raise ended_early()

    def events(self, subscription_id: str, *, last_event_id: str = "") -> Iterator[Event]:
        """The events of a subscription, for as long as it lasts: `answer`, at the end `ended`.

        It connects again when the connection is lost. last_event_id: of an earlier event, to go on
        after it.
        """
        path = f"/v1/subscriptions/{in_path(subscription_id)}/events"
        failed = 0
        while True:
            headers = {"Last-Event-ID": last_event_id} if last_event_id else None
            try:
                with self._stream(Call("GET", path, headers=headers)) as events:
                    for event in events:
                        failed, last_event_id = 0, event.id or last_event_id
                        yield event
                        if event.name == "ended":
                            return
            except NearhitError as error:
                if not error.is_temporary:
                    raise
            time.sleep(self._retries.own_wait_s(failed))
            failed += 1

    @contextmanager
    def _stream(self, call: Call) -> Iterator[Iterator[Event]]:
        response = self._send(call, stream=True)
        try:
            yield map(of_message, httpx2.EventSource(response, EVENT_BYTES_MAX))
        except httpx2.TransportError as error:
            raise errors.unreachable(error) from error
        finally:
            response.close()

    def _send(self, call: Call, *, stream: bool = False) -> httpx2.Response:
        arguments = call.arguments(self._server)
        for retried in itertools.count():
            try:
                request = self._http.build_request(**arguments, timeout=self._timeout_s)
                response = self._http.send(request, stream=stream)
                if is_answer(response):
                    return response
                response.read()
                failure = errors.of_response(response)
            except httpx2.TransportError as error:
                failure = errors.unreachable(error)
            wait_s = self._retries.wait_s(failure, retried, is_repeatable=call.is_repeatable)
            if wait_s is None:
                raise failure
            time.sleep(wait_s)
        raise AssertionError("the loop ends by itself")
