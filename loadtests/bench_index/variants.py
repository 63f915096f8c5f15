"""Variants of the sets' questions and passages, over HTTP at the defaults: a row each set.

Typing errors, and questions that no passage answers.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from statistics import fmean
from typing import TypeAlias

from loadtests.bench.frame import Run
from loadtests.bench.section import Bar, Section, table
from loadtests.bench_index import measures, sets
from loadtests.bench_index.sets import RetrievalSet
from loadtests.bench_index.systems import nearhit
from loadtests.servers import service
from loadtests.servers.service import Service
from loadtests.workload.questions import with_typo
from loadtests.workload.tenant_client import TenantClient, new_tenant

_QUESTIONS = 300
# By set, another one in its language, whose questions no passage of the set answers.
_OTHERS = {
    "xquad_en": "pira_en",
    "pira_en": "xquad_en",
    "squad_sent_dev": "pira_en",
    "scifact": "xquad_en",
    "faquad_pt": "pira_pt",
    "pira_pt": "faquad_pt",
}

Reached: TypeAlias = dict[str, tuple[float, ...]]  # by set, the figures of its row


def typos(run: Run) -> Section:
    """The same questions with a typing error each."""

    def reach(gateway: Service, asked: RetrievalSet) -> Iterator[float]:
        random = Random(1)  # noqa: S311  the same slips every time
        typed = [replace(each, text=with_typo(each.text, random)) for each in asked.questions]
        plain_ndcg, typed_ndcg = _ndcgs(gateway, asked, [asked.questions, typed])
        mistyped = replace(asked, questions=typed)
        of_group = nearhit.rankings(mistyped, gateway, variant="group", readers=("group:staff",))
        group_ndcg = _ndcg(asked, of_group)
        yield from (plain_ndcg, typed_ndcg, typed_ndcg / plain_ndcg)
        yield from (group_ndcg, group_ndcg / plain_ndcg)

    how = (
        "nDCG@10 of questions as they are, and with one typo each in a word of at least four "
        "letters: two letters swapped, one left out, one doubled, or one of a neighbouring key. "
        "Passages as under Quality; in the last columns only a group and their owner may read them."
    )
    head = ("as they are", "with a typo", "ratio", "with a typo, of a group", "ratio")
    reached = _reached(run, "typos", sets.NAMES, reach)
    return _section("Typos", how, head, reached, [
        Bar("mean ratio", _mean(reached, 2), at_least=0.9),
        # Uncorrected 0.95.
        Bar("mean ratio of a group's documents", _mean(reached, 4), at_least=0.98),
    ])  # fmt: skip


def confidence(run: Run) -> Section:
    """Questions that the passages answer, and others, with low confidence."""

    def reach(gateway: Service, asked: RetrievalSet) -> Iterator[float]:
        other = sets.read(run.data, _OTHERS[asked.name], _QUESTIONS)
        with new_tenant(gateway, asked.name.replace("_", "-")) as tenant:
            tenant.put(nearhit.documents(asked))
            yield from (_low_share(tenant, each) for each in (asked, other))

    how = (
        "The share of questions whose answer says `low_confidence` where nobody has set a "
        "threshold: those of the set, and those of another set in the same language, which its "
        "passages do not answer. Passages as under Quality."
    )
    reached = _reached(run, "confidence", _OTHERS, reach)
    return _section("Confidence", how, ("its questions", "others"), reached, [
        *(
            Bar(f"{name}: share of its questions", own, at_most=0.03)
            for name, (own, _) in reached.items()
        ),
        # 0.55 on the page, less 0.1.
        Bar("mean share of the others", _mean(reached, 1), at_least=0.45),
    ])  # fmt: skip


def _reached(
    run: Run,
    what: str,
    names: Iterable[str],
    reach: Callable[[Service, RetrievalSet], Iterable[float]],
) -> Reached:
    with service.nearhit() as gateway, run.progress() as progress:
        return {
            name: tuple(reach(gateway, sets.read(run.data, name, _QUESTIONS)))
            for name in progress.track(list(names), description=what)
        }


def _section(
    title: str, how: str, head: Sequence[str], reached: Reached, bars: Sequence[Bar]
) -> Section:
    rows = [(name, *(f"{value:.3f}" for value in values)) for name, values in reached.items()]
    figures = {name: list(values) for name, values in reached.items()}
    return Section(title, f"{how}\n\n{table(('set', *head), rows)}", {"by_set": figures}, bars)


def _mean(reached: Mapping[str, Sequence[float]], column: int) -> float:
    return fmean(values[column] for values in reached.values())


def _ndcgs(
    gateway: Service, asked: RetrievalSet, variants: Sequence[Sequence[sets.SetQuestion]]
) -> Iterator[float]:
    """Of each variant of the questions, in their order, over the same passages."""
    together = replace(asked, questions=[each for variant in variants for each in variant])
    rankings = nearhit.rankings(together, gateway)
    size = len(asked.questions)
    for start in range(0, len(rankings), size):
        yield _ndcg(asked, rankings[start : start + size])


def _ndcg(asked: RetrievalSet, rankings: Sequence[list[str]]) -> float:
    return measures.of(rankings, (each.answers for each in asked.questions))["ndcg"].mean


def _low_share(tenant: TenantClient, asked: RetrievalSet) -> float:
    return fmean(tenant.has_low_confidence(question.text) for question in asked.questions)
