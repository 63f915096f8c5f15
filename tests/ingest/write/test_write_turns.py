"""Who gives way to whom at a document that many write at once."""

import asyncio
import time
from contextlib import AsyncExitStack

import pytest

from ingest.write.write_coordination import FairnessLocks

pytestmark = pytest.mark.anyio

BRIEF_S = 0.5


async def test_where_nobody_goes_first_nobody_waits() -> None:
    precedence = FairnessLocks()
    async with precedence.acquire_priority("acme", ["a"]):
        await asyncio.wait_for(precedence.yield_to_priority("acme", ["b"]), BRIEF_S)
        await asyncio.wait_for(precedence.yield_to_priority("beta", ["a"]), BRIEF_S)
    await asyncio.wait_for(precedence.yield_to_priority("acme", ["a"]), BRIEF_S)


async def test_others_wait_until_whoever_goes_first_is_done() -> None:
    precedence, order = FairnessLocks(), list[str]()

    async def give_way() -> None:
        await precedence.yield_to_priority("acme", ["b", "a"])
        order.append("another")

    async with precedence.acquire_priority("acme", ["a"]):
        waiting = asyncio.create_task(give_way())
        await asyncio.sleep(0.05)
        order.append("the first")
    await waiting

    assert order == ["the first", "another"]


async def test_of_two_who_go_first_at_the_same_documents_neither_blocks_the_other() -> None:
    precedence, inside = FairnessLocks(), list[str]()

    async def go(name: str, *document_ids: str) -> None:
        async with precedence.acquire_priority("acme", document_ids):
            inside.append(name)
            await asyncio.sleep(0.05)
            inside.append(name)

    started_s = time.monotonic()
    await asyncio.gather(go("one", "a", "b"), go("two", "b", "a"))

    assert inside == ["one", "one", "two", "two"]
    assert time.monotonic() - started_s < BRIEF_S


@pytest.mark.slow
async def test_nobody_waits_for_long() -> None:
    precedence = FairnessLocks()
    async with precedence.acquire_priority("acme", ["a", "b"]), asyncio.timeout(3.0):
        await precedence.yield_to_priority("acme", ["a", "b"])
        async with AsyncExitStack() as also:
            await also.enter_async_context(precedence.acquire_priority("acme", ["a", "b"]))
