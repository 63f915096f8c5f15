"""What all tasks of a soak share: the servers, the model, the audit and the locks."""

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from loadtests.load.connection_pool import ConnectionPool, Unanswered, connect
from loadtests.load.request import Call
from loadtests.load.response import HttpResponse
from loadtests.servers.gateway import GatewayProcess
from loadtests.servers.program import Program
from loadtests.soak import reads
from loadtests.soak.audit import Audit, ObservedAnswer
from loadtests.soak.model.credentials import IssuedCredential
from loadtests.soak.model.state import Outages, SoakState
from loadtests.soak.oracle import Oracle
from loadtests.soak.reads import Read

_POLL_S = 0.05
_OK, _UNAUTHORIZED = 200, 401


class JudgedServers(Protocol):
    """The servers whose answers are judged.

    ways: the URLs for requests: of each gateway, or a balancer's as many times.
    """

    @property
    def gateways(self) -> Sequence[GatewayProcess]: ...
    @property
    def ways(self) -> Sequence[str]: ...
    @property
    def worker(self) -> Program: ...
    @property
    def admin_key(self) -> str: ...
    @property
    def database_url(self) -> str: ...


class Way(NamedTuple):
    """A connection to a gateway, which has this number, or to the balancer."""

    number: int
    connection: ConnectionPool


class RestLock:
    """Many tasks hold it at once; `close` pauses them."""

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._open.set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._working = 0

    async def __aenter__(self) -> None:
        await self._open.wait()
        self._working += 1
        self._idle.clear()

    async def __aexit__(self, *_: object) -> None:
        self._working -= 1
        if not self._working:
            self._idle.set()

    async def close(self) -> None:
        """Let no task begin; returns when none is working."""
        self._open.clear()
        await self._idle.wait()

    def open(self) -> None:
        self._open.set()


@dataclass(slots=True)
class SoakContext:
    """admins: each tenant's administrator key. calm: held during a fault or a pause."""

    servers: JudgedServers
    state: SoakState
    audit: Audit
    oracle: Oracle
    admins: Mapping[str, str]
    outages: Outages = field(default_factory=Outages)
    lock: RestLock = field(default_factory=RestLock)
    calm: asyncio.Lock = field(default_factory=asyncio.Lock)

    def ways(self) -> list[Way]:
        """One to each gateway, or as many to the balancer."""
        return [Way(number, connect(url)) for number, url in enumerate(self.servers.ways)]

    async def send(
        self, connection: ConnectionPool, call: Call, key: str, what: str
    ) -> HttpResponse | None:
        """None if there was no response or a server error, which is counted."""
        asked_s = time.monotonic()
        try:
            reply = await connection.send(call, key)
        except Unanswered as error:
            self.fail(f"{what}: {error}", what, asked_s)
            return None
        if reply.status >= 500:
            self.fail(f"{what}: {reply.summary}", what, asked_s)
            return None
        return reply

    async def ask(
        self, way: Way, credential: IssuedCredential, read: Read
    ) -> ObservedAnswer | None:
        """None if the read was rejected, or PostgreSQL's history has changed meanwhile."""
        state, epoch, viewer = self.state, self.state.epoch, credential.viewer
        asked_s = time.monotonic() - read.staleness_ms / 1000
        floors = {name: state.floors.at(name, asked_s) for name in (viewer.tenant, "public")}
        reply = await self.send(way.connection, read.call, credential.secret, read.path)
        answered_s = time.monotonic()
        if reply is None:
            return None
        if epoch != state.epoch or asked_s < state.epoch_s:
            self.audit.counts["not_judged"] += 1
            return None
        if not self._is_let_in(credential, read, reply, asked_s, answered_s):
            return None
        content = reads.shown(read, reply)
        if content is None:
            self.fail(f"{read.path}: {reply.summary}", read.path, asked_s)
            return None
        return ObservedAnswer(
            viewer=viewer,
            read=read,
            gateway=way.number,
            asked_s=asked_s,
            answered_s=answered_s,
            floors=floors,
            revisions=reply.revisions(viewer.tenant),
            tier=reply.tier,
            shown=content,
            is_degraded=reply.is_degraded,
        )

    async def compare(self, answer: ObservedAnswer, kind: str) -> None:
        """Compare with a fresh search, unless a write that matters came between."""
        who, state = (answer.viewer.tenant, answer.viewer.subject), self.state
        epoch, changes = state.epoch, state.rights.changes(*who)
        groups, counting = state.rights.groups(*who), answer.viewer.groups
        groups = groups if counting is None else groups & counting
        fresh = await self.oracle.read(answer.viewer, groups, answer.read)
        is_same = changes % 2 == 0 and changes == state.rights.changes(*who)
        if fresh is not None and is_same and epoch == state.epoch:
            self.audit.compare(answer, fresh, kind)

    def _is_let_in(
        self,
        credential: IssuedCredential,
        read: Read,
        reply: HttpResponse,
        asked_s: float,
        answered_s: float,
    ) -> bool:
        """Whether the credential was accepted; a wrong decision is a violation."""
        standing = credential.standing(asked_s, answered_s)
        if reply.status == _UNAUTHORIZED:
            self.audit.counts["refused"] += standing == "ended"
            if standing == "works":
                self.fail(f"{read.path}: 401 for a credential that works", read.path, asked_s)
            return False
        if standing == "ended" and reply.status == _OK:
            self.audit.let_in(credential.viewer, read.path, credential.reasons(asked_s))
        return standing != "ended"

    def fail(self, detail: str, what: str, asked_s: float) -> None:
        """Count an error, unless a fault since asked_s explains it."""
        if self.outages.explain(asked_s, time.monotonic()):
            self.audit.by_fault[self.audit.fault, "excused"] += 1
        else:
            self.audit.failed(detail, what)

    async def in_epoch(self) -> int:
        """The current epoch; waits while PostgreSQL is between two histories."""
        while self.state.epoch_s == float("inf"):
            await asyncio.sleep(_POLL_S)
        return self.state.epoch

    @asynccontextmanager
    async def at_rest(self) -> AsyncIterator[None]:
        """Pause all tasks."""
        await self.lock.close()
        try:
            yield
        finally:
            self.lock.open()


@asynccontextmanager
async def together(
    works: Sequence[Coroutine[Any, Any, None]],
) -> AsyncIterator[list["asyncio.Task[None]"]]:
    """Several coroutines as tasks, until the end of the block."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
