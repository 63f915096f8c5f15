"""What all tasks of a soak share: the servers, the model, the audit and the locks."""

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from loadtests.load.connection_pool import ConnectionPool, Unanswered
from loadtests.load.request import Call
from loadtests.load.response import HttpResponse
from loadtests.servers.gateway import GatewayProcess
from loadtests.servers.worker import WorkerProcess
from loadtests.soak.audit import Audit
from loadtests.soak.connections import connect
from loadtests.soak.model.state import Outages, SoakState
from loadtests.soak.oracle import Oracle
from loadtests.soak.stage import RestLock

_POLL_S = 0.05


class JudgedServers(Protocol):
    """The servers whose answers are judged.

    ways: the URLs for requests: of each gateway, or a balancer's as many times.
    """

    @property
    def gateways(self) -> Sequence[GatewayProcess]: ...
    @property
    def ways(self) -> Sequence[str]: ...
    @property
    def worker(self) -> WorkerProcess: ...
    @property
    def admin_key(self) -> str: ...
    @property
    def database_url(self) -> str: ...


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

    def connections(self) -> list[ConnectionPool]:
        """One to each gateway, or as many to the balancer."""
        return [connect(way) for way in self.servers.ways]

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
