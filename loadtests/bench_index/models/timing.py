"""The time of a query and of a passage; the models take turns with the same texts."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from loadtests.bench_index.sets import RetrievalSet

_TURN_QUERIES, _TURN_PASSAGES = 10, 3
_PASSAGE_WORDS = (120, 200)

Embed = Callable[[str, bool], object]  # a text, and whether it is a query


@dataclass(frozen=True, slots=True)
class ModelTimes:
    """Medians over the turns; ratios to the first model in the same turn."""

    query_ms: float
    passage_ms: float
    query_ratio: float
    passage_ratio: float


def measure(
    models: Mapping[str, Embed], source: RetrievalSet, rounds: int
) -> dict[str, ModelTimes]:
    queries = [question.text for question in source.questions]
    low, high = _PASSAGE_WORDS
    passages = [
        passage.text for passage in source.passages if low <= len(passage.text.split()) <= high
    ]
    turns: dict[str, list[tuple[float, float]]] = {name: [] for name in models}
    for number in range(rounds + 1):
        asked = _turn(queries, number, _TURN_QUERIES)
        embedded = _turn(passages, number, _TURN_PASSAGES)
        for name, embed in models.items():
            times = (
                _mean_ms(embed, asked, is_query=True),
                _mean_ms(embed, embedded, is_query=False),
            )
            if number:  # the first turn warms up
                turns[name].append(times)
    first = turns[next(iter(models))]
    return {name: _times(of_model, first) for name, of_model in turns.items()}


def _turn(texts: Sequence[str], number: int, count: int) -> list[str]:
    return [texts[(number * count + place) % len(texts)] for place in range(count)]


def _mean_ms(embed: Embed, texts: Sequence[str], *, is_query: bool) -> float:
    spent = []
    for text in texts:
        started_s = time.perf_counter()
        embed(text, is_query)
        spent.append(time.perf_counter() - started_s)
    return 1_000 * fmean(spent)


def _times(
    turns: Sequence[tuple[float, float]], first: Sequence[tuple[float, float]]
) -> ModelTimes:
    pairs = list(zip(turns, first, strict=True))
    return ModelTimes(
        query_ms=median(query for query, _ in turns),
        passage_ms=median(passage for _, passage in turns),
        query_ratio=median(own[0] / other[0] for own, other in pairs),
        passage_ratio=median(own[1] / other[1] for own, other in pairs),
    )
