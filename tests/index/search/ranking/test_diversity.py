"""The order by diversity: what it compares, and where it stops."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from index.search.ranking.diversity import DIVERSE_MAX, RankedChunk, diversified

RANKING = [RankedChunk(number, 1.0 - number / 1_000) for number in range(5)]
ALIKE = np.array([1, 0], np.float16)
OTHER = np.array([0, 1], np.float16)


def test_a_chunk_like_one_before_it_gives_way_to_another() -> None:
    vectors = {0: ALIKE, 1: ALIKE, 2: ALIKE, 3: OTHER, 4: OTHER}

    assert diversified(RANKING, vectors, 0.5) == [0, 3, 1, 2, 4]
    assert diversified(RANKING, vectors, 0.0) == [0, 1, 2, 3, 4]
    assert diversified(RANKING, vectors, 0.0001) == [0, 1, 2, 3, 4]


def test_a_chunk_without_a_vector_is_like_none() -> None:
    vectors = {0: ALIKE, 1: ALIKE, 2: np.zeros(2, np.float16), 4: -ALIKE}

    assert diversified(RANKING, vectors, 0.5) == [0, 2, 3, 4, 1]
    assert diversified(RANKING, {}, 1.0) == [0, 1, 2, 3, 4]
    assert diversified([], {}, 1.0) == []


def test_so_many_candidates_are_compared_and_the_others_keep_their_order() -> None:
    ranking = [RankedChunk(number, 1.0) for number in range(DIVERSE_MAX + 3)]
    vectors = dict.fromkeys(range(DIVERSE_MAX - 1), ALIKE)
    vectors |= dict.fromkeys(range(DIVERSE_MAX - 1, DIVERSE_MAX + 3), OTHER)

    order = diversified(ranking, vectors, 0.5)

    assert order[:3] == [0, DIVERSE_MAX - 1, 1]
    assert order[DIVERSE_MAX:] == [DIVERSE_MAX, DIVERSE_MAX + 1, DIVERSE_MAX + 2]


@given(
    scores=st.lists(st.floats(0, 1), max_size=20),
    seed=st.integers(0, 100),
    diversity=st.floats(0, 1),
)
def test_every_candidate_comes_once(scores: list[float], seed: int, diversity: float) -> None:
    numbers = np.random.default_rng(seed).normal(size=(len(scores), 4)).astype(np.float16)
    ranking = [RankedChunk(number, score) for number, score in enumerate(sorted(scores)[::-1])]

    order = diversified(ranking, dict(enumerate(numbers)), diversity)

    assert sorted(order) == list(range(len(scores)))
    assert order[:1] == [0][: len(scores)]
