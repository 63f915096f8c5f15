"""How good a ranking is, cut at ten: nDCG and recall."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import log2
from statistics import fmean

DEPTH = 10


@dataclass(frozen=True, slots=True)
class Measures:
    """Each from 0 to 1."""

    ndcg: float
    recall: float


def of(ranked: Sequence[str], relevant: Mapping[str, float]) -> Measures:
    """The measures of one ranking, best first. An ideal one of more than ten has ten."""
    top = ranked[:DEPTH]
    assert len(set(top)) == len(top), "a passage is ranked once"
    gain = _gain([relevant.get(passage, 0.0) for passage in top])
    ideal = _gain(sorted(relevant.values(), reverse=True)[:DEPTH])
    return Measures(
        ndcg=gain / ideal,
        recall=len(relevant.keys() & set(top)) / len(relevant),
    )


def mean(measures: Sequence[Measures]) -> Measures:
    columns = [asdict(measured) for measured in measures]
    return Measures(**{name: fmean(column[name] for column in columns) for name in columns[0]})


def _gain(relevances: Sequence[float]) -> float:
    return sum(relevance / log2(rank + 1) for rank, relevance in enumerate(relevances, start=1))
