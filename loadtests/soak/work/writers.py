"""Writers: they repeat each write until it is acknowledged, in order per document and member."""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import orjson

from loadtests.load.figures import Latencies
from loadtests.load.response import HttpResponse
from loadtests.soak import reads
from loadtests.soak.audit import ObservedAnswer
from loadtests.soak.model.state import QueuedWrite
from loadtests.soak.reads import PathName, Read
from loadtests.soak.work.context import SoakContext, Way, together
from loadtests.workload import rights
from loadtests.workload.rights import Loss
from loadtests.workload.viewer import source_of
from loadtests.workload.writes import (
    JoinGroup,
    LeaveGroup,
    PutDocument,
    RemoveDocument,
    ShareDocument,
    Write,
    about,
    call_of,
    label_of,
    lane_of,
)

# Starting values, not measured.
_WAITING_MAX = 4  # writes that wait for each writer
_AGAIN_S = 0.1
_PROBED: tuple[PathName, ...] = (
    *("search", "search", "search", "batch", "mcp search", "mcp fetch"),
    *("vector store", "document", "documents"),
)
_MISSING = 404
_DONE = (200, 202, 204)
_REFUSALS_MAX = 3


class Writers:
    """refused: from the acknowledgement of a lost access to the next answer of that subject."""

    def __init__(
        self, context: SoakContext, writers: int, turns: Sequence[int], random: Random
    ) -> None:
        """turns: the numbers of the gateways that are sent writes."""
        self.written = 0
        self.queued = 0
        self.refused = Latencies()
        self._context = context
        self._writers = writers
        self._turns = turns or range(len(context.servers.ways))
        self._random = random

    async def write_all(self, writes: Iterator[Write]) -> None:
        queues: list[asyncio.Queue[Write | None]] = [
            asyncio.Queue(_WAITING_MAX) for _ in range(self._writers)
        ]
        works = [self._write_on(number, queue) for number, queue in enumerate(queues)]
        async with together(works) as running:
            for write in writes:
                await queues[lane_of(write, self._writers)].put(write)
            for queue in queues:
                await queue.put(None)
            await asyncio.gather(*running)

    async def _write_on(self, number: int, queue: "asyncio.Queue[Write | None]") -> None:
        ways, turn = self._context.ways(), number
        while (write := await queue.get()) is not None:
            turn += 1
            async with self._context.lock:
                await self._write_and_look(write, turn, ways)

    async def _write_and_look(self, write: Write, turn: int, ways: Sequence[Way]) -> None:
        """A subject that loses access by the write reads the document right before and after it."""
        state = self._context.state
        loss = rights.of(write, state.rights, state.credentials.keys)
        if loss is None:
            await self._write(write, turn, ways)
            return
        read, other = self._probe(loss), ways[self._other(turn, len(ways))]
        before = [await self._ask(loss, read, way) for way in ways]
        writing = asyncio.create_task(self._write(write, turn, ways))
        try:
            await self._ask_during(writing, loss, read, other)
            is_done = await writing
        finally:
            writing.cancel()
        acknowledged_s = time.monotonic()
        after = await self._ask(loss, read, other)
        if not is_done or after is None:
            return
        self._context.audit.judge(after)
        if not all(answer and loss.document_id in _shown(answer) for answer in before):
            return
        counts = self._context.audit.counts
        counts["revoked"] += 1
        counts["revoked_and_still_shown"] += loss.document_id in _shown(after)
        self.refused.add(after.answered_s - acknowledged_s)

    def _other(self, turn: int, gateways: int) -> int:
        """A gateway that is not the one that is sent the write first; each of them in turn."""
        if gateways == 1:
            return 0
        written = self._turns[turn % len(self._turns)]
        return (written + 1 + turn % (gateways - 1)) % gateways

    async def _ask_during(
        self, writing: "asyncio.Task[bool]", loss: Loss, read: Read, way: Way
    ) -> None:
        """Read until the write ends: its drain is the moment in which a cache may be wrong."""
        state = self._context.state
        while not writing.done():
            changes = state.rights.changes(loss.tenant, loss.subject)
            answer = await self._ask(loss, read, way)
            if answer is None:
                await asyncio.wait([writing], timeout=_AGAIN_S)
                continue
            self._context.audit.judge(answer)
            is_sure = changes == state.rights.changes(loss.tenant, loss.subject)
            if is_sure and self._context.audit.is_comparable(answer):
                await self._context.compare(answer, "compared_at_work")

    def _probe(self, loss: Loss) -> Read:
        query = orjson.loads(loss.question)["query"]
        path = self._random.choice(_PROBED)
        return reads.of_query(path, query, loss.document_id, source_of(loss.document_id))

    async def _ask(self, loss: Loss, read: Read, way: Way) -> ObservedAnswer | None:
        key = self._context.state.credentials.keys[loss.tenant, loss.subject]
        return await self._context.ask(way, key, read)

    async def _write(self, write: Write, turn: int, ways: Sequence[Way]) -> bool:
        """Repeat the write until it is acknowledged; False if there is nothing left to change."""
        attempt = _Attempt(epoch=-1)
        while True:
            epoch = await self._context.in_epoch()
            if epoch != attempt.epoch:
                if not self._applies(write):
                    return False
                attempt = self._begun(write, epoch)
            attempt.number += 1
            number = self._turns[(turn + attempt.number - 1) % len(self._turns)]
            reply = await self._send(write, ways[number])
            if self._context.state.epoch == epoch and reply is not None:
                is_settled = self._settle(write, reply, attempt)
                if is_settled or attempt.refusals >= _REFUSALS_MAX:
                    return is_settled
            await asyncio.sleep(_AGAIN_S)

    def _begun(self, write: Write, epoch: int) -> "_Attempt":
        rights = self._context.state.rights
        was_certain = not isinstance(write, JoinGroup | LeaveGroup) and rights.is_certain(
            write.tenant, write.document_id
        )
        is_change = rights.is_change(write)
        is_public = rights.asked(write, time.monotonic())
        return _Attempt(epoch, was_certain=was_certain, is_public=is_public and is_change)

    def _applies(self, write: Write) -> bool:
        """Whether the write would change something, by the model."""
        rights = self._context.state.rights
        match write:
            case PutDocument():
                return True
            case ShareDocument() | RemoveDocument():
                return rights.is_there(write.tenant, write.document_id)
            case JoinGroup(tenant, group, subject):
                return group not in rights.groups(tenant, subject)
            case LeaveGroup(tenant, group, subject):
                return group in rights.groups(tenant, subject)

    async def _send(self, write: Write, way: Way) -> HttpResponse | None:
        call, key = call_of(write, self._fields(write)), self._context.admins[write.tenant]
        return await self._context.send(way.connection, call, key, label_of(write))

    def _fields(self, write: Write) -> dict[str, Any]:
        """The access fields of the write; documents have no owner."""
        rights = self._context.state.rights
        match write:
            case PutDocument(tenant, name):
                readers = sorted(rights.readers(tenant, name))
                return {"owner": None, "readers": readers, "source": source_of(name)}
            case ShareDocument(_, _, shared):
                return {"readers": sorted(shared)}
            case _:
                return {}

    def _settle(self, write: Write, reply: HttpResponse, attempt: "_Attempt") -> bool:
        """Whether the response tells the outcome of the write."""
        now_s, endings = time.monotonic(), (ShareDocument, RemoveDocument, LeaveGroup)
        if reply.status == _MISSING and isinstance(write, endings):
            self._missed(write, attempt, now_s)
            return True
        lines = reply.body.splitlines() if reply.status in _DONE else []
        content: dict[str, Any] = orjson.loads(lines[-1]) if lines else {}
        if reply.status not in _DONE or "status" in content:  # of a line of a batch
            attempt.refusals += 1
            name = label_of(write)
            self._context.fail(f"{name} {about(write)}: {reply.summary}", name, now_s)
            return False
        if isinstance(write, PutDocument) and "job_id" in content:
            self._queue(write, content["job_id"])
        else:
            self._acknowledge(write, content, attempt, now_s)
        return True

    def _queue(self, write: PutDocument, job_id: str) -> None:
        state = self._context.state
        state.rights.queued(write, job_id)
        state.jobs[job_id] = QueuedWrite(write.tenant, write.document_id, job_id)
        self.queued += 1

    def _acknowledge(
        self, write: Write, content: Mapping[str, Any], attempt: "_Attempt", now_s: float
    ) -> None:
        state = self._context.state
        if "revision" in content:
            state.floors.acknowledged(write.tenant, content["revision"], now_s)
        if attempt.is_public and attempt.number == 1:
            state.floors.one_more("public", now_s)
        state.rights.acknowledged(write, now_s)
        self.written += 1

    def _missed(
        self, write: ShareDocument | RemoveDocument | LeaveGroup, attempt: "_Attempt", now_s: float
    ) -> None:
        """A 404: an earlier attempt did it, or the document does not exist."""
        state = self._context.state
        if attempt.number > 1 and not isinstance(write, ShareDocument):
            state.rights.acknowledged(write, now_s)
            return
        if attempt.was_certain and not isinstance(write, LeaveGroup):
            self._context.audit.stored("lost", write.tenant, write.document_id, "404 for a write")
        state.rights.refused(write, now_s)


@dataclass(slots=True)
class _Attempt:
    """The attempts of one write in one epoch: how often sent, how often rejected.

    was_certain: whether the document certainly existed before. is_public: whether the write
    certainly changes public documents.
    """

    epoch: int
    number: int = 0
    refusals: int = 0
    was_certain: bool = False
    is_public: bool = False


def _shown(answer: ObservedAnswer) -> set[str]:
    return {passage.document_id for passage in answer.shown.passages}
