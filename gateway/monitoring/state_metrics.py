"""What a process holds and what waits in PostgreSQL, sampled at intervals."""

from collections.abc import Mapping

from gateway.monitoring.metric_registry import MetricRegistry


class StateMetrics:
    def __init__(self, registry: MetricRegistry) -> None:
        self._jobs = registry.gauge(
            "jobs",
            "Jobs of all tenants that are waiting, running or failed, as PostgreSQL has them.",
            "state",
            joined="livemostrecent",
        )
        self._oldest = registry.gauge(
            "jobs_oldest_due_seconds",
            "How long the oldest waiting job has been due, in seconds; 0 without one.",
            joined="livemostrecent",
        )
        self._shards = registry.gauge(
            "resident_shards", "Shards in the memory of the workers.", joined="livesum"
        )
        self._shard_bytes = registry.gauge(
            "resident_shards_size_bytes",
            "Memory of these shards in bytes; what workers share counts for each of them.",
            joined="livesum",
        )
        self._model_entries = registry.gauge(
            "model_cache_entries",
            "Outputs of models for questions in the memory of the workers: `vector` or `rewrite`.",
            "kind",
            joined="livesum",
        )
        self._model_bytes = registry.gauge(
            "model_cache_size_bytes", "Memory of these outputs in bytes.", "kind", joined="livesum"
        )

    def jobs(self, by_state: Mapping[str, int], oldest_due_s: float) -> None:
        for state, number in by_state.items():
            self._jobs.labels(state).set(number)
        self._oldest.set(oldest_due_s)

    def shards(self, number: int, size_bytes: int) -> None:
        self._shards.set(number)
        self._shard_bytes.set(size_bytes)

    def model_caches(self, sizes: Mapping[str, tuple[int, int]]) -> None:
        """sizes: by kind, the number of outputs and their bytes."""
        for kind, (entries, size_bytes) in sizes.items():
            self._model_entries.labels(kind).set(entries)
            self._model_bytes.labels(kind).set(size_bytes)
