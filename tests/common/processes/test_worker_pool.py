"""Worker processes that tenants share."""

import asyncio
from threading import Event

import pytest

from common.processes.bounded_process import ProcessLimits
from common.processes.module_worker import ModuleWorker, ProcessKilled
from common.processes.worker_pool import WorkerPool

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

MODULE = "tests.common.processes.sample_worker"


async def test_the_end_of_a_pool_waits_for_no_request() -> None:
    begun = Event()

    def ask_again_and_again(worker: ModuleWorker) -> int:
        worker.ask(b"wait", b"0", cpu_s=60)
        begun.set()
        ended = 0
        while ended < 10:
            try:
                worker.ask(b"wait", b"3600", cpu_s=3_600)
            except ProcessKilled:
                ended += 1
        return ended

    def make() -> ModuleWorker:
        return ModuleWorker(MODULE, ProcessLimits(memory_bytes=2**28, cpu_s=60), 1_000)

    async with WorkerPool(make, 2, name="test", waiting_max=1, wait_s_max=1) as pool:
        running = asyncio.create_task(pool.run("acme", ask_again_and_again))
        await asyncio.to_thread(begun.wait)

    async with asyncio.timeout(30):
        assert await running == 10
