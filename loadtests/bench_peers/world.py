"""Passages of many tenants, who may read each, who asks, and which passages answer what.

Pure and seeded but for the embedding: equal passages and questions make an equal world.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from loadtests.bench_index import sets
from loadtests.bench_index.measures import DEPTH
from loadtests.bench_index.systems import vectors
from loadtests.workload import topics
from loadtests.workload.questions import zipf

TENANTS = 12  # their sizes by Zipf's law
GROUPS = 10  # of each tenant
_OPEN_SHARE = 0.3  # of the passages are for the whole tenant; a choice, not measured
_CALLERS_A_TENANT = 2
_SETS = ("medquad_en", "scifact", "squad_sent_dev", "pira_en")
_WORDS_MIN, _WORDS_MAX = 5, 150  # so that a passage is one chunk everywhere
_QUESTIONS_MAX = 8_000
_SEED = 27
# What a half-precision vector may be off by: a passage as near as the tenth but for so much counts.
_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True)
class PeerTopicQuestion:
    """answers: the numbers of the passages that are right."""

    text: str
    answers: Collection[int]


@dataclass(frozen=True, slots=True)
class PeerCaller:
    """tokens: of the readers that it is."""

    tenant: str
    subject: str
    groups: Sequence[str]

    @property
    def tokens(self) -> tuple[str, ...]:
        return ("tenant", *(f"group:{group}" for group in self.groups), f"user:{self.subject}")


@dataclass(frozen=True)
class PeerWorld:
    """Rows, numbered from 0: whose they are, who reads them, what they say, their unit vectors.

    passages:  by row, which passage it is a copy of: one passage may be in several tenants.
    questions: all different; their answers are passages.
    """

    tenants: Sequence[str]
    readers: Sequence[tuple[str, ...]]
    texts: Sequence[str]
    passages: Sequence[int]
    embedded: NDArray[np.float32]
    callers: Sequence[PeerCaller]
    questions: Sequence[PeerTopicQuestion]
    embedded_questions: NDArray[np.float32]

    @cached_property
    def visible(self) -> Sequence[NDArray[np.int64]]:
        """By caller, the rows that it may read."""
        return [
            np.array(
                [
                    row
                    for row, (tenant, readers) in enumerate(
                        zip(self.tenants, self.readers, strict=True)
                    )
                    if tenant == caller.tenant and not set(readers).isdisjoint(caller.tokens)
                ]
            )
            for caller in self.callers
        ]

    def relevant(self, caller: int, question: int) -> set[str]:
        """What answers the question and may be read by the caller: rows, as text."""
        answers = self.questions[question].answers
        return {str(row) for row in self.visible[caller] if self.passages[row] in answers}

    def recall(self, caller: int, question: int, rows: Sequence[int]) -> float:
        """The share of the ten nearest visible rows that were found."""
        visible = self.visible[caller]
        vector = self.embedded_questions[question]
        nearest = np.sort(self.embedded[visible] @ vector)[-DEPTH:]
        visible_rows = [row for row in rows[:DEPTH] if row in set(visible.tolist())]
        near = self.embedded[visible_rows] @ vector
        return float((near >= nearest[0] - _TOLERANCE).sum()) / len(nearest)


def build(data: Path | None, rows: int) -> PeerWorld:
    """So many rows or a few less; of public sets, or made up if there is no folder of them."""
    random = Random(_SEED)  # noqa: S311  no secret
    passages, all_questions = _generated(rows) if data is None else _read(data)
    questions = random.sample(all_questions, min(_QUESTIONS_MAX, len(all_questions)))
    sizes = _sizes(rows, len(passages))
    dealt = [random.sample(range(len(passages)), size) for size in sizes]
    tenants = [f"tenant-{number}" for number, size in enumerate(sizes) for _ in range(size)]
    places = [passage for places in dealt for passage in places]
    embedded = vectors.embed(passages)
    return PeerWorld(
        tenants=tenants,
        readers=[tuple(_readers(random)) for _ in tenants],
        texts=[passages[passage] for passage in places],
        passages=places,
        embedded=embedded[places],
        callers=list(_callers(random)),
        questions=questions,
        embedded_questions=vectors.embed([question.text for question in questions]),
    )


def _sizes(rows: int, passages: int) -> list[int]:
    """By Zipf's law; a tenant has no passage twice."""
    whole = sum(1 / rank for rank in range(1, TENANTS + 1))
    return [min(passages, round(rows / rank / whole)) for rank in range(1, TENANTS + 1)]


def _readers(random: Random) -> Iterator[str]:
    if random.random() < _OPEN_SHARE:
        yield "tenant"
    for group in sorted(random.sample(range(GROUPS), random.choice((1, 2)))):
        yield f"group:g{group}"


def _callers(random: Random) -> Iterator[PeerCaller]:
    for tenant in range(TENANTS):
        for number in range(_CALLERS_A_TENANT):
            groups = tuple(f"g{group}" for group in sorted(random.sample(range(GROUPS), 2)))
            yield PeerCaller(f"tenant-{tenant}", f"caller-{number}", groups)


def _generated(rows: int) -> tuple[list[str], list[PeerTopicQuestion]]:
    made_up = topics.build(rows, _QUESTIONS_MAX, _SEED)
    about = zip(made_up.questions, made_up.about, strict=True)
    return (
        [document["text"] for document in made_up.documents],
        [PeerTopicQuestion(text, {passage}) for text, passage in about],
    )


def _read(data: Path) -> tuple[list[str], list[PeerTopicQuestion]]:
    places: dict[str, int] = {}
    questions: dict[str, set[int]] = {}
    for name in _SETS:
        retrieval_set = sets.read(data, name, 0)
        of_passage = {}
        for passage in retrieval_set.passages:
            text = " ".join(passage.text.split())
            if _WORDS_MIN <= len(text.split()) <= _WORDS_MAX:
                of_passage[passage.passage_id] = places.setdefault(text, len(places))
        for question in retrieval_set.questions:
            answers = {of_passage[passage] for passage in question.answers if passage in of_passage}
            if answers:
                questions.setdefault(question.text, answers)
    return list(places), [PeerTopicQuestion(text, answers) for text, answers in questions.items()]


REPEATS = 0.7  # of the mix, as the bars say


@dataclass(frozen=True, slots=True)
class TraceStep:
    """Numbers of a caller and of a question."""

    caller: int
    question: int


def mix(callers: Sequence[float], questions: range, seed: int) -> Iterator[TraceStep]:
    """Without end, as long as there are new questions.

    callers: how much each asks. A repeat is of what was asked r-th with a chance of 1 / r.
    """
    random = Random(seed)  # noqa: S311  no secret
    steps: list[TraceStep] = []
    for new in fresh(callers, questions, seed + 1):
        while steps and random.random() < REPEATS:
            yield steps[zipf(len(steps), random)]
        steps.append(new)
        yield new


def fresh(callers: Sequence[float], questions: range, seed: int) -> Iterator[TraceStep]:
    """No two alike, until all were asked by everybody."""
    random = Random(seed)  # noqa: S311  no secret
    numbers = range(len(callers))
    left = [list(questions) for _ in numbers]
    for left_of_caller in left:
        random.shuffle(left_of_caller)
    while any(left):
        weights = [
            weight if left_of_caller else 0.0
            for weight, left_of_caller in zip(callers, left, strict=True)
        ]
        caller = random.choices(numbers, weights)[0]
        yield TraceStep(caller, left[caller].pop())
