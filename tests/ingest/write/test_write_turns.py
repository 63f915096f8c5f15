"""Who gives way to whom: at a document that many write at once, and beside other tenants."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import count, repeat

import pytest

from common.shares.slots import FairSlots
from common.shares.turns import FairTurns, take_turns
from index.documents.document_store import DocumentStore
from index.documents.document_writes import CommitOutcome, DocumentWrite
from index.documents.write_causes import WriteCause
from index.embedders.static_embedder import StaticEmbedder
from index.postgres.database import Database
from ingest.write.planning_process import planning_pool
from ingest.write.write_coordination import FairnessLocks
from ingest.write.write_planner import PROCESS_CHARACTERS_MIN
from ingest.write.writer import Writer
from tests.index.support.samples import RecordingInvalidation, a_document, as_put, put

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


@pytest.mark.thorough
@pytest.mark.slow
async def test_nobody_waits_for_long() -> None:
    precedence = FairnessLocks()
    async with precedence.acquire_priority("acme", ["a", "b"]), asyncio.timeout(3.0):
        await precedence.yield_to_priority("acme", ["a", "b"])
        async with AsyncExitStack() as also:
            await also.enter_async_context(precedence.acquire_priority("acme", ["a", "b"]))


@dataclass
class Acme:
    turns: FairTurns
    tenant: str = "acme"
    client: str = ""


class CountedCommits(DocumentStore):
    """together: how many commits wait for each other, so that they can only go on at once."""

    def __init__(self, database: Database, together: int) -> None:
        super().__init__(database)
        self.most = self._going_on = 0
        self._together, self._all_came = together, asyncio.Event()

    async def apply_all(
        self, tenant: str, writes: Sequence[DocumentWrite], by: WriteCause | None = None
    ) -> list[CommitOutcome]:
        self._going_on += 1
        self.most = max(self.most, self._going_on)
        if self._going_on == self._together:
            self._all_came.set()
        await self._all_came.wait()
        try:
            return await super().apply_all(tenant, writes, by)
        finally:
            self._going_on -= 1


# By the one the others have just asked, by the other a minute ago.
STANDING, JUMPING = repeat(0.0).__next__, count(0.0, 60.0).__next__


@pytest.mark.usefixtures("tenants")
@pytest.mark.parametrize(
    ("clock", "together"), [(STANDING, 1), (JUMPING, 3)], ids=["beside others", "alone"]
)
async def test_a_tenants_commits_go_on_at_once_unless_others_ask_too(
    database: Database,
    static_embedder: StaticEmbedder,
    clock: Callable[[], float],
    together: int,
) -> None:
    commits = CountedCommits(database, together)
    acme = Acme(FairTurns(clock, tenant_long_steps_max=1))
    writer = Writer(commits, static_embedder, RecordingInvalidation())

    async def write(number: int) -> None:
        await take_turns(acme, put(writer, a_document(f"{number}")))

    acme.turns.charge_step("beta", 0.0)
    async with asyncio.timeout(60):
        await asyncio.gather(*(asyncio.create_task(write(number)) for number in range(3)))

    assert commits.most == together


class CountedSlots(FairSlots):
    def __init__(self) -> None:
        super().__init__(1, waiting_max=8, wait_s_max=60.0)
        self.taken = 0

    async def acquire(self, tenant: str) -> None:
        await super().acquire(tenant)
        self.taken += 1


@pytest.mark.thorough
@pytest.mark.usefixtures("tenants")
async def test_all_that_keeps_a_processor_busy_is_a_long_step(
    documents: DocumentStore, static_embedder: StaticEmbedder
) -> None:
    acme = Acme(FairTurns(STANDING))
    acme.turns.charge_step("beta", 0.0)
    acme.turns.long_steps = slots = CountedSlots()
    batch = [as_put(a_document(name, name * PROCESS_CHARACTERS_MIN)) for name in ("a", "b")]

    async with planning_pool() as pool:
        writer = Writer(documents, static_embedder, RecordingInvalidation(), processes=pool)

        async def write() -> None:
            await take_turns(acme, writer.put_all("acme", batch))

        await asyncio.create_task(write())

    assert slots.taken == len(("compare", "plan", "embed", "commit"))
