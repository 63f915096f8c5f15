"""The quality with typing errors: the same questions with one typo each, over HTTP."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from statistics import fmean

from loadtests.bench.section import Bar, Section, table
from loadtests.bench_index import measures, sets
from loadtests.bench_index.options import IndexRun
from loadtests.bench_index.sets import RetrievalSet, SetQuestion
from loadtests.bench_index.systems import nearhit
from loadtests.servers import service
from loadtests.workload.typos import with_typo

BAR = 0.9
_GROUP_BAR = 0.98  # uncorrected 0.95
_QUESTIONS = 300
_HOW = (
    "nDCG@10 of questions as they are, and with one typo each in a word of at least four "
    "letters: two letters swapped, one left out, one doubled, or one of a neighbouring key. "
    "Passages as under Quality; in the last columns only a group and their owner may read them."
)


def measure(run: IndexRun) -> Section:
    reached: dict[str, tuple[float, float, float]] = {}
    with service.nearhit() as gateway, run.progress() as progress:
        for name in progress.track(sets.NAMES, description="typos"):
            retrieval_set = sets.read(run.data, name, _QUESTIONS)
            plain, typed = retrieval_set.questions, _with_typos(retrieval_set)
            both = replace(retrieval_set, questions=[*plain, *typed])
            rankings = nearhit.rankings(both, gateway, lambda _: None)
            of_group = nearhit.rankings(
                replace(retrieval_set, questions=typed),
                gateway,
                lambda _: None,
                variant="group",
                readers=("group:staff",),
            )
            reached[name] = (
                _ndcg(retrieval_set, rankings[: len(plain)]),
                _ndcg(retrieval_set, rankings[len(plain) :]),
                _ndcg(retrieval_set, of_group),
            )
    ratios = {name: (typed / plain, of / plain) for name, (plain, typed, of) in reached.items()}
    rows = [
        (name, *(f"{value:.3f}" for value in (plain, typed, typed / plain, of, of / plain)))
        for name, (plain, typed, of) in reached.items()
    ]
    head = ("set", "as they are", "with a typo", "ratio", "with a typo, of a group", "ratio")
    return Section(
        title="Typos",
        text=f"{_HOW}\n\n{table(head, rows)}",
        figures={"ndcg": reached},
        bars=[
            Bar("mean ratio", fmean(ratio for ratio, _ in ratios.values()), at_least=BAR),
            Bar(
                "mean ratio of a group's documents",
                fmean(ratio for _, ratio in ratios.values()),
                at_least=_GROUP_BAR,
            ),
        ],
    )


def _with_typos(retrieval_set: RetrievalSet) -> list[SetQuestion]:
    """The questions with a typo each."""
    random = Random(1)  # noqa: S311  the same slips every time
    return [
        replace(question, text=with_typo(question.text, random))
        for question in retrieval_set.questions
    ]


def _ndcg(retrieval_set: RetrievalSet, rankings: Sequence[list[str]]) -> float:
    return fmean(
        measures.of(ranked, question.relevant).ndcg
        for question, ranked in zip(retrieval_set.questions, rankings, strict=True)
    )
