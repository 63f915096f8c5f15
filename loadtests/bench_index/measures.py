"""How good rankings are, cut at ten, by the measures of Nearhit's own `nearhit evaluate`."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from gateway.extensions.evaluation import measures
from gateway.extensions.evaluation.judged_questions import JudgedQuestion
from gateway.extensions.evaluation.measures import Interval

DEPTH = 10

Measures: TypeAlias = Mapping[str, Interval]
"""The mean over the questions and its interval, by `recall`, `mrr` and `ndcg`."""


def of(rankings: Iterable[Sequence[str]], answers: Iterable[Collection[str]]) -> Measures:
    """rankings: a question's documents, best first. answers: the documents that are right."""
    measured = [
        measures.of_hits(
            JudgedQuestion(question="any", documents=tuple(right)),
            [{"document_id": document} for document in ranked],
            DEPTH,
        )
        for ranked, right in zip(rankings, answers, strict=True)
    ]
    columns = np.array(measured).T
    return dict(zip(measures.NAMES, map(measures.interval, columns), strict=True))
