"""The soak itself: writers, askers, comparisons at work and at rest, and what befalls Redis."""

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from random import Random
from typing import Any
from zlib import crc32

import orjson

from loadtests.soak import losses, questions, stage
from loadtests.soak.audit import Audit, Floors, Seen
from loadtests.soak.client import Connection
from loadtests.soak.history import History
from loadtests.soak.oracle import Oracle
from loadtests.soak.questions import Question, Zipf
from loadtests.soak.rights import Rights
from loadtests.soak.servers import Servers
from loadtests.soak.stage import Keys, Lock
from loadtests.soak.writes import Join, Leave, Put, Remove, Share, Write

# Starting values, not measured.
_WRITERS = 2
_ASKERS = 12
_QUEUED_MAX = 4  # writes that wait for each writer
_QUESTIONS = 60  # of each tenant
_SUBJECTS_EXPONENT = 0.7
_REST_EVERY_S = 20.0
_REST_QUESTIONS = 100  # each asked of every gateway
_RECENT_MAX = 2_000
_COMPARED_SHARE = 0.1  # of the answers, while others write
_FAULT_EVERY_S = 20.0


@dataclass(frozen=True, slots=True)
class Options:
    minutes: float
    answers: int
    seed: int
    faults: bool
    balanced: bool


class Soak:
    def __init__(
        self, servers: Servers, history: History, keys: Keys, oracle: Oracle, options: Options
    ) -> None:
        self.rights = Rights()
        self.audit = Audit(self.rights)
        self.written = 0
        self.refused_s: list[float] = []  # from a loss's acknowledgement to the next answer
        self.rests = 0
        self.faults = 0
        self._servers = servers
        self._history = history
        self._keys = keys
        self._oracle = oracle
        self.options = options
        self._random = Random(options.seed)  # noqa: S311  no secret
        self._floors = Floors()
        self._lock = Lock()
        self._resting = asyncio.Lock()
        self._recent: dict[tuple[str, str, bytes], None] = {}
        self._comparing = False
        self._subjects = Zipf(history.subjects, _SUBJECTS_EXPONENT)
        self._questions = self._made_up()
        self.began_s = time.monotonic()

    async def settle(self) -> None:
        """Write the first documents, as many at once as later."""
        await self._write_all(iter(self._history.first))
        self.written = 0
        await self._learn_revisions()

    async def run(self) -> None:
        """Until time is over or enough is audited; cancelled, it leaves what was counted."""
        self.began_s = time.monotonic()
        tasks: list[Coroutine[Any, Any, None]] = [
            self._write_all(self._history.writes()),
            *(self._ask_on(number) for number in range(_ASKERS)),
            self._rest_now_and_then(),
        ]
        if self.options.faults:
            tasks.append(self._kill_redis_now_and_then())
        async with _together(tasks) as running:
            while not self.is_over:
                done, _ = await asyncio.wait(
                    running, timeout=0.2, return_when=asyncio.FIRST_EXCEPTION
                )
                for task in done:
                    task.result()
            await self._rest()

    @property
    def is_over(self) -> bool:
        enough = 0 < self.options.answers <= self.audit.counts["judged"]
        return enough or self.seconds >= self.options.minutes * 60

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began_s

    def _made_up(self) -> Mapping[str, Zipf[Question]]:
        """By tenant: the words of its own documents, and of those that all may read."""
        documents = self._history.world.documents.items()
        return {
            tenant: Zipf(
                questions.made_of(
                    [
                        one.text
                        for (owner, _), one in sorted(documents)
                        if owner == tenant or "public" in one.readers
                    ],
                    _QUESTIONS,
                    self._random,
                )
            )
            for tenant in self._history.tenants
        }

    async def _write_all(self, writes: Iterator[Write]) -> None:
        """Each document's, and each member's, in their order."""
        queues: list[asyncio.Queue[Write | None]] = [
            asyncio.Queue(_QUEUED_MAX) for _ in range(_WRITERS)
        ]
        tasks = [self._write_on(number, queue) for number, queue in enumerate(queues)]
        async with _together(tasks) as running:
            for write in writes:
                await queues[crc32(_about(write).encode()) % _WRITERS].put(write)
            for queue in queues:
                await queue.put(None)
            await asyncio.gather(*running)

    async def _write_on(self, number: int, queue: "asyncio.Queue[Write | None]") -> None:
        gateways = [Connection(way) for way in self._servers.ways]
        turn = number
        while (write := await queue.get()) is not None:
            turn += 1
            async with self._lock:
                await self._write_and_look(write, turn, gateways)

    async def _write_and_look(
        self, write: Write, turn: int, gateways: Sequence[Connection]
    ) -> None:
        """Whoever loses a document by the write has just seen it, and asks again at once."""
        loss = losses.of(write, self.rights, self._keys.subjects)
        if loss is None:
            await self._write(write, gateways[turn % len(gateways)])
            return
        question = Question(loss.question)
        before = [
            await self._ask(loss.tenant, loss.subject, question, number, connection)
            for number, connection in enumerate(gateways)
        ]
        await self._write(write, gateways[turn % len(gateways)])
        acknowledged_s = time.monotonic()
        other = (turn + 1) % len(gateways)
        after = await self._ask(loss.tenant, loss.subject, question, other, gateways[other])
        if after is None or not all(seen and loss.document_id in _shown(seen) for seen in before):
            return
        self.audit.judge(after)
        self.audit.counts["lost"] += 1
        self.audit.counts["lost_and_still_shown"] += loss.document_id in _shown(after)
        self.refused_s.append(after.answered_s - acknowledged_s)

    async def _write(self, write: Write, connection: Connection) -> None:
        is_public = self.rights.asked(write, time.monotonic())
        reply = await stage.ask_for(write, connection, self._keys, self.rights)
        now_s = time.monotonic()
        # 202: a deletion that is done, though Redis was too far away to drop what it has doomed.
        if reply.status not in (200, 204) and not (
            reply.status == 202 and isinstance(write, Remove)
        ):
            self.audit.failed(f"{type(write).__name__} {_about(write)}: {reply.status}")
            return
        if reply.status != 204:
            revision = orjson.loads(reply.body)["revision"]
            self._floors.acknowledged(write.tenant, revision, now_s)
        if is_public:
            self._floors.one_more("public", now_s)
        self.rights.acknowledged(write, now_s)
        self.written += 1

    async def _ask_on(self, number: int) -> None:
        gateways = [Connection(way) for way in self._servers.ways]
        random = Random(f"{self.options.seed} {number}")  # noqa: S311  no secret
        while True:
            tenant, subject = self._subjects.draw(random)
            question = questions.perhaps_older(self._questions[tenant].draw(random), random)
            gateway = random.randrange(len(gateways))
            async with self._lock:
                groups = self.rights.changes(tenant, subject)
                seen = await self._ask(tenant, subject, question, gateway, gateways[gateway])
                if seen is None:
                    continue
                self.audit.judge(seen)
                if question.staleness_ms:
                    continue  # what the asker's groups were then is not known so exactly
                self._remember(seen)
                if random.random() < _COMPARED_SHARE and not self._comparing:
                    await self._compare_at_work(seen, groups)

    async def _ask(
        self, tenant: str, subject: str, question: Question, gateway: int, connection: Connection
    ) -> Seen | None:
        key = self._keys.subjects[tenant, subject]
        asked_s = time.monotonic() - question.staleness_ms / 1000
        floors = {name: self._floors.at(name, asked_s) for name in (tenant, "public")}
        reply = await connection.call("POST", "/v1/search", key, question.body)
        if reply.status != 200:
            self.audit.failed(f"search: {reply.status} {reply.body.decode(errors='replace')}")
            return None
        return Seen(
            tenant=tenant,
            subject=subject,
            question=question.body,
            gateway=gateway,
            asked_s=asked_s,
            answered_s=time.monotonic(),
            floors=floors,
            revisions=reply.revisions(tenant),
            tier=reply.tier,
            body=reply.body,
        )

    def _remember(self, seen: Seen) -> None:
        self._recent[seen.tenant, seen.subject, seen.question] = None
        if len(self._recent) > _RECENT_MAX:
            del self._recent[next(iter(self._recent))]

    async def _compare_at_work(self, seen: Seen, groups: int) -> None:
        """With a fresh search, if nothing that concerns it has been written meanwhile."""
        self._comparing = True
        try:
            fresh = await self._oracle.answer(
                seen.tenant,
                seen.subject,
                self.rights.groups(seen.tenant, seen.subject),
                seen.question,
            )
        finally:
            self._comparing = False
        if groups % 2 == 0 and groups == self.rights.changes(seen.tenant, seen.subject):
            self.audit.compare(seen, fresh, "compared_at_work")

    async def _rest_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(_REST_EVERY_S)
            await self._rest()

    async def _rest(self) -> None:
        """While nobody writes, the warm questions, of every gateway, and what each has to be."""
        gateways = [Connection(way) for way in self._servers.ways]
        async with self._resting:
            await self._lock.close()
            try:
                self._oracle.forget()
                count = min(_REST_QUESTIONS, len(self._recent))
                for asked in self._random.sample(list(self._recent), count):
                    await self._compare_at_rest(*asked, gateways)
                await self._learn_revisions()
                self.rests += 1
            finally:
                self._lock.open()
        for gateway in gateways:
            await gateway.close()

    async def _compare_at_rest(
        self, tenant: str, subject: str, body: bytes, gateways: Sequence[Connection]
    ) -> None:
        groups = self.rights.groups(tenant, subject)
        fresh = await self._oracle.answer(tenant, subject, groups, body)
        for number, connection in enumerate(gateways):
            seen = await self._ask(tenant, subject, Question(body), number, connection)
            if seen is not None:
                self.audit.compare(seen, fresh, "compared_at_rest")

    async def _learn_revisions(self) -> None:
        """What nobody is told: the revision of what is public. Nobody writes."""
        now_s = time.monotonic()
        found = await self._oracle.revisions(self._history.tenants)
        for partition, revision in found.items():
            self._floors.acknowledged(partition, revision, now_s)

    async def _kill_redis_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(_FAULT_EVERY_S * self._random.uniform(0.5, 1.5))
            self.faults += 1
            self._servers.redis.kill()
            await asyncio.sleep(self._random.uniform(0, 3))
            self._servers.redis.start()


def _shown(seen: Seen) -> set[str]:
    return {hit["document_id"] for hit in orjson.loads(seen.body)["hits"]}


def _about(write: Write) -> str:
    match write:
        case Put() | Remove() | Share():
            return f"{write.tenant} {write.document_id}"
        case Join() | Leave():
            return f"{write.tenant} {write.subject}"


@asynccontextmanager
async def _together(
    works: Sequence[Coroutine[Any, Any, None]],
) -> AsyncIterator[list["asyncio.Task[None]"]]:
    """All at once, until the end of the block."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
