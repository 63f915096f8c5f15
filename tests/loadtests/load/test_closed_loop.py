"""The closed loop, against a server that gives scripted responses."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from itertools import repeat

import pytest

from loadtests.load import closed_loop
from loadtests.load.closed_loop import ClosedLoopResult
from loadtests.load.request import RequestTemplate

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def echo(status: str = "200 OK", head: str = "") -> AsyncIterator[RequestTemplate]:
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
        yield RequestTemplate(f"http://127.0.0.1:{port}/v1/search", "key")


async def test_each_question_gets_its_own_answer() -> None:
    bodies = [f"question {number}".encode() for number in range(50)]

    async with echo() as request:
        answers = await closed_loop.send_all(
            request.url, list(map(request.encode, bodies)), connections=4
        )

    assert [answer.body for answer in answers] == bodies
    assert all(answer.seconds > 0 for answer in answers)


async def test_an_answer_says_whether_a_cache_gave_it() -> None:
    async with echo(head="Cache-Status: nearhit; hit; detail=memory\r\n") as request:
        (answer,) = await closed_loop.send_all(
            request.url, [request.encode(b"question")], connections=1
        )

    assert answer.cache_status == "nearhit; hit; detail=memory"
    assert answer.is_hit


async def test_a_loop_ends_with_its_time_and_counts_hits() -> None:
    async with echo(head="cache-status: nearhit; hit\r\n") as request:
        result = await closed_loop.run(
            request.url, repeat(request.encode(b"question")), connections=2, seconds=0.05
        )

    assert result.hits == result.count > 0
    assert result.seconds >= 0.05
    assert result.percentile_ms(50) <= result.percentile_ms(99)


async def test_any_other_status_ends_the_loop() -> None:
    async with echo(status="503 Service Unavailable") as request:
        with pytest.raises(RuntimeError, match="503"):
            await closed_loop.send_all(request.url, [request.encode(b"question")], connections=1)


async def test_results_of_turns_make_one_result() -> None:
    async with echo(head="cache-status: nearhit; hit\r\n") as request:
        turns = [
            await closed_loop.run(
                request.url, repeat(request.encode(b"question")), connections=1, seconds=0.02
            )
            for _ in range(3)
        ]

    merged = ClosedLoopResult()
    for turn in turns:
        merged.merge(turn)

    assert merged.count == merged.hits == sum(turn.count for turn in turns)
    assert merged.seconds == pytest.approx(sum(turn.seconds for turn in turns))
