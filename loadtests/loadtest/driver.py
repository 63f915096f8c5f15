"""One run: searches and writes are sent when they are due, and each answer is judged."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from random import Random

import orjson

from loadtests.load import open_loop, schedule
from loadtests.load.connection_pool import ConnectionPool, TimedOut, Unanswered
from loadtests.load.figures import Figures
from loadtests.load.request import Call
from loadtests.load.response import HttpResponse
from loadtests.load.schedule import Pattern, Stage
from loadtests.loadtest import setup
from loadtests.loadtest.judge import StalenessJudge
from loadtests.loadtest.setup import LoadKeys
from loadtests.workload import rights
from loadtests.workload.agents import AgentRequest, Agents, Who
from loadtests.workload.rights import Loss
from loadtests.workload.viewer import Viewer
from loadtests.workload.writes import LeaveGroup, PutDocument, RemoveDocument, Write, lane_of

_LANES = 4  # writes at a time
_PROBED = 0.25  # share of the writes that are searched for; a starting value, not measured
_MARK_LETTERS = "bcdfghjklmnpqrstvwxz"  # without vowels, so that it is no word of any language
_MARK_LENGTH = 12
_SEARCH = "/v1/search"
_TRIED_S, _PAUSE_S = 15.0, 0.25  # a write is repeated, so that it outlasts a fault of some seconds
# Of the writes at a time; a run ends once they are done, however slowly they are answered.
_WAITING_MIN, _WAITING_S = 20, 10.0


@dataclass(frozen=True, slots=True)
class Load:
    """rate, writes: searches and writes per second. warm_up_s: before counting begins, at the
    first rate. stages: of searches, instead of `rate` and `seconds`.

    repeats, strangers: shares of the searches. connections: the maximum at a time.
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
    stages: tuple[Stage, ...] = ()

    @property
    def all_stages(self) -> tuple[Stage, ...]:
        return self.stages or (schedule.steady(self.rate, self.seconds),)

    def random(self, what: str) -> Random:
        return Random(f"{self.seed} {what}")  # noqa: S311  no secret

    @property
    def counted_s(self) -> float:
        return sum(stage.seconds for stage in self.all_stages)


