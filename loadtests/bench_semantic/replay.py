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

    @property
    def may_be_served(self) -> bool:
        return self.passes and self.similarity >= judge.SIMILARITY_MIN


def judged(corpus: Corpus, answers: Answers) -> list[Judged]:
    """All pairs of the set, and those that its traffic makes with what was asked before."""
    judging = SimilarityJudge(corpus.language)
    texts = list(answers)
    row_of = {text: at for at, text in enumerate(texts)}
    vectors = judging.embed(texts)

    def look(pair: Pair) -> Judged:
        return Judged(
            corpus.name,
            pair,
            float(vectors[row_of[pair.cached]] @ vectors[row_of[pair.asked]]),
            judging.objections(pair.cached, pair.asked),
            judge.is_wrong(answers[pair.cached], answers[pair.asked]),
        )

    results = [look(pair) for pair in corpus.pairs]
    traffic_vectors = vectors[[row_of[text] for text in corpus.traffic]]
    for number in range(1, len(corpus.traffic)):
        similar = traffic_vectors[:number] @ traffic_vectors[number]
        nearest = np.argsort(-similar, kind="stable")[:_NEAREST]
        looks = [
            look(Pair("traffic", corpus.traffic[before], corpus.traffic[number]))
            for before in nearest
        ]
        results.append(next((pair_result for pair_result in looks if pair_result.passes), looks[0]))
    return results


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
    """As it would be live: the tier serves from the moment when what came before has opened it."""
    random = Random(seed)  # noqa: S311  no secret
    tier = judge.TierModel(limit)
    served = served_wrong = 0
    for pair_result in random.sample(pairs, len(pairs)):
        if not pair_result.may_be_served:
            continue
        if tier.is_open:
            served += 1
            served_wrong += pair_result.wrong
        if random.random() < tier.verified_share:
            tier.verify(is_wrong=pair_result.wrong)
    return Replayed(len(pairs), served, served_wrong)
