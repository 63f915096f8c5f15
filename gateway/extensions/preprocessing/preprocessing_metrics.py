"""What the language model has made of documents, and what took its place."""

from gateway.extension import Metrics


class PreprocessingMetrics:
    def __init__(self, metrics: Metrics) -> None:
        self._chunkings = metrics.registry.counter(
            "llm_chunkings",
            "Chunkings of a text by a language model, by outcome: `model`, or the fallback.",
            "outcome",
        )
        self._summaries = metrics.registry.counter(
            "llm_summaries",
            "Summaries by a language model, by outcome: `model`, or the fallback.",
            "outcome",
        )

    def chunking(self, outcome: str) -> None:
        """outcome: `model`, or `structure` if the model failed."""
        self._chunkings.labels(outcome).inc()

    def summary(self, outcome: str) -> None:
        """outcome: `model`, or `extract` if the model failed."""
        self._summaries.labels(outcome).inc()
