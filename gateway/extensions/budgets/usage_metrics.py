"""What tenants use of model services, and how large their documents are."""

from gateway.extension import Metrics

_CHUNKS = (1, 2, 5, 10, 20, 50, 100, 500)


class UsageMetrics:
    def __init__(self, metrics: Metrics) -> None:
        registry, self._tenants = metrics.registry, metrics.tenants
        self._tokens = registry.counter(
            "usage_tokens",
            "Tokens of model services that were billed to a tenant, by operation.",
            "tenant",
            "operation",
        )
        self._cost = registry.counter(
            "usage_cost",
            "Cost of these tokens, in the currency of `NEARHIT_PRICES`.",
            "tenant",
            "operation",
        )
        self._chunks = registry.histogram(
            "document_chunks", "Chunks of a document that was written.", buckets=_CHUNKS
        )

    def tokens(self, tenant: str, operation: str, tokens: int, cost: float) -> None:
        labels = self._tenants.label(tenant), operation
        self._tokens.labels(*labels).inc(tokens)
        self._cost.labels(*labels).inc(cost)

    def document(self, chunks: int) -> None:
        self._chunks.observe(chunks)
