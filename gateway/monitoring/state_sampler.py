"""Samples what waits in PostgreSQL and what this process holds, for the gauges."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from gateway.monitoring.state_metrics import StateMetrics
from gateway.repeated_reading import repeated_reading
from index.jobs.job_queue import JobQueue
from index.postgres.database import Database
from index.regions import standbys
from index.resident.resident_shards import ResidentShards
from index.sources.source_store import SourceStore

EVERY_S = 15.0  # Prometheus reads no more often by default


class ModelOutputs(Protocol):
    """`gateway.caching.model_caches.ModelCaches`."""

    async def follow(self) -> None: ...

    def sizes(self) -> Mapping[str, tuple[int, int]]: ...


class StateSampler:
    """holds_read_lease: whether this process holds one now."""

    def __init__(
        self,
        metrics: StateMetrics,
        database: Database,
        jobs: JobQueue,
        sources: SourceStore,
        shards: ResidentShards,
        models: ModelOutputs,
        holds_read_lease: Callable[[], bool],
        *,
        every_s: float = EVERY_S,
    ) -> None:
        self._metrics = metrics
        self._database = database
        self._jobs = jobs
        self._sources = sources
        self._shards = shards
        self._models = models
        self._holds_read_lease = holds_read_lease
        self._every_s = every_s

    def running(self) -> AbstractAsyncContextManager[None]:
        """Sample now and at intervals during the block; a failure keeps the gauges' last values."""
        return repeated_reading("metrics", self.sample, every_s=self._every_s)

    async def sample(self) -> None:
        """Set all gauges. Raises `DatabaseUnavailable` after those of this process are set."""
        self._metrics.shards(len(self._shards.versions()), self._shards.size_bytes)
        await self._models.follow()
        self._metrics.model_caches(self._models.sizes())
        self._metrics.read_lease(is_held=self._holds_read_lease())
        counts = await self._jobs.counts()
        self._metrics.jobs(counts.by_state, counts.oldest_due_s)
        self._metrics.sources(await self._sources.count_pending())
        statuses = await standbys.statuses(self._database)
        # PostgreSQL tells no lag of a standby that has replayed everything.
        self._metrics.standbys(
            {each.name: each.lag_s or 0.0 for each in statuses if each.state == "streaming"}
        )
