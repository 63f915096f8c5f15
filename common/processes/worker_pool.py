"""Worker processes that tenants share: none uses more than its share of them."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Concatenate, Generic, ParamSpec, Self, TypeVar

from common.errors import Saturated
from common.processes.module_worker import ModuleWorker, ProcessKilled
from common.shares.threads import FairThreads

P = ParamSpec("P")
T = TypeVar("T")
Worker = TypeVar("Worker", bound=ModuleWorker)


class WorkerPool(Generic[Worker]):
    """A context manager that ends the processes, each of which starts at its first use.

    make: a worker. number: of the workers; one tenant uses at most half of them.
    waiting_max, wait_s_max: as of `FairThreads`.
    """

    def __init__(
        self,
        make: Callable[[], Worker],
        number: int,
        *,
        name: str,
        waiting_max: int,
        wait_s_max: float,
    ) -> None:
        self._make = make
        self._threads = FairThreads(
            number, name=name, waiting_max=waiting_max, wait_s_max=wait_s_max
        )
        self._made: list[Worker] = []
        self._idle: list[Worker] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._threads.close()
        for worker in self._made:  # Python's end waits for their threads
            worker.kill(for_good=True)
        await asyncio.to_thread(self._close)

    async def run(
        self,
        tenant: str,
        function: Callable[Concatenate[Worker, P], T],
        *arguments: P.args,
        **keywords: P.kwargs,
    ) -> T:
        """Call the function with a worker in a thread; as `FairThreads.run`.

        Raises `Saturated` too if the worker's process is killed: the machine may lack memory.
        """

        def call() -> T:
            worker = self._idle.pop() if self._idle else self._add()
            try:
                return function(worker, *arguments, **keywords)
            finally:
                self._idle.append(worker)

        try:
            return await self._threads.run(tenant, call)
        except ProcessKilled:
            raise Saturated(tenant, by_itself=False) from None

    def _add(self) -> Worker:
        worker = self._make()
        self._made.append(worker)
        return worker

    def _close(self) -> None:
        for worker in self._idle:
            worker.close()
