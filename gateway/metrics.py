"""What the service counts, in Prometheus's form.

An answer is got from memory, from Redis or by a fill: `nearhit_answers_total` adds up to the
searches that reached the cache. Those that waited for one fill share one `computed` event.
"""

import os
from collections.abc import Callable
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

_BUCKETS_S = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
_TIERS = ("memory", "redis", "semantic", "miss")


class Metrics:
    """One worker's counters, kept by their labels: looking one up costs more than counting."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        requests = self._histogram(
            "request_seconds", "Time of one request.", "route", "status", "tier"
        )
        answers = self._counter("answers", "Answers by where they came from.", "tier")
        events = self._counter(
            "cache_events",
            "Fills, drains, answers dropped, audits, Redis being away.",
            "event",
        )
        embedding = self._histogram("embedding_seconds", "Time of one embedder call.", "kind")
        tokens = self._counter("embedding_tokens", "Tokens that an embedding service used.", "kind")
        drains = self._histogram("drain_seconds", "Time of one drain, after a change or behind it.")
        statements = self._histogram("statement_seconds", "Time of one statement.", "statement")
        cuts = self._counter(
            "model_cuts", "Parts to be cut by a model, by what has cut them.", "by"
        )
        summaries = self._counter(
            "model_summaries", "Summaries that a model was to write, by who has.", "by"
        )
        chat = self._counter("chat_tokens", "Tokens that a language model used.", "kind")
        assists = self._counter(
            "assists",
            "What was asked for around a search, by who did it, or why not.",
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
        # Told of tokens too, once it is there: embedders are made before what keeps their costs.
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
        """kind: `query`, or `batch` for passages, however few."""
        self._embedding(kind).observe(seconds)

    def embedding_tokens(self, kind: str, used: int) -> None:
        self._tokens(kind).inc(used)
        if self.on_tokens is not None:
            self.on_tokens(kind, used)

    def model_cut(self, by: str) -> None:
        """by: `model`, or `structure` where a model should have, and did not."""
        self._cuts(by).inc()

    def model_summary(self, by: str) -> None:
        """by: `model`, or `extract` where a model should have, and did not."""
        self._summaries(by).inc()

    def assist(self, assist: str, by: str) -> None:
        """by: `model`, `failed deadline`, …: few words of ours, never what somebody sent."""
        self._assists(assist, by).inc()

    def chat_tokens(self, operation: str, read: int, written: int) -> None:
        """operation: one of `spending.OPERATIONS`, for who keeps what it costs."""
        self._chat("read").inc(read)
        self._chat("written").inc(written)
        if self.on_tokens is not None:
            self.on_tokens(f"{operation}_read", read)
            self.on_tokens(f"{operation}_written", written)

    def exposition(self) -> bytes:
        """All workers' counts, where the command that started them has set up a folder for it."""
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            return generate_latest(self._registry)
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # the package types it so
        return generate_latest(registry)

    def _counter(self, name: str, help_text: str, *labels: str) -> Counter:
        return Counter(f"nearhit_{name}", help_text, labels, registry=self._registry)

    def _histogram(self, name: str, help_text: str, *labels: str) -> Histogram:
        return Histogram(
            f"nearhit_{name}", help_text, labels, buckets=_BUCKETS_S, registry=self._registry
        )
