"""Pairs of questions put to a judge, with the real answers of both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from loadtests.bench_semantic import judge
from loadtests.bench_semantic.judge import SimilarityJudge
from loadtests.bench_semantic.pairs import Corpus, Pair

_NEAREST = 8  # questions that came before, looked at for one that no guard objects to

Answers = Mapping[str, Sequence[int]]  # by question, the chunks of its real answer


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair: how similar, who objects, and whether the one's answer is wrong for the other."""

    corpus: str
    pair: Pair
    similarity: float
    objections: frozenset[str]
    wrong: bool

    @property
    def passes(self) -> bool:
        return not self.objections


def judged(corpus: Corpus, answers: Answers) -> list[Judged]:
    """All pairs of the set, and those that its traffic makes with what was asked before."""
    judging = SimilarityJudge(corpus.language)
    texts = list(answers)
    place = {text: at for at, text in enumerate(texts)}
    vectors = judging.embed(texts)

    def look(pair: Pair) -> Judged:
        return Judged(
            corpus.name,
            pair,
            float(vectors[place[pair.cached]] @ vectors[place[pair.asked]]),
            judging.objections(pair.cached, pair.asked),
            judge.is_wrong(answers[pair.cached], answers[pair.asked]),
        )

    found = [look(pair) for pair in corpus.pairs]
    asked = vectors[[place[text] for text in corpus.traffic]]
    for number in range(1, len(corpus.traffic)):
        similar = asked[:number] @ asked[number]
        nearest = np.argsort(-similar, kind="stable")[:_NEAREST]
        looks = [
            look(Pair("traffic", corpus.traffic[before], corpus.traffic[number]))
            for before in nearest
        ]
        found.append(next((one for one in looks if one.passes), looks[0]))
    return found


@dataclass(frozen=True, slots=True)
class Replayed:
    """What one tenant's tier did with all pairs, one after the other."""

    asked: int = 0
    served: int = 0
    wrong: int = 0

    def __add__(self, other: "Replayed") -> "Replayed":
        return Replayed(
            self.asked + other.asked, self.served + other.served, self.wrong + other.wrong
        )


def replayed(pairs: Sequence[Judged], limit: float, seed: int) -> Replayed:
    """As it would be live: a band serves from the moment when what came before has opened it.

    All that could be served is verified, so that the bands open as soon as they can.
    """
    verified = dict.fromkeys(range(len(judge.EDGES)), 0)
    wrong = dict.fromkeys(verified, 0)
    served = served_wrong = 0
    for one in Random(seed).sample(pairs, len(pairs)):  # noqa: S311  no secret
        band = judge.band(one.similarity)
        if band is None or not one.passes:
            continue
        if judge.bound(verified[band], wrong[band]) <= limit:
            served += 1
            served_wrong += one.wrong
        verified[band] += 1
        wrong[band] += one.wrong
    return Replayed(len(pairs), served, served_wrong)
