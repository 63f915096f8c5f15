"""How good the answers are, over HTTP at the defaults, beside others on the same passages."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import fmean

from rich.progress import Progress

from loadtests.bench.frame import Run
from loadtests.bench.section import Bar, Section, table
from loadtests.bench_index import measures, sets
from loadtests.bench_index.measures import Measures
from loadtests.bench_index.sets import RetrievalSet
from loadtests.bench_index.systems import bm25, chroma, nearhit
from loadtests.servers import service
from loadtests.servers.service import Service

_WORDS_ALONE, _VECTORS_ALONE = "words alone", "vectors alone"
_HOW = {
    "Nearhit": nearhit.HOW,
    _WORDS_ALONE: "the same with `alpha` 0",
    _VECTORS_ALONE: "the same with `alpha` 1",
    "Chroma": chroma.HOW,
    "BM25": bm25.HOW,
}
_DENSE_LEAD = 0.10  # of the mean nDCG@10, over the same vectors alone
_BM25_LEAD = 0.005
_LAG_MAX = 0.01  # on any set, behind either
_LEG_LAG_MAX = 0.002  # on any set, behind the better of its own legs
_QUESTIONS = 1_000  # of each set, drawn by a fixed seed
_NAMES = {"ndcg": "nDCG@10", "recall": "Recall@10", "mrr": "MRR@10"}

_SETTINGS: Mapping[str, Mapping[str, object]] = {
    "Nearhit": {},
    _WORDS_ALONE: {"alpha": 0},
    _VECTORS_ALONE: {"alpha": 1},
}

Rankings = Mapping[str, list[list[str]]]  # by system, of each question
Results = Mapping[str, Mapping[str, Measures]]  # by system, then by set


def measure(run: Run) -> Section:
    with service.nearhit() as gateway, run.progress() as progress:
        results, sizes = _results(run, gateway, progress)
    return Section(
        title="Quality",
        text=_text(results, sizes),
        figures={
            system: {
                name: {measure: asdict(interval) for measure, interval in measured.items()}
                for name, measured in by_set.items()
            }
            for system, by_set in results.items()
        },
        bars=_bars(results),
    )


def _results(run: Run, gateway: Service, progress: Progress) -> tuple[Results, Sequence[str]]:
    """What each system reaches on each set, and each set's passages and questions."""
    results: dict[str, dict[str, Measures]] = {system: {} for system in _HOW}
    sizes = []
    for name in progress.track(sets.NAMES, description="quality"):
        retrieval_set = sets.read(run.data, name, run.sized(_QUESTIONS, 50))
        passages, questions = retrieval_set.passages, retrieval_set.questions
        sizes.append(f"{name} {len(passages):,} and {len(questions):,}")
        for system, rankings in _rankings(retrieval_set, gateway).items():
            answers = (question.answers for question in questions)
            results[system][name] = measures.of(rankings, answers)
    return results, sizes


def _rankings(retrieval_set: RetrievalSet, gateway: Service) -> Rankings:
    ours = nearhit.rankings_by_setting(retrieval_set, gateway, _SETTINGS.values())
    return {
        **dict(zip(_SETTINGS, ours, strict=True)),
        "Chroma": chroma.rankings(retrieval_set),
        "BM25": bm25.rankings(retrieval_set),
    }


def _text(results: Results, sizes: Sequence[str]) -> str:
    tables = [f"**{title}**\n\n{_table(results, measure)}" for measure, title in _NAMES.items()]
    how = "\n".join(f"- *{system}:* {how}." for system, how in _HOW.items())
    size = f"Passages and questions: {', '.join(sizes)}."
    return "\n\n".join(
        [*tables, how, f"{size} The JSON also has the 95 % interval of each figure."]
    )


def _table(results: Results, measure: str) -> str:
    rows = [
        (name, *(f"{by_set[name][measure].mean:.3f}" for by_set in results.values()))
        for name in sets.NAMES
    ]
    means = [f"{_mean(results, system, measure):.3f}" for system in results]
    return table(("set", *results), [*rows, ("mean", *means)])


def _bars(results: Results) -> list[Bar]:
    def ndcg(system: str, name: str) -> float:
        return results[system][name]["ndcg"].mean

    ours, dense, words = (_mean(results, each, "ndcg") for each in ("Nearhit", "Chroma", "BM25"))
    what = "mean nDCG@10 above Chroma's, of the same vectors alone"
    bars = [
        Bar(what, ours - dense, at_least=_DENSE_LEAD),
        Bar("mean nDCG@10 above BM25's", ours - words, at_least=_BM25_LEAD),
    ]
    for name in sets.NAMES:
        above = ndcg("Nearhit", name) - max(ndcg("Chroma", name), ndcg("BM25", name))
        bars.append(Bar(f"{name}: nDCG@10 above the better of both", above, at_least=-_LAG_MAX))
    for name in sets.NAMES:
        above = ndcg("Nearhit", name) - max(ndcg(_WORDS_ALONE, name), ndcg(_VECTORS_ALONE, name))
        what = f"{name}: nDCG@10 above the better of its own legs"
        bars.append(Bar(what, above, at_least=-_LEG_LAG_MAX))
    return bars


def _mean(results: Results, system: str, measure: str) -> float:
    return fmean(measured[measure].mean for measured in results[system].values())
