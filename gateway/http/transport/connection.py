"""A client's connection: HTTP/1.1 by uvicorn and httptools, with limits on all that a client sends
before it is authenticated.

The connection buffers the head of a request until its end, checks it, and parses it at once. It
reads the body when the handler asks for it. Later bytes wait, unparsed, until the request is
answered. If a request is answered before its body has arrived, the connection is closed after the
client had time to read the answer.

A request whose head came before is answered without the application if it can be.
"""

import asyncio
import contextvars
import time
from collections.abc import Iterable
from functools import partial
from typing import cast

import httptools
from starlette.responses import Response
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from common.shares.turns import FairTurns
from gateway.http.known_heads import REQUEST_BYTES_MAX, KnownHead, KnownHeads, PendingRequest
from gateway.http.telemetry import Trace
from gateway.http.transport import head
from gateway.http.transport.buffered_transport import BufferedTransport
from gateway.http.transport.connections import Connections
from gateway.problems import problems
from gateway.problems.problems import Problem

_LINGER_S = 2.0  # for a client to read why the connection is closed; a starting value
_SLICE_BYTES = 16_384  # between two checks of a chunked body's framing
# Answered in the reserve too, so that a balancer keeps a worker whose connections are in use.
_PROBES = (b"/healthz", b"/readyz", b"/metrics")
_CLOSE = (b"connection", b"close")

# The phases of a connection. The members of an enumeration take longer to look up.
_HEAD = 0  # waits for the head of the next request
_BODY = 1
_ANSWER = 2  # the request is complete, its answer is not
_OVER = 3  # further bytes are discarded


