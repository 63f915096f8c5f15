"""The generator, against a server that answers as it is told."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from itertools import repeat

import pytest

from loadtests.load.closed_loop import Target, ask_all, drive

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def echo(status: str = "200 OK", head: str = "") -> AsyncIterator[Target]:
    """It returns the body that it was sent, in pieces."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(asyncio.IncompleteReadError):
            while True:
                sent = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(sent.partition(b"content-length: ")[2].split(b"\r\n")[0])
                body = await reader.readexactly(length)
                writer.write(f"HTTP/1.1 {status}\r\n{head}Content-Le".encode())
                await writer.drain()
                await asyncio.sleep(0)
                writer.write(f"ngth: {length}\r\n\r\n".encode() + body[:1])
                await asyncio.sleep(0)
                writer.write(body[1:])

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield Target(f"http://127.0.0.1:{port}/v1/search", "key")


async def test_each_question_gets_its_own_answer() -> None:
    bodies = [f"question {number}".encode() for number in range(50)]

    async with echo() as target:
        answers = await ask_all(target, bodies, connections=4)

    assert [answer.body for answer in answers] == bodies
    assert all(answer.seconds > 0 for answer in answers)


async def test_an_answer_says_whether_a_cache_gave_it() -> None:
    async with echo(head="Cache-Status: nearhit; hit; detail=memory\r\n") as target:
        (answer,) = await ask_all(target, [b"question"], connections=1)

    assert answer.cache_status == "nearhit; hit; detail=memory"
    assert answer.is_hit


async def test_a_loop_ends_with_its_time_and_counts_hits() -> None:
    async with echo(head="cache-status: nearhit; hit\r\n") as target:
        outcome = await drive(target, repeat(b"question"), connections=2, seconds=0.05)

    assert outcome.hits == len(outcome.latencies_s) > 0
    assert outcome.seconds >= 0.05
    assert outcome.percentile_ms(0.5) <= outcome.percentile_ms(0.99)


async def test_any_other_status_ends_the_loop() -> None:
    async with echo(status="503 Service Unavailable") as target:
        with pytest.raises(RuntimeError, match="503"):
            await ask_all(target, [b"question"], connections=1)
