"""How well searches are answered: without a hit, without a sure one, with which best score.

Computed answers cost a few dict updates; the families get the sums once a second.
"""

from typing import Literal, TypeAlias

from gateway.monitoring.metric_registry import MetricRegistry
from gateway.monitoring.summed_histogram import SummedHistogram
from gateway.monitoring.tenant_labels import TenantLabels

Outcome: TypeAlias = Literal["confident", "low_confidence", "empty"]

_HITS = (0, 1, 2, 3, 5, 10, 20, 50, 100)
_SCORES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_EMPTY = b'{"hits":[]'  # how the body of an answer without hits begins
# The end of a low-confidence answer's body, which contains no text of a document.
LOW_CONFIDENCE_SUFFIX = b'"low_confidence":true}'


def outcome_of(body: bytes) -> Outcome:
    if body.startswith(_EMPTY):
        return "empty"
    return "low_confidence" if body.endswith(LOW_CONFIDENCE_SUFFIX) else "confident"


class SearchMetrics:
    """Answers by outcome, from all tiers; hits and scores of computed answers alone."""

    def __init__(self, registry: MetricRegistry, tenants: TenantLabels) -> None:
        self._tenants = tenants
        self._answers = registry.counter(
            "search_answers",
            "Answers to searches, cached ones too. empty: without a hit; low_confidence: no hit "
            "has the score that a confident answer needs; confident: all others.",
            "tenant",
            "outcome",
        )
        hits = registry.histogram(
            "search_hits", "Hits of a computed answer.", "tenant", buckets=_HITS
        )
        scores = registry.histogram(
            "search_best_score",
            "Score of the best hit of a computed answer that has one; fusion `absolute`.",
            "tenant",
            buckets=_SCORES,
        )
        self._hits = SummedHistogram(hits, _HITS)
        self._scores = SummedHistogram(scores, _SCORES)
        self._degraded = registry.counter(
            "search_degraded", "Answers computed without the embedder or a word list."
        )

    def served(self, tenant: str, outcome: Outcome, answers: int) -> None:
        """Count answers that callers got."""
        self._answers.labels(self._tenants.label(tenant), outcome).inc(answers)

    def computed(
        self, tenant: str, *, hits: int, best_score: float | None, is_degraded: bool
    ) -> None:
        """Observe a computed answer. Only on an event loop.

        best_score: None if it has none on the absolute scale.
        """
        label = self._tenants.label(tenant)
        self._hits.observe(label, hits)
        if best_score is not None:
            self._scores.observe(label, best_score)
        if is_degraded:
            self._degraded.inc()

    def flush(self) -> None:
        """Add to the histograms what is summed and not yet added."""
        self._hits.flush()
        self._scores.flush()
