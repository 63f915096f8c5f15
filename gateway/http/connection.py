"""One client's connection: HTTP/1.1 by uvicorn and httptools, with a bound on all that a client
sends before anybody knows who it is.

The head of a request is collected until its end, judged, and parsed at once. Its body is read when
the request asks for it. What comes behind it waits, unparsed, until the request is answered. A
connection whose request was answered before its body had come is closed, once the client has had
time to read the answer.
"""

import asyncio
import contextvars
from typing import cast

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from gateway import problems
from gateway.http import head
from gateway.http.coalescing_protocol import BufferedTransport
from gateway.http.connections import Connections
from gateway.problems import Problem

_LINGER_S = 2.0  # in which a client reads why it is closed; a starting value, not measured
_SLICE_BYTES = 16_384  # between two looks at what the framing of a chunked body takes


# What a connection is at. An enumeration's members take longer to look up.
_HEAD = 0  # of the next request, or nothing of it yet
_BODY = 1
_ANSWER = 2  # the request is here, its answer is not complete
_OVER = 3  # whatever comes is discarded


class Connection(HttpToolsProtocol):
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's own
        held = BufferedTransport(transport, self._end)
        super().connection_made(cast("asyncio.Transport", held))
        self._held = held
        self._raw = transport
        self._connections: Connections = self.app_state["connections"]
        self._limits = self._connections.limits
        self._phase = _HEAD
        self._part = b""  # of a head that has not ended
        self._ahead = b""  # what came behind a request that is not answered
        self._left: int | None = 0  # bytes of the body; None if it is chunked
        self._body_bytes = self._framing_bytes = 0
        self._keeps_alive = True
        self._is_waiting = self.is_proven = False
        self._flaw: Problem | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._is_counted = self._connections.add(self, self.client[0] if self.client else "")
        if self._is_counted:
            self._wait()
        else:
            self._refuse(
                problems.rate_limited("connections of this address, or of all together", 1)
            )

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.remove(self)
        self._unstall()
        super().connection_lost(exc)

    def whole_body(self) -> bytes | None:
        """The body of the request that is not answered yet, if all of it is here; else None.

        What is given here, the request does not receive.
        """
        if self.cycle.more_body:
            return None
        self.cycle.message_event.clear()
        return bytes(self.cycle.body)

    def prove(self) -> None:
        """A request on it had a valid key."""
        self.is_proven = True
        self._connections.prove(self)

    def abort(self) -> None:
        self._raw.abort()

    def end_late(self) -> None:
        self._is_waiting = False
        if self._part:
            self._refuse(problems.head_too_slow())
        else:
            self.transport.close()

    def shutdown(self) -> None:
        self._keeps_alive = False
        super().shutdown()

    def pause_writing(self) -> None:
        self._stall()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._unstall()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        while data:
            if self._phase == _HEAD:
                data = self._take_head(data)
            elif self._phase == _BODY:
                data = self._take_body(data)
            else:
                if self._phase == _ANSWER:
                    self._ahead += data
                    self.flow.pause_reading()
                return
        if self._phase == _HEAD and not self._is_waiting:
            self._wait()

    def _take_head(self, data: bytes) -> bytes:
        """Parse the head, if it is whole, with a body that came with it; returns what is behind."""
        if self._part:
            data = self._part + data
        elif data[0] in b"\r\n":  # as some clients send behind a body
            data = data.lstrip(b"\r\n")
        end = data.find(head.END) + len(head.END)
        is_whole = end >= len(head.END)
        self._part = b"" if is_whole else data
        judge = head.flaw if is_whole else head.flaw_of_part
        flaw = judge(data[:end] if is_whole else data, self._limits.head)
        if flaw is not None:
            self._refuse(flaw)
        if flaw is not None or not is_whole:
            return b""
        with_body = min(len(data), end + _SLICE_BYTES)
        has_next = self._feed(data[:with_body])
        came = with_body - end
        if self._phase == _BODY:
            if not came:
                self.flow.pause_reading()  # until the request asks for its body
            self._note_body(came, len(self.cycle.body))
        elif has_next and self._left is not None:
            return data[end + self._left :]
        return data[with_body:]

    def _take_body(self, data: bytes) -> bytes:
        most = _SLICE_BYTES if self._left is None else self._left
        before = len(self.cycle.body)
        self._feed(data[:most])
        self._note_body(len(data[:most]), len(self.cycle.body) - before)
        return data[most:]

    def _note_body(self, received: int, size_bytes: int) -> None:
        """So many bytes came, of which so many are the body's own."""
        if self._left is not None:
            self._left -= received
            return
        self._body_bytes += size_bytes
        self._framing_bytes += received - size_bytes
        if self._framing_bytes > self._limits.head.bytes_max + self._body_bytes // 4:
            self._refuse(problems.malformed_request("Its chunks are too small for its body."))

    def _feed(self, data: bytes) -> bool:
        """Parse; whether another request begins within these bytes."""
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # nothing is offered: the request is answered as it is
        except httptools.HttpParserError:
            if self._phase != _ANSWER:
                detail = "It is not HTTP/1.1 as RFC 9112 has it."
                self._refuse(self._flaw or problems.malformed_request(detail))
                return False
            if self._left is None:  # nobody knows where a chunked body has ended
                self._keeps_alive = self.cycle.keep_alive = False
                self._phase = _OVER
            self.parser = httptools.HttpRequestParser(self)
            return True
        return False

    def on_message_begin(self) -> None:
        if self._phase != _HEAD:
            raise _Behind
        super().on_message_begin()
        self.scope["state"]["connection"] = self

    def on_headers_complete(self) -> None:
        headers = dict(self.headers)
        if not head.is_plain(headers, len(self.headers)):
            version = self.parser.get_http_version()
            self._flaw = head.flaw_of_headers(self.headers, headers, version)
            if self._flaw is not None:
                raise _Flawed
        is_chunked = b"transfer-encoding" in headers
        self._left = None if is_chunked else int(headers.get(b"content-length", 0))
        super().on_headers_complete()
        self.headers = []  # for trailers, which nobody reads
        self._body_bytes = self._framing_bytes = 0
        self._keeps_alive = self.cycle.keep_alive and b"upgrade" not in headers
        self.cycle.keep_alive = False  # if it is answered before its body has come
        self._phase = _BODY
        if self._is_waiting:
            self._is_waiting = False
            self._connections.has_head(self)

    def on_message_complete(self) -> None:
        self._phase = _ANSWER
        self.cycle.keep_alive = self._keeps_alive
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Whoever waits for the answer need not wait for what is still to be noted of it."""
        self._held.flush()
        super().on_response_complete()
        if self._phase == _ANSWER and not self.transport.is_closing():
            self._phase = _HEAD
            data, self._ahead = self._ahead, b""
            if data:  # of another request, which is nothing of this one's
                contextvars.Context().run(self.data_received, data)

    def _wait(self) -> None:
        self._is_waiting = True
        self._connections.wait_for_head(self)

    def _refuse(self, problem: Problem) -> None:
        """Say why, unless an answer has begun, and close."""
        self._phase = _OVER
        self._part = b""
        self._connections.on_refusal(problem.status)
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()
            if cycle.response_started:
                self.transport.close()
                return
        response = problem.response()
        headers = [*self.server_state.default_headers, *response.raw_headers]
        lines = [b"%b: %b\r\n" % header for header in (*headers, (b"connection", b"close"))]
        self.transport.write(
            b"".join((STATUS_LINE[problem.status], *lines, b"\r\n", bytes(response.body)))
        )
        self.transport.close()

    def _end(self) -> None:
        """Close it; with unread data the answer would be lost: the client gets time to read it."""
        is_unread = bool(self._ahead) or self._phase in (_BODY, _OVER)
        if is_unread and self._is_counted:
            self._phase = _OVER
            self.flow.resume_reading()
            self._raw.write_eof()
            self.loop.call_later(_LINGER_S, self._raw.abort)
        else:
            self._raw.close()
            if self._raw.get_write_buffer_size():
                self._stall()

    def _stall(self) -> None:
        if self._stalled is None:
            self._stalled = self.loop.call_later(self._limits.send_deadline_s, self._raw.abort)

    def _unstall(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None


class _Behind(Exception):
    pass


class _Flawed(Exception):
    pass
