"""The quality with typing errors: the same questions with one typo each, over HTTP."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from statistics import fmean

from loadtests.bench.section import Bar, Section, table
from loadtests.bench_index import measures, sets
from loadtests.bench_index.options import IndexRun
from loadtests.bench_index.sets import RetrievalSet
from loadtests.bench_index.systems import nearhit
from loadtests.servers import service
from loadtests.workload.typos import with_typo

BAR = 0.9
_QUESTIONS = 300
_HOW = (
    "nDCG@10 of questions as they are, and with one typo each in a word of at least four "
    "letters: two letters swapped, one left out, one doubled, or one of a neighbouring key. "
    "Passages as under Quality."
)


def measure(run: IndexRun) -> Section:
    reached: dict[str, tuple[float, float]] = {}
    with service.nearhit() as gateway, run.progress() as progress:
        for name in progress.track(sets.NAMES, description="typos"):
            retrieval_set = sets.read(run.data, name, _QUESTIONS)
            rankings = nearhit.rankings(_both(retrieval_set), gateway, lambda _: None)
            half = len(retrieval_set.questions)
            reached[name] = (
                _ndcg(retrieval_set, rankings[:half]),
                _ndcg(retrieval_set, rankings[half:]),
            )
    ratios = {name: typed / plain for name, (plain, typed) in reached.items()}
    rows = [
        (name, f"{plain:.3f}", f"{typed:.3f}", f"{ratios[name]:.3f}")
        for name, (plain, typed) in reached.items()
    ]
    return Section(
        title="Typos",
        text=f"{_HOW}\n\n{table(('set', 'as they are', 'with a typo', 'ratio'), rows)}",
        figures={"ndcg": reached},
        bars=[Bar("mean ratio", fmean(ratios.values()), at_least=BAR)],
    )


def _both(retrieval_set: RetrievalSet) -> RetrievalSet:
    """The questions, and after them the same with a typo each."""
    random = Random(1)  # noqa: S311  the same slips every time
    typed = [
        replace(question, text=with_typo(question.text, random))
        for question in retrieval_set.questions
    ]
    return replace(retrieval_set, questions=[*retrieval_set.questions, *typed])


def _ndcg(retrieval_set: RetrievalSet, rankings: Sequence[list[str]]) -> float:
    return fmean(
        measures.of(ranked, question.relevant).ndcg
        for question, ranked in zip(retrieval_set.questions, rankings, strict=True)
    )
