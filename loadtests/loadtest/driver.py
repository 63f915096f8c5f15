"""The run itself: agents, strangers and writers, each request when it is due."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random
from typing import TypeAlias
from zlib import crc32

import orjson

from loadtests.load import open_loop, schedule
from loadtests.load.connection_pool import ConnectionPool, Unanswered
from loadtests.load.figures import Figures
from loadtests.load.request import Call
from loadtests.load.response import HttpResponse
from loadtests.load.schedule import Pattern
from loadtests.loadtest import setup
from loadtests.loadtest.judge import AnswerJudge
from loadtests.loadtest.setup import LoadKeys
from loadtests.workload import losses
from loadtests.workload.agents import Agents, Who
from loadtests.workload.losses import Loss
from loadtests.workload.writes import (
    JoinGroup,
    LeaveGroup,
    PutDocument,
    RemoveDocument,
    ShareDocument,
    Write,
)

# Told of each search when it was due, in seconds from when counting began, and how long it took,
# also in seconds; None if it failed.
OnSearch: TypeAlias = Callable[[float, float | None], None]

_OK, _UNAUTHORIZED = 200, 401
_LANES = 4  # writes at a time; those of one document come one after the other
_PROBED = 0.25  # share of the writes that somebody looks for; a starting value, not measured
_MARK_LETTERS = "bcdfghjklmnpqrstvwxz"  # without vowels it is no word of any language
_MARK_LENGTH = 12
_NOBODY = "nh_a-key-that-nobody-has-made"
_SEARCH = "/v1/search"
_ATTEMPTS, _PAUSE_S = 60, 0.25  # at a write, so that a fault of some seconds is sat out


@dataclass(frozen=True, slots=True)
class Load:
    """rate, writes: requests and writes a second. warm_up_s: before what is counted begins.

    repeats, strangers: shares of the requests. connections: at most so many at a time.
    """

    rate: float = 50.0
    seconds: float = 30.0
    warm_up_s: float = 5.0
    writes: float = 2.0
    repeats: float = 0.7
    strangers: float = 0.01
    pattern: Pattern = "poisson"
    connections: int = 64
    timeout_s: float = 10.0
    seed: int = 1


class LoadRun:
    """One run. What was counted may be looked at while it goes on."""

    def __init__(
        self,
        connections: ConnectionPool,
        load: Load,
        keys: LoadKeys,
        judge: AnswerJudge,
        agents: Agents,
        writes: Iterator[Write],
        on_search: OnSearch = lambda *_: None,
    ) -> None:
        self._on_search = on_search
        self._connections = connections
        self._load = load
        self._keys = keys
        self.judge = judge
        self._agents = agents
        self._writes = writes
        self._random = Random(load.seed)  # noqa: S311  no secret
        self._lanes: list[asyncio.Queue[tuple[float, Write] | None]] = []
        self._counted_s = math.inf  # nothing is, before it runs
        self.figures = Figures(0.0)

    async def run(self) -> Figures:
        load, begun_s = self._load, time.monotonic()
        self._counted_s = begun_s + load.warm_up_s
        self.figures = Figures(self._counted_s)
        seconds = load.warm_up_s + load.seconds
        questions = schedule.moments(load.rate, seconds, load.pattern, self._seeded("questions"))
        writes = schedule.moments(load.writes, seconds, load.pattern, self._seeded("writes"))
        with open_loop.rare_garbage_collection():
            async with self._writing():
                await asyncio.gather(
                    open_loop.run(questions, begun_s, self._search),
                    open_loop.pace(writes, begun_s, self._write_soon),
                )
        return self.figures

    @property
    def elapsed_s(self) -> float:
        """Since what is counted began; below 0 before it."""
        return time.monotonic() - self._counted_s

    def _seeded(self, what: str) -> Random:
        return Random(f"{self._load.seed} {what}")  # noqa: S311  no secret

    async def _search(self, due_s: float) -> None:
        request = self._agents.ask()
        counted = self._counting(due_s)
        if counted:
            self.figures.began(due_s, time.monotonic())
        key = _NOBODY if request.is_stranger else self._keys.readers[request.who]
        floor = self.judge.floor(request.who[0])
        try:
            reply = await self._connections.send(Call("POST", _SEARCH, request.question.body), key)
        except Unanswered as error:
            self._failed(due_s, str(error))
            return
        if reply.status != (_UNAUTHORIZED if request.is_stranger else _OK):
            self._failed(due_s, str(reply.status))
            if request.is_stranger and reply.status == _OK:
                self.judge.let_in(request.question.body)
            return
        if request.is_stranger:
            return
        if counted:
            self.figures.answered(due_s, request.question.scope, reply)
            self._on_search(due_s - self._counted_s, reply.answered_s - due_s)
        self.judge.judge(request.who, request.question.body, reply, floor)

    def _failed(self, due_s: float, what: str) -> None:
        if self._counting(due_s):
            self.figures.failed(due_s, what)
            self._on_search(due_s - self._counted_s, None)

    def _counting(self, due_s: float) -> bool:
        return due_s >= self._counted_s

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[None]:
        """Lanes that end when all is written that was due."""
        self._lanes = [asyncio.Queue() for _ in range(_LANES)]
        tasks = [asyncio.create_task(self._write_on(lane)) for lane in self._lanes]
        try:
            yield
            for lane in self._lanes:
                lane.put_nowait(None)
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    def _write_soon(self, due_s: float) -> None:
        write = next(self._writes)
        self._lanes[crc32(_about(write).encode()) % _LANES].put_nowait((due_s, write))

    async def _write_on(self, lane: "asyncio.Queue[tuple[float, Write] | None]") -> None:
        while (due := await lane.get()) is not None:
            due_s, write = due
            if self._random.random() < _PROBED:
                await self._write_and_look(due_s, write)
            else:
                await self._write(due_s, write)

    async def _write_and_look(self, due_s: float, write: Write) -> None:
        """Somebody asks for it just before, so that an answer without it is cached, and just after
        it is acknowledged; or somebody who loses a document by it, who has just seen it.
        """
        if isinstance(write, PutDocument):
            await self._put_and_look(due_s, write)
            return
        loss = losses.of(write, self.judge.rights, self._keys.readers)
        if loss is not None:
            await self._probe(loss)
        if await self._write(due_s, write) and loss is not None:
            await self._probe(loss)

    async def _put_and_look(self, due_s: float, write: PutDocument) -> None:
        mark = "".join(self._random.choices(_MARK_LETTERS, k=_MARK_LENGTH))
        marked = PutDocument(
            write.tenant, write.document_id, f"{write.text}\n\n{mark}\n", write.readers
        )
        whos = [who for who in self._keys.readers if who[0] == write.tenant]
        who = self._random.choice(whos)
        body = orjson.dumps({"query": mark})
        await self._look(who, body)
        if not await self._write(due_s, marked):
            return
        reply = await self._look(who, body)
        now_s = time.monotonic()
        if reply is not None and self.judge.rights.might_read(
            *who, write.document_id, now_s, now_s
        ):
            self.judge.expect(who, body, reply, mark)

    async def _probe(self, loss: Loss) -> None:
        await self._look((loss.tenant, loss.subject), loss.question)

    async def _look(self, who: Who, body: bytes) -> HttpResponse | None:
        """Not of the load, but judged like it."""
        floor = self.judge.floor(who[0])
        try:
            reply = await self._connections.send(
                Call("POST", _SEARCH, body), self._keys.readers[who]
            )
        except Unanswered:
            return None
        if reply.status != _OK:
            return None
        self.judge.judge(who, body, reply, floor)
        return reply

    async def _write(self, due_s: float, write: Write) -> bool:
        """Whether it is acknowledged; what fails is tried again for a while, as writers do."""
        counted = self._counting(due_s)
        self.judge.asked(write, time.monotonic())
        call = setup.call_of(write, self._keys, self.judge)
        for attempt in range(_ATTEMPTS):
            self.figures.requests += counted
            failure = await self._written(call, write, is_first=attempt == 0)
            if failure is None:
                if counted:
                    self.figures.wrote(due_s, time.monotonic())
                return True
            if counted:
                self.figures.failed(time.monotonic(), failure)
            await asyncio.sleep(_PAUSE_S)
        return False

    async def _written(self, call: Call, write: Write, *, is_first: bool) -> str | None:
        """What went wrong, if anything did. A write without an answer may come to be, or not."""
        key = self._keys.writers[write.tenant]
        try:
            reply = await self._connections.send(call, key)
        except Unanswered as error:
            return f"write: {error}"
        match reply.status:
            case 200 | 204:
                pass
            # A removal that is done, though what it dooms in the cache is yet to be dropped.
            case 202 if isinstance(write, RemoveDocument):
                pass
            # By an attempt before this one, whose answer was lost.
            case 404 if isinstance(write, RemoveDocument) and not is_first:
                pass
            case status:
                return f"write: {status}"
        result = orjson.loads(reply.body) if reply.status in (200, 202) else {}
        self.judge.acknowledged(write, reply.answered_s, result.get("revision"))
        return None


def _about(write: Write) -> str:
    match write:
        case PutDocument() | RemoveDocument() | ShareDocument():
            return f"{write.tenant} {write.document_id}"
        case JoinGroup() | LeaveGroup():
            return f"{write.tenant} {write.subject}"
