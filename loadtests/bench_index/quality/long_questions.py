"""The quality of questions at the end of a conversation, over HTTP."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle
from random import Random
from statistics import fmean

from loadtests.bench.section import Bar, Section, table
from loadtests.bench_index import measures, sets
from loadtests.bench_index.options import IndexRun
from loadtests.bench_index.sets import RetrievalSet
from loadtests.bench_index.systems import nearhit
from loadtests.servers import service

# By set, another one in its language, whose questions are the conversation.
_OTHERS = {
    "xquad_en": "pira_en",
    "pira_en": "xquad_en",
    "squad_sent_dev": "pira_en",
    "scifact": "xquad_en",
    "faquad_pt": "pira_pt",
    "pira_pt": "faquad_pt",
}
_QUESTIONS = 300
_WORDS = 200
_RATIO_MIN = 0.9
_SAME_RATIO_MIN = 0.8
_HOW = (
    f"nDCG@10 of questions as they are, and after a conversation of {_WORDS} words: the questions "
    "of another set in the same language, or of the same set, which have other passages. "
    "Passages as under Quality."
)


def measure(run: IndexRun) -> Section:
    reached: dict[str, tuple[float, ...]] = {}
    with service.nearhit() as gateway, run.progress() as progress:
        for name, other in progress.track(_OTHERS.items(), description="long questions"):
            asked = sets.read(run.data, name, _QUESTIONS)
            conversations = (sets.read(run.data, other, _QUESTIONS), asked)
            variants = [asked, *(_after(asked, conversation) for conversation in conversations)]
            together = replace(asked, questions=[q for each in variants for q in each.questions])
            rankings = nearhit.rankings(together, gateway, lambda _: None)
            reached[name] = tuple(_ndcgs(asked, rankings))
    rows = [(name, *(f"{value:.3f}" for value in values)) for name, values in reached.items()]
    head = ("set", "alone", "after questions of another set", "after questions of the same set")
    return Section(
        title="Long questions",
        text=f"{_HOW}\n\n{table(head, rows)}",
        figures={"ndcg": reached},
        bars=[
            Bar("mean share of alone, after another set", _ratio(reached, 1), at_least=_RATIO_MIN),
            Bar("the same, after the same set", _ratio(reached, 2), at_least=_SAME_RATIO_MIN),
        ],
    )


def _after(asked: RetrievalSet, conversation: RetrievalSet) -> RetrievalSet:
    """The questions, each after many others, drawn the same way every time."""
    texts = [question.text for question in conversation.questions]
    Random(1).shuffle(texts)  # noqa: S311
    others = cycle(texts)
    return replace(
        asked,
        questions=[
            replace(question, text=" ".join([*_conversation(others), question.text]))
            for question in asked.questions
        ],
    )


def _conversation(texts: Iterator[str]) -> Iterator[str]:
    words = 0
    while words < _WORDS:
        text = next(texts)
        words += len(text.split())
        yield text if text.endswith((".", "?", "!")) else f"{text}."


def _ndcgs(asked: RetrievalSet, rankings: Sequence[list[str]]) -> Iterator[float]:
    """Of each variant of the questions, in their order."""
    size = len(asked.questions)
    for start in range(0, len(rankings), size):
        pairs = zip(asked.questions, rankings[start : start + size], strict=True)
        yield fmean(measures.of(ranked, question.relevant).ndcg for question, ranked in pairs)


def _ratio(reached: dict[str, tuple[float, ...]], variant: int) -> float:
    return fmean(values[variant] / values[0] for values in reached.values())
