"""What the service counts, in Prometheus's form.

An answer is got from memory, from Redis or by a fill: `nearhit_answers_total` adds up to the
searches that reached the cache.
"""

import os
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

_BUCKETS_S = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
_TIERS = ("memory", "redis", "miss")


@dataclass(frozen=True, slots=True)
class Metrics:
    registry: CollectorRegistry
    requests: Counter
    latency: Histogram
    answers: Counter
    cache: Counter
    embedding: Histogram
    statements: Histogram

    def request(self, route: str, status: int, tier: str, seconds: float) -> None:
        self.requests.labels(route, status, tier).inc()
        self.latency.labels(route, tier).observe(seconds)

    def cache_event(self, event: str) -> None:
        if event in _TIERS:
            self.answers.labels(event).inc()
        else:
            self.cache.labels(event).inc()

    def statement(self, name: str, seconds: float) -> None:
        self.statements.labels(name).observe(seconds)

    def embedded(self, texts: int, seconds: float) -> None:
        self.embedding.labels("query" if texts == 1 else "batch").observe(seconds)


def create() -> Metrics:
    registry = CollectorRegistry()
    return Metrics(
        registry=registry,
        requests=Counter(
            "nearhit_requests", "Requests.", ("route", "status", "tier"), registry=registry
        ),
        latency=Histogram(
            "nearhit_request_seconds",
            "Time from the first byte of a request to the last of its answer.",
            ("route", "tier"),
            buckets=_BUCKETS_S,
            registry=registry,
        ),
        answers=Counter(
            "nearhit_answers", "Answers by where they came from.", ("tier",), registry=registry
        ),
        cache=Counter(
            "nearhit_cache_events",
            "Fills stored and refused, drains, resets, and Redis being away.",
            ("event",),
            registry=registry,
        ),
        embedding=Histogram(
            "nearhit_embedding_seconds",
            "Time of one call to the embedder.",
            ("kind",),
            buckets=_BUCKETS_S,
            registry=registry,
        ),
        statements=Histogram(
            "nearhit_statement_seconds",
            "Time of one SQL statement.",
            ("statement",),
            buckets=_BUCKETS_S,
            registry=registry,
        ),
    )


def exposition(metrics: Metrics) -> bytes:
    """All workers' counts, where the command that started them has set up a folder for it."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return generate_latest(metrics.registry)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # the package types it so
    return generate_latest(registry)
