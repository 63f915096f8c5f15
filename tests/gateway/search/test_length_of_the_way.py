"""How long the way of a search is, and of a write: the calls of our functions, and their files.

The bars are what has been reached; whoever makes the way longer raises one here and says why.
"""

import asyncio
import itertools
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from types import FrameType

import pytest

from common.shares import turns
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.http.test_known_heads import ask, request
from tests.gateway.support.commands import WAIT_S_MAX
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.support.raw_http import RawConnection, raw

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]

ROOT = Path(__file__).parents[3]
OURS = tuple(f"{ROOT}/{package}/" for package in ("gateway", "cache", "index", "ingest", "common"))
ROUNDS_MAX = 500
TOGETHER = 8  # requests whose revisions one statement reads


@contextmanager
def counted_calls() -> Iterator[Counter[str]]:
    """By file, how often its functions are called meanwhile."""
    calls: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(OURS):
            calls[frame.f_code.co_filename] += 1

    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(None)


@pytest.fixture
async def connections(
    settings: Settings, embedder: Embedder, gateway: Gateway, ana: Caller
) -> AsyncIterator[Sequence[RawConnection]]:
    """To a worker that has loaded the tenant's shard and does nothing else."""
    assert turns.current_taker() is None, "a test before left its context to a taker of turns"
    await ana.put("leave", "Everybody gets 25 days of annual leave a year.", readers=["tenant"])
    own = {
        "shard_bytes_max": 1 << 26,
        "key_requests_per_s": 0.0,
        "tenant_requests_per_s": 0.0,
    }
    async with running(settings.model_copy(update=own), embedder) as worker, AsyncExitStack() as on:
        asking, numbers = worker.as_(ana), itertools.count()
        async with asyncio.timeout(WAIT_S_MAX):
            while await worker.counted("nearhit_shard_events_total", event="loaded") < 1:
                await asking.found(f"annual leave {next(numbers)}")
        yield [await on.enter_async_context(raw(worker)) for _ in range(TOGETHER)]


async def reach(
    calls: int,
    files: int,
    connections: Sequence[RawConnection],
    sent: Callable[[int], bytes],
    status: str,
) -> None:
    """Ask until a round takes no more, as other work of the worker may count in any of them."""
    rounds = []
    for number in range(ROUNDS_MAX):
        with counted_calls() as counts:
            answers = await asyncio.gather(
                *(ask(connection, sent(number)) for connection in connections)
            )
        if {answer.headers.get("cache-status", "") for answer in answers} == {status}:
            rounds.append((counts.total() / len(connections), len(counts)))
            if rounds[-1][0] <= calls and rounds[-1][1] <= files:
                return
    pytest.fail(f"more than {calls} calls in {files} files: {sorted(rounds)[:9]}")


async def test_a_hit_makes_few_calls_in_few_files(
    connections: Sequence[RawConnection], ana: Caller
) -> None:
    hit = "nearhit; hit; detail=memory"

    await reach(66, 20, connections[:1], lambda _: request(ana), hit)
    await reach(57, 20, connections, lambda _: request(ana), hit)


async def test_a_new_question_makes_few_calls_in_few_files(
    connections: Sequence[RawConnection], ana: Caller
) -> None:
    """Its last word is new too: it may be a number, or stand within one.

    They are fewer in a process that has read these numbers before.
    """

    def sent(number: int) -> bytes:
        return request(ana, f"annual days {ROUNDS_MAX + number}")

    await reach(428, 84, connections[:1], sent, "nearhit; fwd=miss")


async def test_a_write_of_a_new_document_makes_few_calls_in_few_files(
    connections: Sequence[RawConnection], ana: Caller
) -> None:
    """A resumed coroutine counts as a call of each function that it passes.

    How often one waits differs by some: the least that was seen is 1,404.
    """

    def sent(number: int) -> bytes:
        body = b'{"text":"Travel %d is booked with the travel desk.","readers":["tenant"]}' % number
        head = (
            f"PUT /v1/documents/new-{number} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ana.key}"
        )
        return b"%b\r\nContent-Length: %d\r\n\r\n%b" % (head.encode(), len(body), body)

    await reach(1_500, 125, connections[:1], sent, "")
