import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress

import pytest

from loadtests.load.connection_pool import ConnectionPool, Unanswered
from loadtests.load.request import Call

pytestmark = pytest.mark.anyio

CALL = Call("GET", "/healthz")


@asynccontextmanager
async def closing_server(response: bytes) -> AsyncIterator[str]:
    """Answers one request on each connection and closes it when the second one arrives."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(asyncio.IncompleteReadError, ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(response)
            await reader.readuntil(b"\r\n\r\n")

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_a_chunked_body_is_put_together() -> None:
    chunks = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    )
    async with closing_server(chunks) as url:
        pool = ConnectionPool(url, connections_max=1, timeout_s=5)

        response = await pool.send(CALL, "key")
        await pool.close()

    assert (response.status, response.body) == (200, b"abcde")


@pytest.mark.parametrize("resend", [True, False])
async def test_a_request_on_a_lost_idle_connection_is_sent_again_only_with_resend(
    *, resend: bool
) -> None:
    async with closing_server(b"HTTP/1.1 204 No Content\r\n\r\n") as url:
        pool = ConnectionPool(url, connections_max=1, timeout_s=5, resend=resend)
        await pool.send(CALL, "key")

        if resend:
            assert (await pool.send(CALL, "key")).status == 204
        else:
            with pytest.raises(Unanswered, match="ConnectionResetError"):
                await pool.send(CALL, "key")
        await pool.close()


async def test_a_closed_connection_is_no_response() -> None:
    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        connections = ConnectionPool(f"http://127.0.0.1:{port}", connections_max=1, timeout_s=5)

        with pytest.raises(Unanswered):
            await connections.send(Call("GET", "/healthz"), "")


async def test_the_pool_opens_no_more_connections_than_allowed_and_reuses_them() -> None:
    connections_opened = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections_opened
        connections_opened += 1
        with closing(writer), suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await reader.readuntil(b"\r\n\r\n")
                await asyncio.sleep(0.005)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        connections = ConnectionPool(f"http://127.0.0.1:{port}", connections_max=2, timeout_s=5)

        replies = await asyncio.gather(
            *(connections.send(Call("GET", "/healthz"), "") for _ in range(10))
        )
        await connections.close()

    assert [reply.body for reply in replies] == [b"ok"] * 10
    assert connections_opened == 2


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://host", "http://"])
def test_a_url_without_a_server_is_rejected(url: str) -> None:
    with pytest.raises(ValueError, match="is no URL"):
        ConnectionPool(url, connections_max=1, timeout_s=1)
