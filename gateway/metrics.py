"""Prometheus metrics.

An answer comes from the local cache, from Redis or from a fill: `nearhit_answers_total` adds up to
the searches that reached the cache. Searches that wait for the same fill share one `computed`
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
            "request_seconds", "Duration of a request in seconds.", "route", "status", "tier"
        )
        answers = self._counter("answers", "Answers by cache tier; miss: computed.", "tier")
        events = self._counter(
            "cache_events",
            "Events of the cache: fills, drains, dropped answers, audits, Redis unavailable.",
            "event",
        )
        embedding = self._histogram(
            "embedding_seconds", "Duration of an embedder call in seconds.", "kind"
        )
        tokens = self._counter("embedding_tokens", "Tokens used by the embedding service.", "kind")
        drains = self._histogram("drain_seconds", "Duration of a drain in seconds.")
        statements = self._histogram(
            "statement_seconds", "Duration of an SQL statement in seconds.", "statement"
        )
        cuts = self._counter(
            "model_cuts", "Texts that a model was to cut into chunks, by what cut them.", "by"
        )
        summaries = self._counter(
            "model_summaries", "Summaries that a model was to write, by what wrote them.", "by"
        )
        chat = self._counter("chat_tokens", "Tokens used by the language model.", "kind")
        assists = self._counter(
            "assists",
            "Steps around a search, such as rewriting, by what did them or why they failed.",
            "assist",
            "by",
        )
        self._assists = cache(assists.labels)
        self._requests = cache(requests.labels)
        self._answers = cache(answers.labels)
        self._events = cache(events.labels)
        self._embedding = cache(embedding.labels)
        self._tokens = cache(tokens.labels)
        self._drains = drains
        # The usage meter; set later, because embedders are created before it.
        self.on_tokens: Callable[[str, int], None] | None = None
        self._statements = cache(statements.labels)
        self._cuts = cache(cuts.labels)
        self._summaries = cache(summaries.labels)
        self._chat = cache(chat.labels)

    def request(self, route: str, status: int, tier: str, seconds: float) -> None:
        self._requests(route, status, tier).observe(seconds)

    def cache_event(self, event: str, amount: int = 1) -> None:
        counter = self._answers if event in _TIERS else self._events
        counter(event).inc(amount)

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

    def model_cut(self, by: str) -> None:
        """by: `model`, or `structure` if the model failed."""
        self._cuts(by).inc()

    def model_summary(self, by: str) -> None:
        """by: `model`, or `extract` if the model failed."""
        self._summaries(by).inc()

    def assist(self, assist: str, by: str) -> None:
        """by: `model`, `deadline`, …: one of a few fixed values, never a caller's text."""
        self._assists(assist, by).inc()

    def chat_tokens(self, operation: str, read: int, written: int) -> None:
        """operation: one of `usage_meter.OPERATIONS`, for the usage meter."""
        self._chat("read").inc(read)
        self._chat("written").inc(written)
        if self.on_tokens is not None:
            self.on_tokens(f"{operation}_read", read)
            self.on_tokens(f"{operation}_written", written)

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
