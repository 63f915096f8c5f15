"""What reaches a transport when a response is written in pieces, or memory answers late."""

import asyncio
import socket
from typing import cast

import pytest
import uvicorn
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.server import ServerState

from common.shares.turns import FairTurns
from gateway.http.known_heads import OnResponse, RecallingRequest
from gateway.http.request.address import ClientAddresses
from gateway.http.telemetry import Trace
from gateway.http.transport.buffered_transport import HELD_BYTES_MAX, BufferedTransport
from gateway.http.transport.connection import Connection
from gateway.http.transport.connections import ConnectionLimits, Connections
from tests.gateway.support.garbage import only_collected

pytestmark = pytest.mark.anyio


class Recorded(asyncio.Transport):
    """Keeps what is written to it; `closing` is set by whoever plays the caller."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.closing = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.closing
        self.written.append(bytes(data))

    def close(self) -> None:
        self.closing = True

    def is_closing(self) -> bool:
        return self.closing

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass


def limited(*, send_deadline_s: float = 60.0, unsent_bytes_max: int = 10_000_000) -> Connections:
    limits = ConnectionLimits(1_000, 60.0, send_deadline_s, 10, 10, unsent_bytes_max)
    return Connections(limits, ClientAddresses(None, "forwarded"), lambda _: None)


def connection_of(
    app: ASGIApp,
    known_heads: object,
    connections: Connections,
    kind: type[Connection] = Connection,
) -> Connection:
    config = uvicorn.Config(app, log_config=None)
    config.load()
    state = {"connections": connections, "known_heads": known_heads, "turns": FairTurns()}
    return kind(config, ServerState(), state)


def connected(transport: Recorded, app: ASGIApp, known_heads: object) -> Connection:
    protocol = connection_of(app, known_heads, limited())
    protocol.connection_made(transport)
    return protocol


class NoHeads:
    def find(self, _received: bytes, _started_s: float, _client: str) -> None:
        return None


async def test_head_and_body_are_sent_together_before_the_next_turn() -> None:
    transport = Recorded()
    held = BufferedTransport(transport)

    held.write(b"head ")
    held.write(b"body")
    assert transport.written == []
    await asyncio.sleep(0)

    assert transport.written == [b"head body"]


async def test_an_answer_is_sent_in_one_write_while_its_app_still_works() -> None:
    transport, sent = Recorded(), list[bytes]()

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        headers = [(b"content-length", b"4")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"body"})
        sent.extend(transport.written)

    protocol = connected(transport, app, NoHeads())
    protocol.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    await asyncio.sleep(0)
    protocol.connection_lost(None)

    (whole,) = sent
    assert whole.startswith(b"HTTP/1.1 200 ")
    assert whole.endswith(b"\r\n\r\nbody")
    assert transport.written == sent


class LateMemory:
    """Knows every head, and answers when the test says so."""

    def __init__(self) -> None:
        self.on_response: list[OnResponse] = []

    trace = Trace("", 0.0, {})

    def find(self, _received: bytes, _started_s: float, _client: str) -> RecallingRequest:
        return cast("RecallingRequest", self)

    def begin(self, on_response: OnResponse) -> None:
        self.on_response.append(on_response)


async def test_what_waits_for_memory_is_answered_before_the_server_ends() -> None:
    memory, transport = LateMemory(), Recorded()
    protocol = connected(transport, cast("ASGIApp", None), memory)

    protocol.data_received(b"POST /v1/search HTTP/1.1\r\n\r\n")
    protocol.shutdown()
    assert not transport.is_closing()
    memory.on_response.pop()(Response("body"))

    assert transport.is_closing()
    written = b"".join(transport.written)
    assert b"\r\nconnection: close\r\n" in written
    assert written.endswith(b"\r\n\r\nbody")
    protocol.connection_lost(None)


async def test_what_memory_answers_after_its_client_has_left_writes_nothing() -> None:
    memory, transport = LateMemory(), Recorded()
    protocol = connected(transport, cast("ASGIApp", None), memory)
    protocol.data_received(b"POST /v1/search HTTP/1.1\r\n\r\n")
    transport.close()
    protocol.connection_lost(None)

    memory.on_response.pop()(Response("body"))

    assert transport.written == []


async def test_what_comes_in_another_turn_is_sent_again() -> None:
    transport = Recorded()
    held = BufferedTransport(transport)

    held.write(b"one")
    await asyncio.sleep(0)
    held.write(b"two")
    await asyncio.sleep(0)

    assert transport.written == [b"one", b"two"]


async def test_a_stream_is_not_kept_back() -> None:
    transport = Recorded()
    held = BufferedTransport(transport)

    held.write(bytes(HELD_BYTES_MAX))
    held.write(b"and more")
    held.write(b"the end")

    assert list(map(len, transport.written)) == [HELD_BYTES_MAX + len(b"and more")]
    await asyncio.sleep(0)
    assert transport.written[1:] == [b"the end"]


async def test_what_is_written_is_sent_before_the_connection_is_closed() -> None:
    transport = Recorded()
    held = BufferedTransport(transport)

    held.write(b"goodbye")
    held.close()
    await asyncio.sleep(0)

    assert transport.written == [b"goodbye"]
    assert transport.is_closing()


async def test_nothing_is_sent_to_a_caller_that_has_gone_meanwhile() -> None:
    transport = Recorded()
    held = BufferedTransport(transport)

    held.write(b"too late")
    transport.closing = True
    await asyncio.sleep(0)
    held.close()

    assert transport.written == []


class Deaf:
    """A client over a real socket that takes as much of a large response as the test says."""

    BODY_BYTES = 1_000_000

    def __init__(self, connections: Connections) -> None:
        self.was_lost = was_lost = asyncio.Event()

        class Watched(Connection):
            def connection_lost(self, exc: Exception | None) -> None:
                super().connection_lost(exc)
                was_lost.set()

        self._loop = asyncio.get_running_loop()
        self._near, self._far = socket.socketpair()
        for each in (self._near, self._far):
            each.setblocking(False)
            each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
        app = cast("ASGIApp", Response(bytes(self.BODY_BYTES)))
        self._protocol = connection_of(app, NoHeads(), connections, Watched)

    async def ask(self) -> None:
        await self._loop.connect_accepted_socket(lambda: self._protocol, self._near)
        await self._loop.sock_sendall(self._far, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")

    async def take(self, size_bytes: int) -> None:
        while size_bytes > 0:
            received = await self._loop.sock_recv(self._far, min(size_bytes, 65_536))
            assert received
            size_bytes -= len(received)

    async def end(self) -> None:
        await asyncio.wait_for(self.was_lost.wait(), 10)
        self._far.close()


async def test_a_response_counts_whole_until_its_last_byte_is_taken() -> None:
    """The system takes a part of it at once; the worker holds all of it."""
    deaf = Deaf(limited(unsent_bytes_max=Deaf.BODY_BYTES))

    await deaf.ask()

    await deaf.end()


async def test_a_client_that_leaves_the_last_bytes_is_cut_off() -> None:
    deaf = Deaf(limited(send_deadline_s=0.2))
    await deaf.ask()

    await deaf.take(Deaf.BODY_BYTES - 30_000)

    await deaf.end()


class Taken(Recorded):
    """Its client takes 100 bytes until each deadline, as long as there are more."""

    def __init__(self) -> None:
        super().__init__()
        self.unsent_bytes = 1_000
        self.was_aborted = asyncio.Event()

    def get_write_buffer_size(self) -> int:
        size_bytes = self.unsent_bytes
        self.unsent_bytes = max(100, size_bytes - 100)
        return size_bytes

    def abort(self) -> None:
        self.was_aborted.set()


async def test_a_client_that_takes_its_response_slowly_is_not_cut_off() -> None:
    transport = Taken()
    protocol = connection_of(cast("ASGIApp", None), NoHeads(), limited(send_deadline_s=0.01))
    protocol.connection_made(transport)

    protocol.pause_writing()
    await asyncio.wait_for(transport.was_aborted.wait(), 10)

    assert transport.unsent_bytes == 100
    protocol.connection_lost(None)


async def test_a_lost_connection_is_freed_with_the_body_of_its_request() -> None:
    async def respond(_scope: Scope, receive: Receive, _send: Send) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    with only_collected() as garbage:
        protocol = connected(Recorded(), respond, NoHeads())
        protocol.data_received(b"POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nhalf")
        (task,) = protocol.tasks
        protocol.connection_lost(ConnectionResetError())
        await task
        freed = id(protocol)  # a connection of another test may be garbage meanwhile
        del protocol, task

    bodies = [each for each in garbage if isinstance(each, bytearray)]
    assert freed not in map(id, garbage)
    assert b"half" not in bodies
