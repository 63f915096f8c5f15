"""Many tenants in one index: passages dealt out by Zipf's law, and questions to ask."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from loadtests.bench_index import sets
from loadtests.bench_index.measures import DEPTH
from loadtests.bench_index.systems import vectors

_TENANTS = 83  # of 10,000 / 1, 10,000 / 2, … passages: 50,000 in all
_LARGEST = 10_000
ASKED = {1_000: "tenant-10", 10_000: "tenant-1"}  # by how many passages they see

_SETS = ("medquad_en", "scifact", "squad_sent_dev", "pira_en")
_WORDS_MIN, _WORDS_MAX = 5, 150  # so that a passage is one chunk everywhere
_SEED = 7

# What a half-precision vector may be off by: a passage as near as the tenth but for so much counts.
_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True)
class TenantWorld:
    """Rows of a table: whose they are, what they say, and their unit vectors.

    questions: all different.
    """

    tenants: Sequence[str]
    texts: Sequence[str]
    embedded: NDArray[np.float32]
    questions: Sequence[str]
    embedded_questions: NDArray[np.float32]

    def rows_of(self, tenant: str) -> list[int]:
        return [row for row, owner in enumerate(self.tenants) if owner == tenant]

    def recall(self, tenant: str, question: int, rows: Sequence[int]) -> float:
        """The share of the ten nearest rows of the tenant that were found."""
        nearness = self.embedded[self.rows_of(tenant)] @ self.embedded_questions[question]
        tenth = np.sort(nearness)[-DEPTH]
        near = self.embedded[list(rows)[:DEPTH]] @ self.embedded_questions[question]
        return float((near >= tenth - _TOLERANCE).sum()) / DEPTH


def build(data: Path, questions: int) -> TenantWorld:
    random = Random(_SEED)  # noqa: S311  no secret
    read = [sets.read(data, name, 0) for name in _SETS]
    pool = dict.fromkeys(
        text
        for retrieval_set in read
        for passage in retrieval_set.passages
        if _WORDS_MIN <= len((text := " ".join(passage.text.split())).split()) <= _WORDS_MAX
    )
    asked_texts = dict.fromkeys(
        question.text for retrieval_set in read for question in retrieval_set.questions
    )
    embedded = vectors.embed(list(pool))
    tenants, places = [], []
    for number in range(1, _TENANTS + 1):
        dealt = random.sample(range(len(pool)), _LARGEST // number)
        tenants += [f"tenant-{number}"] * len(dealt)
        places += dealt
    texts = list(pool)
    chosen = random.sample(list(asked_texts), questions)
    return TenantWorld(
        tenants=tenants,
        texts=[texts[passage] for passage in places],
        embedded=embedded[places],
        questions=chosen,
        embedded_questions=vectors.embed(chosen),
    )
