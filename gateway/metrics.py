"""Prometheus metrics.

An answer comes from the local cache, from Redis or from a fill: `nearhit_cache_lookups_total` adds
up to the searches that reached the cache. Searches that wait for the same fill share one `computed`
event.
"""

import os
from collections.abc import Callable
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

_BUCKETS_S = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
_TIERS = ("memory", "redis", "semantic", "miss")


class Metrics:
    """The metrics of one process; labelled counters are cached, because a lookup is slow."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        requests = self._histogram(
            "http_request_duration_seconds",
            "Duration of a request in seconds.",
            "route",
            "status",
            "tier",
        )
        lookups = self._counter(
            "cache_lookups",
            "Searches by the cache tier that had the answer; miss: computed.",
            "tier",
        )
        events = self._counter(
            "cache_events",
            "Events of the cache: fills, drains, dropped answers, audits, Redis unavailable.",
            "event",
        )
        shard_events = self._counter(
            "shard_events",
            "Events of the shards in memory, such as loaded, mapped, followed and evicted.",
            "event",
        )
        standby_reads = self._counter(
            "standby_reads",
            "Reads that may go to the region's standby, by its outcome: standby, behind, "
            "unavailable; those of the last two go to the primary.",
            "outcome",
        )
        embedding = self._histogram(
            "embedding_duration_seconds", "Duration of an embedder call in seconds.", "kind"
        )
        tokens = self._counter("embedding_tokens", "Tokens used by the embedding service.", "kind")
        drains = self._histogram("cache_drain_duration_seconds", "Duration of a drain in seconds.")
        statements = self._histogram(
            "sql_statement_duration_seconds",
            "Duration of an SQL statement in seconds.",
            "statement",
        )
        chunkings = self._counter(
            "llm_chunkings",
            "Chunkings of a text by a language model, by outcome: `model`, or the fallback.",
            "outcome",
        )
        summaries = self._counter(
            "llm_summaries",
            "Summaries by a language model, by outcome: `model`, or the fallback.",
            "outcome",
        )
        llm_tokens = self._counter("llm_tokens", "Tokens used by the language model.", "kind")
        rag_steps = self._counter(
            "rag_steps",
            "Steps around a search, such as rewriting, by what did them or why they failed.",
            "step",
            "outcome",
        )
        self._rag_steps = cache(rag_steps.labels)
        self._requests = cache(requests.labels)
        self._lookups = cache(lookups.labels)
        self._events = cache(events.labels)
        self._shard_events = cache(shard_events.labels)
        self._standby_reads = cache(standby_reads.labels)
        self._embedding = cache(embedding.labels)
        self._tokens = cache(tokens.labels)
        self._drains = drains
        # The usage meter; set later, because embedders are created before it.
        self.on_tokens: Callable[[str, int], None] | None = None
        self._statements = cache(statements.labels)
        self._chunkings = cache(chunkings.labels)
        self._summaries = cache(summaries.labels)
        self._llm_tokens = cache(llm_tokens.labels)

    def request(self, route: str, status: int, tier: str, seconds: float) -> None:
        self._requests(route, status, tier).observe(seconds)

    def cache_event(self, event: str, amount: int = 1) -> None:
        counter = self._lookups if event in _TIERS else self._events
        counter(event).inc(amount)

    def shard_event(self, event: str) -> None:
        """event: one of `resident_shards.Event`."""
        self._shard_events(event).inc()

    def standby_read(self, outcome: str) -> None:
        """outcome: see `regions.standby`."""
        self._standby_reads(outcome).inc()

    def drain(self, seconds: float) -> None:
        self._drains.observe(seconds)

    def statement(self, name: str, seconds: float) -> None:
        self._statements(name).observe(seconds)

    def embedded(self, kind: str, seconds: float) -> None:
        """kind: `query`, or `batch` for passages."""
        self._embedding(kind).observe(seconds)

    def embedding_tokens(self, kind: str, tokens: int) -> None:
        self._tokens(kind).inc(tokens)
        if self.on_tokens is not None:
            self.on_tokens(kind, tokens)

    def llm_chunking(self, outcome: str) -> None:
        """outcome: `model`, or `structure` if the model failed."""
        self._chunkings(outcome).inc()

    def llm_summary(self, outcome: str) -> None:
        """outcome: `model`, or `extract` if the model failed."""
        self._summaries(outcome).inc()

    def rag_step(self, step: str, outcome: str) -> None:
        """outcome: `model`, `deadline`, …: one of a few fixed values, never a caller's text."""
        self._rag_steps(step, outcome).inc()

    def llm_tokens(self, operation: str, input_tokens: int, output_tokens: int) -> None:
        """operation: one of `usage_meter.OPERATIONS`, for the usage meter."""
        self._llm_tokens("input").inc(input_tokens)
        self._llm_tokens("output").inc(output_tokens)
        if self.on_tokens is not None:
            self.on_tokens(f"{operation}_input", input_tokens)
            self.on_tokens(f"{operation}_output", output_tokens)

    def exposition(self) -> bytes:
        """The metrics as Prometheus text, summed over all workers if they share a folder."""
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            return generate_latest(self._registry)
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # the package has no annotation
        return generate_latest(registry)

    def _counter(self, name: str, help_text: str, *labels: str) -> Counter:
        return Counter(f"nearhit_{name}", help_text, labels, registry=self._registry)

    def _histogram(self, name: str, help_text: str, *labels: str) -> Histogram:
        return Histogram(
            f"nearhit_{name}", help_text, labels, buckets=_BUCKETS_S, registry=self._registry
        )
