"""Prometheus metrics.

An answer comes from the local cache, from Redis or from a fill: `nearhit_cache_lookups_total` adds
up to the searches that reached the cache. Searches that wait for the same fill share one `computed`
event.
"""

from collections.abc import Callable
from functools import cache

from gateway.monitoring.metric_registry import MetricRegistry
from gateway.monitoring.search_metrics import SearchMetrics
from gateway.monitoring.state_metrics import StateMetrics
from gateway.monitoring.summed_histogram import SummedHistogram
from gateway.monitoring.tenant_labels import TenantLabels
from gateway.monitoring.work_metrics import WorkMetrics

_BUCKETS_S = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
_TIERS = ("memory", "redis", "miss")
# A series that begins with its first event shows no increase, so no alert would see that event.
_ALERTED = ("unavailable", "unreadable")


class Metrics:
    """The metrics of one process; labelled counters are cached, because a lookup is slow.

    tenants_max: how many tenants have a label of their own; see `TenantLabels`.
    """

    def __init__(self, tenants_max: int = 0) -> None:
        registry = self.registry = MetricRegistry()
        self.tenants = TenantLabels(tenants_max)
        self.search = SearchMetrics(registry, self.tenants)
        self.work = WorkMetrics(registry)
        self.state = StateMetrics(registry)
        requests = registry.histogram(
            "http_request_duration_seconds",
            "Duration of a request in seconds.",
            "route",
            "status",
            "tier",
            buckets=_BUCKETS_S,
        )
        lookups = registry.counter(
            "cache_lookups",
            "Searches by the cache tier that had the answer; miss: computed.",
            "tier",
        )
        events = registry.counter(
            "cache_events",
            "Events of the cache: fills, drains, dropped answers, audits, Redis unavailable, "
            "values in Redis that are altered or that no key opens (`unreadable`); and `text_…`, "
            "those of the texts that a model writes.",
            "event",
        )
        shard_events = registry.counter(
            "shard_events",
            "Events of the shards in memory, such as loaded, mapped, followed and evicted.",
            "event",
        )
        embedding = registry.histogram(
            "embedding_duration_seconds",
            "Duration of an embedder call in seconds.",
            "kind",
            buckets=_BUCKETS_S,
        )
        embedding_failures = registry.counter(
            "embedding_failures", "Embedder calls that failed.", "kind"
        )
        tokens = registry.counter(
            "embedding_tokens", "Tokens used by the embedding service.", "kind"
        )
        drains = registry.histogram(
            "cache_drain_duration_seconds", "Duration of a drain in seconds.", buckets=_BUCKETS_S
        )
        statements = registry.histogram(
            "sql_statement_duration_seconds",
            "Duration of an SQL statement in seconds.",
            "statement",
            buckets=_BUCKETS_S,
        )
        llm_tokens = registry.counter("llm_tokens", "Tokens used by the language model.", "kind")
        rag_steps = registry.counter(
            "rag_steps",
            "Steps around a search, such as rewriting, by what did them or why they failed.",
            "step",
            "outcome",
        )
        self._rag_steps = cache(rag_steps.labels)
        self.requests = SummedHistogram(requests, _BUCKETS_S)
        self._lookups = cache(lookups.labels)
        self._events = cache(events.labels)
        self._shard_events = cache(shard_events.labels)
        self._embedding = SummedHistogram(embedding, _BUCKETS_S)
        self._embedding_failures = cache(embedding_failures.labels)
        self._tokens = cache(tokens.labels)
        self._drains = drains
        # The usage meter; set later, because embedders are created before it.
        self.on_tokens: Callable[[str, int], None] | None = None
        self.collect: Callable[[], None] = lambda: None  # what others still hold; set later too
        self._statements = SummedHistogram(statements, _BUCKETS_S)
        self.statement: Callable[[str, float], None] = self._statements.observe
        self._llm_tokens = cache(llm_tokens.labels)
        self.cache_tiers = {*_TIERS}  # an extension may add one
        for event in _ALERTED:
            self._events(event)
        for kind in ("query", "batch"):
            self._embedding_failures(kind)

    def cache_event(self, event: str, amount: int = 1) -> None:
        counter = self._lookups if event in self.cache_tiers else self._events
        counter(event).inc(amount)

    def shard_event(self, event: str) -> None:
        """event: one of `resident_shards.Event`."""
        self._shard_events(event).inc()

    def drain(self, seconds: float) -> None:
        self._drains.observe(seconds)

    def embedded(self, kind: str, seconds: float) -> None:
        """kind: `query`, or `batch` for passages."""
        self._embedding.observe(kind, seconds)

    def embedding_failed(self, kind: str) -> None:
        self._embedding_failures(kind).inc()

    def embedding_tokens(self, kind: str, tokens: int) -> None:
        self._tokens(kind).inc(tokens)
        if self.on_tokens is not None:
            self.on_tokens(kind, tokens)

    def rag_step(self, step: str, outcome: str) -> None:
        """outcome: `model`, `deadline`, …: one of a few fixed values, never a caller's text."""
        self._rag_steps(step, outcome).inc()

    def llm_tokens(self, operation: str, input_tokens: int, output_tokens: int) -> None:
        """operation: of a language model, as `answer`; see `UsageMeter`."""
        self._llm_tokens("input").inc(input_tokens)
        self._llm_tokens("output").inc(output_tokens)
        if self.on_tokens is not None:
            self.on_tokens(f"{operation}_input", input_tokens)
            self.on_tokens(f"{operation}_output", output_tokens)

    def flush(self) -> None:
        """Add what is not yet added."""
        self.collect()
        self.search.flush()
        for histogram in (self.requests, self._embedding, self._statements):
            histogram.flush()
