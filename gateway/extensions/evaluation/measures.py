"""How good rankings are: recall, reciprocal rank and nDCG, with intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from gateway.extensions.evaluation.judged_questions import JudgedQuestion

Vector: TypeAlias = NDArray[np.float64]

NAMES = ("recall", "mrr", "ndcg")
_RESAMPLES = 2_000
_INTERVAL = (2.5, 97.5)  # percentiles


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with the 95 % interval that resampling of the questions gives."""

    mean: Annotated[float, Field(description="the mean of the questions")]
    low: Annotated[float, Field(description="lower end of the interval")]
    high: Annotated[float, Field(description="upper end of the interval")]


def of_hits(
    question: JudgedQuestion, hits: Sequence[Mapping[str, Any]], depth: int
) -> tuple[float, float, float]:
    """Recall, reciprocal rank and nDCG of one answer, in the order of `NAMES`, each from 0 to 1.

    A second hit of the same document counts for nothing. An ideal answer of `depth` hits has at
    most as many right ones.
    """
    found, ranks = set[str](), []
    for rank, hit in enumerate(hits[:depth], start=1):
        if hit["document_id"] not in found and question.is_answered_by(hit):
            found.add(hit["document_id"])
            ranks.append(rank)
    ranks = ranks[: question.answers]
    ideal = _gain(range(1, min(question.answers, depth) + 1))
    return len(ranks) / question.answers, 1 / ranks[0] if ranks else 0.0, _gain(ranks) / ideal


def interval(values: Vector) -> Interval:
    """The mean over questions; of differences of two settings, that of the pairs.

    Equal values give equal intervals. Source: the percentile bootstrap, Efron 1979.
    """
    random = np.random.default_rng(0)
    means = [values[random.integers(0, len(values), len(values))].mean() for _ in range(_RESAMPLES)]
    low, high = np.percentile(means, _INTERVAL)
    return Interval(float(values.mean()), float(low), float(high))


def _gain(ranks: Sequence[int]) -> float:
    return sum(1 / log2(rank + 1) for rank in ranks)
