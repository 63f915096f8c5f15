"""The driver, against a server that answers as it is told."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing, suppress
from random import Random
from time import monotonic

import pytest

from loadtests.load import schedule
from loadtests.load.connection_pool import ConnectionPool
from loadtests.load.schedule import Pattern
from loadtests.loadtest import driver
from loadtests.loadtest.driver import Load, LoadRun
from loadtests.loadtest.judge import StalenessJudge
from loadtests.loadtest.setup import LoadKeys
from loadtests.workload.agents import Agents
from loadtests.workload.writes import LeaveGroup, PutDocument, RemoveDocument, Write

pytestmark = pytest.mark.anyio

WHO = ("run-a", "ana")
EMPTY = b'{"hits":[]}'
STALL_S = 1.0
_SPANS = ((0, 2), (2, 4), (4, 6), (6, 8.5))  # both halves of the ramp apart
SEED = 11  # with which exactly one write is due

Answer = Callable[[str], tuple[str, bytes]]


def hit(_: str) -> tuple[str, bytes]:
    return "200 OK\r\nCache-Status: nearhit; hit; detail=memory", EMPTY


@asynccontextmanager
async def served(answer: Answer = hit, stall_s: float = 0.0) -> AsyncIterator[str]:
    """stall_s: for which nobody gets an answer, from half a second on."""
    begun_s = monotonic()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = int(head.partition("Content-Length: ")[2].split("\r\n")[0])
                await reader.readexactly(length)
                if 0 < monotonic() - begun_s - 0.5 < stall_s:
                    await asyncio.sleep(begun_s + 0.5 + stall_s - monotonic())
                status, body = answer(head)
                writer.write(
                    f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
                )

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@asynccontextmanager
async def driven(url: str, load: Load, *writes: Write) -> AsyncIterator[LoadRun]:
    agents = Agents(
        [WHO],
        {},
        ["a question"],
        repeats=load.repeats,
        strangers=load.strangers,
        random=Random(1),  # noqa: S311  no secret
    )
    keys = LoadKeys(None, {WHO[0]: "writer"}, {WHO: "reader"})
    connections = ConnectionPool(url, connections_max=load.connections, timeout_s=load.timeout_s)
    yield LoadRun(connections, load, keys, StalenessJudge("run"), agents, iter(writes))
    await connections.close()


def load(**fields: float) -> Load:
    quick = {"rate": 100.0, "seconds": 0.5, "warm_up_s": 0.0, "writes": 0.0, "strangers": 0.0}
    return Load(**(quick | fields))  # type: ignore[arg-type]  # all of these are numbers


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_stall_counts_for_all_that_were_due_meanwhile() -> None:
    short_load = load(seconds=2.0, connections=1)
    async with served(stall_s=STALL_S) as url, driven(url, short_load) as drive:
        figures = await drive.run()

    # Half of the requests fell due while nothing was answered; one alone was on its way.
    due, sent = figures.latencies["all"], figures.latencies["sent"]
    assert due.count == sent.count
    assert due.percentile_ms(75) > 300
    assert sent.percentile_ms(75) < due.percentile_ms(75) / 3
    assert sent.percentile_ms(100) >= 1000 * STALL_S * 0.9


@pytest.mark.slow
async def test_what_was_due_while_warming_up_is_not_counted() -> None:
    short_load = load(seconds=0.3, warm_up_s=0.3)
    async with served() as url, driven(url, short_load) as drive:
        figures = await drive.run()

    assert 0 < figures.requests == figures.count("all") < 60
    assert drive.judge.counts["judged"] > figures.count("all")


@pytest.mark.slow
async def test_answers_are_told_by_tier_and_scope() -> None:
    async with served() as url, driven(url, load()) as drive:
        figures = await drive.run()

    assert figures.count("tier.memory") == figures.count("all")
    assert figures.count("all") == sum(
        figures.count(f"scope.{scope}")
        for scope in ("all", "private", "shared", "tenant", "public")
    )
    assert sum(second.hits for second in figures.seconds) == figures.count("all")


@pytest.mark.slow
async def test_every_other_status_is_an_error_and_no_latency() -> None:
    async with (
        served(lambda _: ("503 Service Unavailable", b"")) as url,
        driven(url, load()) as drive,
    ):
        figures = await drive.run()

    assert figures.errors["503"] == figures.requests > 0
    assert figures.error_share == 1
    assert figures.count("all") == 0


@pytest.mark.thorough
@pytest.mark.slow
async def test_an_answer_that_does_not_come_in_time_is_an_error() -> None:
    async with (
        served(stall_s=1.0) as url,
        driven(url, load(seconds=0.9, timeout_s=0.05)) as drive,
    ):
        figures = await drive.run()

    timeouts = figures.errors["timeout"]
    assert timeouts > 0
    assert figures.answers + timeouts == figures.requests == figures.count("all")
    assert figures.count("tier.memory") == figures.answers
    assert figures.latencies["all"].percentile_ms(100) >= 50
    assert sum(second.offered for second in figures.seconds) == figures.requests
    assert figures.achieved["all"] == figures.answers < figures.offered["all"]


@pytest.mark.thorough
@pytest.mark.slow
async def test_what_cannot_be_sent_in_time_is_an_error_too() -> None:
    short_load = load(seconds=1.2, timeout_s=0.1, connections=1)
    async with served(stall_s=0.6) as url, driven(url, short_load) as drive:
        figures = await drive.run()

    # In half a second nothing is answered, and no more than five of these requests were sent.
    assert figures.errors["timeout"] > 30


@pytest.mark.slow
async def test_a_stranger_who_is_let_in_is_a_leak() -> None:
    async with served() as url, driven(url, load(strangers=1)) as drive:
        figures = await drive.run()

    assert drive.judge.counts["leaked"] == figures.requests == figures.errors["200"] > 0


@pytest.mark.slow
async def test_a_stranger_who_is_refused_is_no_error() -> None:
    async with (
        served(lambda _: ("401 Unauthorized", b"")) as url,
        driven(url, load(strangers=1)) as drive,
    ):
        figures = await drive.run()

    assert figures.requests > 0
    assert not figures.errors


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_removal_that_had_come_to_be_is_not_tried_for_ever() -> None:
    answers = iter(["503 Service Unavailable", "404 Not Found"])

    def once(head: str) -> tuple[str, bytes]:
        return (next(answers), b"") if head.startswith("DELETE") else hit(head)

    put = PutDocument(*WHO, "text", frozenset({"tenant"}))
    async with (
        served(once) as url,
        driven(
            url, load(rate=0.0, writes=1.0, seconds=1.5, seed=SEED), RemoveDocument(*WHO)
        ) as drive,
    ):
        drive.judge.asked(put, 0.0)
        drive.judge.acknowledged(put, 0.0, None)
        await drive.run()

    assert next(answers, None) is None
    assert drive.judge.rights.documents(WHO[0]) == {}


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_group_that_was_left_already_is_not_left_again_and_again() -> None:
    answers = iter(["503 Service Unavailable", "404 Not Found"])

    def once(head: str) -> tuple[str, bytes]:
        return (next(answers), b"") if head.startswith("DELETE") else hit(head)

    few = load(rate=0.0, writes=1.0, seconds=1.5, seed=SEED)
    async with served(once) as url, driven(url, few, LeaveGroup(WHO[0], "few", "ana")) as drive:
        figures = await drive.run()

    assert next(answers, None) is None
    assert dict(figures.errors) == {"write: 503": 1}


@pytest.mark.slow
async def test_writes_that_are_answered_too_slowly_do_not_keep_a_run_from_ending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(driver, "_TRIED_S", 0.0)
    monkeypatch.setattr(driver, "_WAITING_MIN", 0)
    monkeypatch.setattr(driver, "_WAITING_S", 0.02)
    sent = []

    def refused(head: str) -> tuple[str, bytes]:
        sent.append(head)
        return "503 Service Unavailable", b""

    writes = (PutDocument(*WHO, f"text {number}", frozenset()) for number in range(100))
    many = load(rate=0.0, writes=100.0)
    async with served(refused) as url, driven(url, many, *writes) as drive:
        figures = await drive.run()

    puts = sum(head.startswith("PUT") for head in sent)
    assert 0 < puts < 20  # each is followed by a pause
    assert figures.errors == {
        "write: 503": puts,
        "write: not sent, since others wait": figures.requests - puts,
    }


def test_arrivals_come_as_often_as_asked_for() -> None:
    random = Random(1)  # noqa: S311  no secret

    def moments(rate: float, seconds: float, pattern: Pattern) -> list[float]:
        return list(schedule.moments([schedule.steady(rate, seconds)], pattern, random))

    poisson = moments(100, 50, "poisson")
    constant = moments(10, 1.05, "constant")

    assert poisson == sorted(poisson)
    assert poisson[-1] < 50
    assert len(poisson) == pytest.approx(5000, rel=0.1)
    assert constant == pytest.approx([number / 10 for number in range(1, 11)])
    assert moments(0, 10, "poisson") == []


def test_stages_follow_each_other_and_a_ramp_rises_evenly() -> None:
    stages = [schedule.parse_stage(text) for text in ("10:2", "0-100:4", "50-0:2.5")]

    due = list(schedule.moments(stages, "constant", Random(1)))  # noqa: S311  no secret

    by_stage = [sum(begun_s <= due_s < ended_s for due_s in due) for begun_s, ended_s in _SPANS]
    assert due == sorted(due)
    assert by_stage == pytest.approx([20, 50, 150, 62], abs=1)


@pytest.mark.parametrize(
    "text", ["", "10", "10:0", "0:10", "0-0:5", "10:20:30", "-1:5", "1:-5", "a:b"]
)
def test_a_stage_without_requests_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"stage such as|has no request"):
        schedule.parse_stage(text)
