"""What reaches a transport when a response is written in pieces."""

import asyncio

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from gateway.http.address import ClientAddresses
from gateway.http.coalescing_protocol import HELD_BYTES_MAX, BufferedTransport
from gateway.http.connection import Connection
from gateway.http.connections import ConnectionLimits, Connections
from gateway.http.head import HeadLimits

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


def unlimited() -> Connections:
    limits = ConnectionLimits(HeadLimits(1_000, 1_000, 100), 60.0, 60.0, 10, 10)
    return Connections(limits, ClientAddresses(None, "forwarded"), lambda _: None)


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

    config = uvicorn.Config(app, log_config=None)
    config.load()
    protocol = Connection(config, ServerState(), {"connections": unlimited()})
    protocol.connection_made(transport)
    protocol.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    await asyncio.sleep(0)
    protocol.connection_lost(None)

    (whole,) = sent
    assert whole.startswith(b"HTTP/1.1 200 ")
    assert whole.endswith(b"\r\n\r\nbody")
    assert transport.written == sent


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
    assert transport.closing


async def test_nothing_is_sent_to_a_caller_that_has_gone_meanwhile() -> None:
    transport = Recorded()
    held = BufferedTransport(transport)

    held.write(b"too late")
    transport.closing = True
    await asyncio.sleep(0)
    held.close()

    assert transport.written == []
