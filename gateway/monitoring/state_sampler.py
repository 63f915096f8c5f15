"""Samples what waits in PostgreSQL and what this process holds, and says that the process runs."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Protocol

from common.errors import Saturated
from common.version import VERSION
from gateway.background.repeated_reading import repeated_reading
from gateway.monitoring.state_metrics import StateMetrics
from index.errors import IndexStoreError
from index.jobs.job_queue import JobQueue
from index.jobs.process_store import ProcessKind, ProcessStore
from index.resident.resident_shards import ResidentShards

EVERY_S = 15.0  # Prometheus reads no more often by default
_FORGET_S_MAX = 1.0  # a process that ends in an outage stays in the list as silent


class ModelOutputs(Protocol):
    """`gateway.caching.model_caches.ModelCaches`."""

    async def follow(self) -> None: ...

    def sizes(self) -> Mapping[str, tuple[int, int]]: ...


class StateSampler:
    """is_warm: whether a gateway is. also: what extensions sample."""

    def __init__(
        self,
        metrics: StateMetrics,
        jobs: JobQueue,
        shards: ResidentShards,
        models: ModelOutputs,
        processes: ProcessStore,
        is_warm: Callable[[], bool],
        *,
        every_s: float = EVERY_S,
    ) -> None:
        self._metrics = metrics
        self._jobs = jobs
        self._shards = shards
        self._models = models
        self._processes = processes
        self._is_warm = is_warm
        self._every_s = every_s
        self.also: list[Callable[[], Awaitable[None]]] = []

    @asynccontextmanager
    async def running(self, kind: ProcessKind) -> AsyncIterator[None]:
        """Sample now and at intervals during the block; a failure keeps the gauges' last values.

        kind: of this process, which is in the list of those that run until the block ends.
        """
        process, started_at = f"{socket.gethostname()}:{os.getpid()}", datetime.now(UTC)

        async def read() -> None:
            await self.sample()
            is_warm = self._is_warm() if kind == "gateway" else None
            await self._processes.announce(process, kind, VERSION, started_at, is_warm=is_warm)

        async with repeated_reading("metrics", read, every_s=self._every_s):
            yield
        with suppress(IndexStoreError, Saturated, TimeoutError):
            async with asyncio.timeout(_FORGET_S_MAX):
                await self._processes.forget(process)

    async def sample(self) -> None:
        """Set all gauges. Raises `DatabaseUnavailable` after those of this process are set."""
        self._metrics.shards(len(self._shards.versions()), self._shards.size_bytes)
        await self._models.follow()
        self._metrics.model_caches(self._models.sizes())
        counts = await self._jobs.counts()
        self._metrics.jobs(counts.by_state, counts.oldest_due_s)
        for sample in self.also:
            await sample()