class LoadRun:
    """The figures may be read while the run goes on."""

    def __init__(
        self,
        connections: ConnectionPool,
        load: Load,
        keys: LoadKeys,
        judge: StalenessJudge,
        agents: Agents,
        writes: Iterator[Write],
    ) -> None:
        self._connections = connections
        self._load = load
        self._keys = keys
        self._observer = Observer(keys, judge, Figures(0.0))
        self.judge = judge
        self._agents = agents
        self._writes = writes
        self._random = Random(load.seed)  # noqa: S311  no secret
        self._lanes: list[asyncio.Queue[tuple[float, Write] | None]] = []
        self._counted_s = math.inf  # nothing is counted before it runs

    @property
    def figures(self) -> Figures:
        return self._observer.figures

    async def run(self) -> Figures:
        load, begun_s = self._load, time.monotonic()
        self._counted_s = begun_s + load.warm_up_s
        self._observer.figures = Figures(self._counted_s, load.all_stages)
        warm_up = schedule.steady(load.all_stages[0].first, load.warm_up_s)
        searches = (warm_up, *load.all_stages)
        writing = (schedule.steady(load.writes, load.warm_up_s + load.counted_s),)
        questions = schedule.moments(searches, load.pattern, load.random("questions"))
        writes = schedule.moments(writing, load.pattern, load.random("writes"))
        with open_loop.rare_garbage_collection():
            async with self._writing():
                await asyncio.gather(
                    open_loop.run(questions, begun_s, self._search),
                    open_loop.pace(writes, begun_s, self._write_soon),
                )
        return self.figures

    @property
    def elapsed_s(self) -> float:
        """Seconds since counting began; negative during the warm-up."""
        return time.monotonic() - self._counted_s

    async def _search(self, due_s: float) -> None:
        request = self._agents.ask()
        counted = self._counting(due_s)
        if counted:
            self.figures.began(due_s, time.monotonic())
        floor, body = self.judge.floor(request.who[0]), request.question.body
        call, key = Call("POST", _SEARCH, body), self._observer.key(request)
        try:
            reply = await self._connections.send(call, key)
        except Unanswered as error:
            if counted:
                self._unanswered(due_s, request, error)
            return
        self._observer.searched(request, reply, floor, due_s, is_counted=counted)

    def _unanswered(self, due_s: float, request: AgentRequest, error: Unanswered) -> None:
        if isinstance(error, TimedOut):
            waited_s, timeout_s = time.monotonic() - due_s, self._load.timeout_s
            scope = request.question.scope
            self.figures.timed_out(due_s, scope, waited_s=waited_s, timeout_s=timeout_s)
        else:
            self.figures.failed(due_s, str(error))

    def _counting(self, due_s: float) -> bool:
        return due_s >= self._counted_s

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[None]:
        """Run the lanes; at the end, wait until they have written everything."""
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
        waiting_max = max(_WAITING_MIN, _WAITING_S * self._load.writes)
        if sum(lane.qsize() for lane in self._lanes) >= waiting_max:
            if self._counting(due_s):
                self.figures.requests += 1
                self.figures.write_failed(due_s, "not sent, since others wait")
            return
        write = next(self._writes)
        self._lanes[lane_of(write, _LANES)].put_nowait((due_s, write))

    async def _write_on(self, lane: "asyncio.Queue[tuple[float, Write] | None]") -> None:
        while (due := await lane.get()) is not None:
            due_s, write = due
            if self._random.random() < _PROBED:
                await self._write_and_look(due_s, write)
            else:
                await self._write(due_s, write)

    async def _write_and_look(self, due_s: float, write: Write) -> None:
        """Search for the text right before the write, so that an answer without it is cached, and
        right after its acknowledgement; or search as a subject that loses access by the write.
        """
        if isinstance(write, PutDocument):
            await self._put_and_look(due_s, write)
            return
        loss = rights.of(write, self.judge.rights, self._keys.readers)
        if loss is not None:
            await self._probe(loss)
        if await self._write(due_s, write) and loss is not None:
            await self._probe(loss)

    async def _put_and_look(self, due_s: float, write: PutDocument) -> None:
        mark = "".join(self._random.choices(_MARK_LETTERS, k=_MARK_LENGTH))
        marked = replace(write, text=f"{write.text}\n\n{mark}\n")
        whos = [who for who in self._keys.readers if who[0] == write.tenant]
        who = self._random.choice(whos)
        body = orjson.dumps({"query": mark})
        await self._look(who, body)
        if not await self._write(due_s, marked):
            return
        reply = await self._look(who, body)
        now_s = time.monotonic()
        readable = self.judge.rights.seen_by(Viewer(*who), write.document_id, now_s, now_s)
        if reply is not None and any(readable):
            self.judge.expect(who, body, reply, mark)

    async def _probe(self, loss: Loss) -> None:
        if await self._look((loss.tenant, loss.subject), loss.question) is not None:
            self.judge.counts["probed"] += 1

    async def _look(self, who: Who, body: bytes) -> HttpResponse | None:
        """A search that is judged like the others, but not counted in the figures."""
        floor, key = self.judge.floor(who[0]), self._keys.readers[who]
        try:
            reply = await self._connections.send(Call("POST", _SEARCH, body), key)
        except Unanswered:
            return None
        if reply.status != OK:
            return None
        self.judge.judge(who, body, reply, floor)
        return reply

    async def _write(self, due_s: float, write: Write) -> bool:
        """Whether the write is acknowledged; a failed write is repeated for a while."""
        counted = self._counting(due_s)
        call, key = self._observer.begin_write(write, time.monotonic())
        until_s, is_first = time.monotonic() + _TRIED_S, True
        while is_first or time.monotonic() < until_s:
            self.figures.requests += counted
            failure = await self._written(call, key, write, is_first=is_first)
            is_first = False
            if failure is None:
                if counted:
                    self.figures.wrote(due_s, time.monotonic())
                return True
            if counted:
                self.figures.write_failed(time.monotonic(), failure)
            await asyncio.sleep(_PAUSE_S)
        return False

    async def _written(self, call: Call, key: str, write: Write, *, is_first: bool) -> str | None:
        """The error, or None. A write without a response may have taken effect."""
        try:
            reply = await self._connections.send(call, key)
        except Unanswered as error:
            return str(error)
        is_done = self._observer.wrote(write, reply, is_first=is_first)
        return None if is_done else str(reply.status)


OK = 200
_NOBODY = "nh_a-key-that-nobody-has-made"


@dataclass(slots=True)
class Observer:
    """`nearhit loadtest` sends requests when they are due, Locust's users after their answers."""

    keys: LoadKeys
    judge: StalenessJudge
    figures: Figures

    def key(self, request: AgentRequest) -> str:
        """With which the request is sent."""
        return _NOBODY if request.is_stranger else self.keys.readers[request.who]

    def searched(
        self,
        request: AgentRequest,
        reply: HttpResponse,
        floor: int,
        due_s: float,
        *,
        is_counted: bool = True,
    ) -> None:
        """floor: the judge's of the moment when the request was sent."""
        question, figures = request.question, self.figures
        if reply.status != request.expected_status:
            if is_counted:
                figures.failed(due_s, str(reply.status))
            if request.is_stranger and reply.status == OK:
                self.judge.let_in(question.body)
            return
        if is_counted and request.is_stranger:
            figures.refused(due_s)
        elif is_counted:
            figures.answered(due_s, question.scope, reply)
        if not request.is_stranger:
            self.judge.judge(request.who, question.body, reply, floor)

    def begin_write(self, write: Write, at_s: float) -> tuple[Call, str]:
        """The call and its key; from now on the write may have taken effect."""
        self.judge.asked(write, at_s)
        return setup.call_with_access(write, self.keys, self.judge), self.keys.writers[write.tenant]

    def wrote(self, write: Write, reply: HttpResponse, *, is_first: bool = True) -> bool:
        """Whether the write is acknowledged. is_first: it was not sent before."""
        done = [200, 204]
        if isinstance(write, RemoveDocument):
            done += [202]  # removed, and its invalidation is pending
        if isinstance(write, RemoveDocument | LeaveGroup) and not is_first:
            done += [404]  # an earlier attempt did it
        if reply.status not in done:
            return False
        result = orjson.loads(reply.body) if reply.status in (200, 202) else {}
        self.judge.acknowledged(write, reply.answered_s, result.get("revision"))
        return True