class Connection(HttpToolsProtocol):
    """One client's connection: its phase, the bytes that wait, and the limits on both."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's own
        buffered = BufferedTransport(transport, self._end)
        super().connection_made(cast("asyncio.Transport", buffered))
        transport.set_write_buffer_limits(0)  # writing pauses until the system has taken all
        self._buffered = buffered
        self._raw_transport = transport
        self._connections: Connections = self.app_state["connections"]
        self._known_heads: KnownHeads = self.app_state["known_heads"]
        self._turns: FairTurns = self.app_state["turns"]
        self._limits = self._connections.limits
        self._phase = _HEAD
        self._partial_head = b""  # of an incomplete head
        self._untaken = b""  # bytes that wait for the tenant's turn
        self._pipelined = b""  # bytes after a request that is not answered yet
        self._body_left: int | None = 0  # bytes of the body to come; None if it is chunked
        self._body_bytes = self._framing_bytes = 0
        self._is_waiting = False
        self._whole_request = b""  # the current request, if its body came with its head
        self._known = b""  # the bytes of a request with a known head, until it is answered
        self._problem: Problem | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self.shutting_down = asyncio.Event()  # of the server, for responses without an end
        self.peer = self.client[0] if self.client else ""
        self.tenant = ""  # of the last request with a valid key; all others share one's turns
        self.was_used = False
        self._is_in_reserve = not self._connections.add(self, self.peer)
        self._keeps_alive = not self._is_in_reserve
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.remove(self)
        self._unstall()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)
        self.scope = self.cycle = None  # type: ignore[assignment]  # they hold the connection
        self._buffered.detach()

    def buffered_body(self) -> bytes | None:
        """The body of the current request if all of it has arrived, else None.

        The request does not receive these bytes again.
        """
        cycle = self.cycle
        if cycle is None or cycle.more_body:
            return None
        cycle.message_event.clear()
        body, cycle.body = bytes(cycle.body), bytearray()
        return body

    def remember(self, known: KnownHead) -> None:
        """Remember the head of the current request, so that the next equal one is not parsed.

        Not if the connection ends with it, or if its body did not come with its head.
        """
        if self._whole_request and self._keeps_alive:
            self._known_heads.remember(self._whole_request, known)

    def prove(self, tenant: str) -> None:
        """Record that a request on the connection had a valid key; empty for the operator's."""
        self._connections.prove(self, tenant)
        self.tenant = tenant

    @property
    def is_idle(self) -> bool:
        return self._phase == _HEAD and not (self._partial_head or self._untaken or self._stalled)

    @property
    def is_answering(self) -> bool:
        return self._phase == _ANSWER

    def abort(self) -> None:
        self._raw_transport.abort()

    def end_late(self) -> None:
        self._is_waiting = False
        if self._partial_head:
            self._refuse(problems.head_too_slow())
        else:
            self.transport.close()

    def shutdown(self) -> None:
        self._keeps_alive = False
        self.shutting_down.set()
        if not self._known:  # else it is closed once the request is answered
            super().shutdown()

    async def drain(self) -> None:
        """Wait until the system has taken all that was written to the client.

        A client that reads no byte for `send_deadline_s` meanwhile is disconnected.
        """
        self._buffered.flush()
        await self.flow.drain()

    def pause_writing(self) -> None:
        self._stall()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._unstall()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        """Parse the bytes when it is the tenant's turn; until then no more of them are read."""
        if self._untaken:
            self._untaken += data
        elif self._turns.may_step(self.tenant):
            self._step(data)
        else:
            self._untaken = data
            self.flow.pause_reading()
            self._turns.turn(self.tenant, self.peer).add_done_callback(self._step_late)

    def _step_late(self, _turn: object) -> None:
        data, self._untaken = self._untaken, b""
        if not self._raw_transport.is_closing():
            self.flow.resume_reading()
            self._step(data)

    def _step(self, data: bytes) -> None:
        tenant, begun_s, request = self.tenant, self._turns.now_s(), None
        self._unset_keepalive_if_required()
        is_drained = not self._raw_transport.get_write_buffer_size()
        if self.is_idle and is_drained and not self._is_in_reserve:
            request = self._known_heads.find(data, time.perf_counter(), self.peer)
        if request is None:
            self._receive(data)
        else:
            self._answer_known(request, data)
        self._turns.charge_step(tenant, self._turns.now_s() - begun_s)

    def _receive(self, data: bytes) -> None:
        while data:
            if self._phase == _HEAD:
                data = self._take_head(data)
            elif self._phase == _BODY:
                data = self._take_body(data)
            else:
                if self._phase == _ANSWER:
                    self._pipelined += data
                    self.flow.pause_reading()
                return
        if self._phase == _HEAD and not self._is_waiting:
            self._wait()

    def _answer_known(self, request: PendingRequest, data: bytes) -> None:
        self._phase = _ANSWER
        self._known = data
        if self._is_waiting:
            self._end_waiting()
        request.begin(partial(self._on_known_answered, request.trace))

    def _on_known_answered(self, trace: Trace, response: Response | None) -> None:
        data, self._known = self._known, b""
        if self._raw_transport.is_closing():
            return
        if response is not None:
            own = [(b"x-request-id", trace.request_id.encode())]
            if not self._keeps_alive:
                own.append(_CLOSE)
            self._buffered.send(self._message(response, own))
            self.was_used = True
            if trace.tenant != self.tenant:
                self.prove(trace.tenant)
            if not self._keeps_alive:
                self.transport.close()
            self._begin_next()
        else:
            self._phase = _HEAD
            contextvars.Context().run(self._receive, data)

    def _take_head(self, data: bytes) -> bytes:
        """Parse a complete head with the body bytes after it; return what follows them."""
        if self._partial_head:
            data = self._partial_head + data
        elif data[0] in b"\r\n":  # some clients send a line break after a body
            data = data.lstrip(b"\r\n")
        end = data.find(head.END) + len(head.END)
        is_whole = end >= len(head.END)
        self._partial_head = b"" if is_whole else data
        check = head.check if is_whole else head.check_incomplete
        problem = check(data[:end] if is_whole else data, self._limits.head_bytes_max)
        if problem is not None:
            self._refuse(problem)
        if problem is not None or not is_whole:
            return b""
        with_body = min(len(data), end + _SLICE_BYTES)
        self._whole_request = b""
        has_next = self._feed(data[:with_body])
        body_bytes = with_body - end
        if self._phase == _ANSWER and len(data) == end + (self._body_left or 0):
            self._whole_request = data if len(data) <= REQUEST_BYTES_MAX else b""
        if self._phase == _BODY:
            if not body_bytes:
                self.flow.pause_reading()  # until the handler asks for the body
            self._note_body(body_bytes, len(self.cycle.body))
        elif has_next and self._body_left is not None:
            return data[end + self._body_left :]
        return data[with_body:]

    def _take_body(self, data: bytes) -> bytes:
        most = _SLICE_BYTES if self._body_left is None else self._body_left
        before = len(self.cycle.body)
        self._feed(data[:most])
        self._note_body(len(data[:most]), len(self.cycle.body) - before)
        return data[most:]

    def _note_body(self, received: int, size_bytes: int) -> None:
        """Count received bytes. size_bytes: those of the body itself, without its framing."""
        if self._body_left is not None:
            self._body_left -= received
            return
        self._body_bytes += size_bytes
        self._framing_bytes += received - size_bytes
        if self._framing_bytes > self._limits.head_bytes_max + self._body_bytes // 4:
            self._refuse(problems.malformed_request("Its chunks are too small for its body."))

    def _feed(self, data: bytes) -> bool:
        """Parse the bytes; whether another request begins among them."""
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # no upgrade is offered: the request is answered as it is
        except httptools.HttpParserError:
            if self._phase != _ANSWER:
                detail = "It is not HTTP/1.1 as RFC 9112 has it."
                self._refuse(self._problem or problems.malformed_request(detail))
                return False
            if self._body_left is None:  # the end of a chunked body is unknown
                self._keeps_alive = self.cycle.keep_alive = False
                self._phase = _OVER
            self.parser = httptools.HttpRequestParser(self)
            return True
        return False

    def on_message_begin(self) -> None:
        if self._phase != _HEAD:
            raise _Stop
        super().on_message_begin()
        self.scope["state"]["connection"] = self

    def on_headers_complete(self) -> None:
        headers = dict(self.headers)
        if self._is_in_reserve and self.url.partition(b"?")[0] not in _PROBES:
            subject = "connections of this address, or of all together"
            self._problem = problems.rate_limited(subject, 1)
            raise _Stop
        if not head.is_plain(headers, len(self.headers)):
            version = self.parser.get_http_version()
            self._problem = head.check_headers(self.headers, headers, version)
            if self._problem is not None:
                raise _Stop
        is_chunked = b"transfer-encoding" in headers
        self._body_left = None if is_chunked else int(headers.get(b"content-length", 0))
        super().on_headers_complete()
        self.headers = []  # for trailers, which are ignored
        self._body_bytes = self._framing_bytes = 0
        self._keeps_alive &= self.cycle.keep_alive and b"upgrade" not in headers
        self.cycle.keep_alive = False  # closes it if it is answered before its body has arrived
        self._phase = _BODY
        if self._is_waiting:
            self._end_waiting()

    def on_message_complete(self) -> None:
        self._phase = _ANSWER
        self.cycle.keep_alive = self._keeps_alive
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Send the answer before its bookkeeping."""
        self._buffered.flush()
        self._whole_request = b""
        self._begin_next()

    def _begin_next(self) -> None:
        """Wait for the next request, or take it if it is here."""
        super().on_response_complete()
        if self._phase == _ANSWER and not self._raw_transport.is_closing():
            self._phase = _HEAD
            self.scope = self.cycle = None  # type: ignore[assignment]  # they hold a body
            data, self._pipelined = self._pipelined, b""
            if data:  # of the next request, in a context of its own
                contextvars.Context().run(self.data_received, data)

    def _end_waiting(self) -> None:
        self._is_waiting = False
        self._connections.has_head(self)

    def _wait(self) -> None:
        self._is_waiting = True
        self._connections.wait_for_head(self)

    def _refuse(self, problem: Problem) -> None:
        """Answer with the problem, unless an answer has begun, and close the connection."""
        self._phase = _OVER
        self._partial_head = b""
        self._connections.on_refusal(problem.status)
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()
            if cycle.response_started:
                self.transport.close()
                return
        self.transport.write(self._message(problem.response(), [_CLOSE]))
        self.transport.close()

    def _message(self, response: Response, own: Iterable[tuple[bytes, bytes]]) -> bytes:
        """The response as HTTP/1.1 with the server's headers and these."""
        headers = (*self.server_state.default_headers, *response.raw_headers, *own)
        lines = map(b"%b: %b\r\n".__mod__, headers)
        return b"".join((STATUS_LINE[response.status_code], *lines, b"\r\n", bytes(response.body)))

    def _end(self) -> None:
        """Close the connection; with unread data, after the client had time to read the answer."""
        is_unread = bool(self._pipelined) or self._phase in (_BODY, _OVER)
        if is_unread:
            self._phase = _OVER
            self.flow.resume_reading()
            self._raw_transport.write_eof()
            self.loop.call_later(_LINGER_S, self._raw_transport.abort)
        else:
            self._raw_transport.close()
            if self._raw_transport.get_write_buffer_size():
                self._stall()

    def _stall(self) -> None:
        if self._stalled is None:
            self._await_reader()
            self._connections.hold_unsent(self, self._buffered.held_bytes)

    def _await_reader(self) -> None:
        """Close the connection if its client takes no byte until the deadline."""
        unsent_bytes = self._raw_transport.get_write_buffer_size()
        self._stalled = self.loop.call_later(
            self._limits.send_deadline_s, self._end_deaf, unsent_bytes
        )

    def _end_deaf(self, unsent_bytes: int) -> None:
        if self._raw_transport.get_write_buffer_size() < unsent_bytes:
            self._await_reader()
        else:
            self._raw_transport.abort()

    def _unstall(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None
            self._connections.release_unsent(self)


class _Stop(Exception):
    """The parser has reached the next request, or headers that are refused."""
