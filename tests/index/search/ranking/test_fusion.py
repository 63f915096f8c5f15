from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.search.ranking import fusion
from index.search.ranking.fusion import Candidate, FusedChunk, LegRank, ScoredChunk

Fuse = Callable[[Sequence[Candidate], Sequence[Candidate]], list[FusedChunk]]

WAYS: dict[str, Fuse] = {
    "relative": lambda dense, lexical: fusion.relative(dense, lexical, alpha=0.25),
    "rrf": fusion.reciprocal_rank,
}
every_way = pytest.mark.parametrize("fuse", WAYS.values(), ids=WAYS)

chunk_ids = st.integers(1, 20)
scores = st.integers(-1000, 1000).map(float)
alphas = st.floats(0, 1)


def leg(*pairs: tuple[int, float]) -> list[Candidate]:
    candidates = [Candidate(chunk_id, score) for chunk_id, score in pairs]
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.chunk_id))


legs = st.dictionaries(chunk_ids, scores).map(lambda found: leg(*found.items()))


def order(fused: Sequence[FusedChunk]) -> list[int]:
    return [chunk.chunk_id for chunk in fused]


def ids(candidates: Sequence[Candidate]) -> list[int]:
    return [candidate.chunk_id for candidate in candidates]


def test_absolute_weighs_both_scores_of_a_chunk_as_they_are() -> None:
    compared = [ScoredChunk(1, 0.8, 0.0), ScoredChunk(2, None, 0.5), ScoredChunk(3, 0.6, 0.25)]

    fused = fusion.absolute(compared, alpha=0.25)

    assert fused == [
        FusedChunk(2, 0.5, dense=None, lexical=LegRank(None, 0.5)),
        FusedChunk(
            3, 0.25 * 0.6 + 0.75 * 0.25, dense=LegRank(None, 0.6), lexical=LegRank(None, 0.25)
        ),
        FusedChunk(1, 0.25 * 0.8, dense=LegRank(None, 0.8), lexical=None),
    ]


def test_absolute_tells_where_a_chunk_stands_in_the_legs_that_were_asked() -> None:
    compared = [ScoredChunk(1, 0.8, 0.0), ScoredChunk(2, 0.1, 0.5)]

    fused = fusion.absolute(compared, leg((9, 0.9), (1, 0.8)), leg((2, 0.5)), alpha=0.25)

    assert [(chunk.chunk_id, chunk.dense, chunk.lexical) for chunk in fused] == [
        (2, LegRank(None, 0.1), LegRank(1, 0.5)),
        (1, LegRank(2, 0.8), None),
    ]


@given(
    st.lists(
        st.builds(ScoredChunk, chunk_ids, st.floats(-1, 1), st.floats(0, 1)),
        unique_by=lambda one: one.chunk_id,
    ),
    alphas,
    st.data(),
)
def test_an_absolute_score_is_above_0_up_to_1_and_hangs_on_no_other_chunk(
    compared: list[ScoredChunk], alpha: float, data: st.DataObject
) -> None:
    fused = fusion.absolute(compared, alpha=alpha)

    some = data.draw(st.sets(st.sampled_from(compared))) if compared else set()
    chosen = {one.chunk_id for one in some}
    assert all(0 < chunk.score <= 1 for chunk in fused)
    assert fusion.absolute(list(some), alpha=alpha) == [
        chunk for chunk in fused if chunk.chunk_id in chosen
    ]


def test_relative_weighs_each_leg_scaled_to_its_own_candidates() -> None:
    dense = leg((1, 0.9), (2, 0.5), (3, 0.1))
    lexical = leg((2, 30.0), (4, 20.0))

    fused = fusion.relative(dense, lexical, alpha=0.25)

    assert fused == [
        FusedChunk(2, 0.25 * 0.5 + 0.75 * 1.0, dense=LegRank(2, 0.5), lexical=LegRank(1, 30.0)),
        FusedChunk(1, 0.25 * 1.0, dense=LegRank(1, 0.9), lexical=None),
        FusedChunk(3, 0.0, dense=LegRank(3, 0.1), lexical=None),
        FusedChunk(4, 0.0, dense=None, lexical=LegRank(2, 20.0)),
    ]


def test_reciprocal_rank_sums_over_the_legs() -> None:
    dense = leg((1, 0.9), (2, 0.5))
    lexical = leg((2, 30.0), (3, 20.0))

    fused = fusion.reciprocal_rank(dense, lexical)

    assert [(chunk.chunk_id, chunk.score) for chunk in fused] == [
        (2, 1 / 62 + 1 / 61),
        (1, 1 / 61),
        (3, 1 / 62),
    ]


@every_way
@given(dense=legs, lexical=legs)
def test_every_candidate_is_fused_once_with_what_each_leg_said(
    fuse: Fuse, dense: list[Candidate], lexical: list[Candidate]
) -> None:
    fused = fuse(dense, lexical)

    assert sorted(order(fused)) == sorted({*ids(dense), *ids(lexical)})
    for candidates, side in ((dense, "dense"), (lexical, "lexical")):
        said = {chunk.chunk_id: getattr(chunk, side) for chunk in fused if getattr(chunk, side)}
        assert said == {
            candidate.chunk_id: LegRank(rank, candidate.score)
            for rank, candidate in enumerate(candidates, start=1)
        }


@every_way
@given(dense=legs, lexical=legs)
def test_the_best_comes_first_and_ties_go_to_the_lower_id(
    fuse: Fuse, dense: list[Candidate], lexical: list[Candidate]
) -> None:
    fused = fuse(dense, lexical)

    keys = [(-chunk.score, chunk.chunk_id) for chunk in fused]
    assert keys == sorted(keys)


@every_way
def test_nothing_found_is_nothing_fused(fuse: Fuse) -> None:
    assert fuse([], []) == []


@given(legs, legs, alphas)
def test_a_relative_score_lies_between_0_and_1(
    dense: list[Candidate], lexical: list[Candidate], alpha: float
) -> None:
    fused = fusion.relative(dense, lexical, alpha=alpha)

    assert all(0 <= chunk.score <= 1 + 1e-12 for chunk in fused)


@given(legs, legs, alphas)
def test_a_leg_counted_from_another_zero_in_another_unit_changes_nothing(
    dense: list[Candidate], lexical: list[Candidate], alpha: float
) -> None:
    # A power of two scales a float exactly.
    moved = [Candidate(found.chunk_id, 4 * found.score + 64) for found in dense]

    straight = fusion.relative(dense, lexical, alpha=alpha)
    shifted = fusion.relative(moved, lexical, alpha=alpha)

    assert [(chunk.chunk_id, chunk.score) for chunk in shifted] == [
        (chunk.chunk_id, chunk.score) for chunk in straight
    ]


@given(legs, legs)
def test_alpha_0_is_the_lexical_leg_alone(dense: list[Candidate], lexical: list[Candidate]) -> None:
    fused = fusion.relative(dense, lexical, alpha=0)

    assert order(fused) == ids(lexical)


@given(legs, legs)
def test_alpha_1_is_the_dense_leg_alone(dense: list[Candidate], lexical: list[Candidate]) -> None:
    fused = fusion.relative(dense, lexical, alpha=1)

    assert order(fused) == ids(dense)


@given(st.sets(chunk_ids, min_size=1), scores)
def test_a_leg_of_equal_scores_is_as_good_as_its_best(found: set[int], score: float) -> None:
    equal = leg(*((chunk_id, score) for chunk_id in found))

    fused = fusion.relative(equal, [], alpha=0.5)

    assert {chunk.score for chunk in fused} == {0.5}
