"""What a slip of the finger costs: the same questions with one typo each, over HTTP."""

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
    with service.nearhit() as made, run.progress() as progress:
        for name in progress.track(sets.NAMES, description="typos"):
            asked = sets.read(run.data, name, _QUESTIONS)
            found = nearhit.rankings(_both(asked), made, lambda _: None)
            half = len(asked.questions)
            reached[name] = _ndcg(asked, found[:half]), _ndcg(asked, found[half:])
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


def _both(asked: RetrievalSet) -> RetrievalSet:
    """The questions, and after them the same with a typo each."""
    random = Random(1)  # noqa: S311  the same slips every time
    typed = [replace(one, text=with_typo(one.text, random)) for one in asked.questions]
    return replace(asked, questions=[*asked.questions, *typed])


def _ndcg(asked: RetrievalSet, found: Sequence[list[str]]) -> float:
    return fmean(
        measures.of(ranked, question.relevant).ndcg
        for question, ranked in zip(asked.questions, found, strict=True)
    )
