"""Which way a search goes: everything is looked through once, and what is small without asking."""

from dataclasses import replace
from math import log

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from index.search.tables import strategy
from index.search.tables.strategy import (
    PartitionSize,
    SearchPass,
    StrategyLimits,
    VisibilityEstimate,
)
from index.text import lexical

LIMITS = StrategyLimits(crossover_chunks=20_000)
WIDTH = 256
LARGE = VisibilityEstimate(
    size=PartitionSize(tenant_chunks=100_000, public_chunks=100_000),
    own_share=1.0,
    others_share=1.0,
    partition_no=3,
    width=WIDTH,
    others_partitions={0: WIDTH, 7: WIDTH},
    others_elsewhere=True,
    history="a1",
    revisions=(3, 2),
)

shares = st.floats(0, 1)
surveys = st.builds(
    VisibilityEstimate,
    size=st.builds(PartitionSize, st.integers(0, 100_000), st.integers(0, 100_000)),
    own_share=shares,
    others_share=shares,
    partition_no=st.integers(0, 9),
    width=st.sampled_from([None, WIDTH, 384]),
    others_partitions=st.dictionaries(st.integers(0, 9), st.sampled_from([WIDTH, 384]), max_size=3),
    others_elsewhere=st.booleans(),
    revisions=st.tuples(st.integers(0, 9), st.integers(0, 9)),
)
widths = st.sampled_from([None, WIDTH])

# As `lexical` makes them: a query's weight is the negative logarithm of a chance, a chunk's is a
# saturated frequency.
weights = st.dictionaries(st.integers(0, 50), st.floats(0.11, 12), max_size=12)
chances = st.dictionaries(st.integers(0, 50), st.floats(1e-5, 0.9), max_size=12)
frequencies = st.floats(0.001, lexical.K1 + 1, exclude_max=True)


@pytest.mark.parametrize(
    ("tenant_chunks", "public_chunks", "others", "is_small"),
    [
        (20_000, 0, True, True),
        (20_001, 0, False, False),
        (19_000, 1_000, True, True),
        (19_000, 1_001, True, False),
        (19_000, 1_001, False, True),
        (0, 0, True, True),
    ],
)
def test_what_is_small_is_counted_with_the_public_chunks_only_if_they_are_asked_for(
    tenant_chunks: int, public_chunks: int, *, others: bool, is_small: bool
) -> None:
    assert PartitionSize(tenant_chunks, public_chunks).is_small(LIMITS, others=others) == is_small


@given(survey=surveys, others=st.booleans(), width=widths)
@example(survey=replace(LARGE, others_elsewhere=False), others=True, width=WIDTH)
def test_the_passes_look_once_through_everything_that_is_asked_for_and_nothing_else(
    survey: VisibilityEstimate, width: int | None, *, others: bool
) -> None:
    passes = strategy.choose(survey, LIMITS, others=others, width=width)

    exact = [one for one in passes if one.way != "nearest"]
    nearest = [one for one in passes if one.way == "nearest"]
    assert [one.own for one in passes].count(True) == 1
    assert len(exact) <= 1
    by_index = [one.partition_no for one in nearest if one.others]
    is_all = set(by_index) == survey.others_partitions.keys() and not survey.others_elsewhere
    rest = [one for one in exact if one.others]
    assert len(rest) == (others and not (by_index and is_all))
    assert all(list(one.left_out) == by_index for one in rest)
    assert all(one.own != one.others for one in nearest)
    assert all(one.own or one.others for one in exact)


@given(survey=surveys, others=st.booleans(), width=widths)
def test_an_index_is_looked_through_only_for_much_and_only_with_a_vector_of_its_width(
    survey: VisibilityEstimate, width: int | None, *, others: bool
) -> None:
    passes = strategy.choose(survey, LIMITS, others=others, width=width)

    for one in passes:
        if one.way == "nearest":
            assert width is not None
            assert one.visible > LIMITS.crossover_chunks
            assert one.visible == (survey.own_visible if one.own else survey.others_visible)
        if one.way == "nearest" and one.own:
            assert (one.partition_no, survey.width) == (survey.partition_no, width)
        if one.way == "nearest" and one.others:
            assert one.partition_no in survey.others_partitions


@given(survey=surveys, others=st.booleans())
def test_without_a_vector_one_exact_pass_looks_through_everything(
    survey: VisibilityEstimate, *, others: bool
) -> None:
    one = strategy.exact(others=others)

    assert (one.own, one.others, one.left_out) == (True, others, ())
    assert [one] == strategy.choose(survey, LIMITS, others=others, width=None)


def test_much_of_the_tenants_own_is_looked_for_in_its_index_and_the_rest_exactly() -> None:
    alone = strategy.choose(LARGE, LIMITS, others=False, width=WIDTH)
    with_few_others = strategy.choose(
        replace(LARGE, others_share=0.1), LIMITS, others=True, width=WIDTH
    )
    with_many_others = strategy.choose(LARGE, LIMITS, others=True, width=WIDTH)

    own = SearchPass("nearest", own=True, others=False, partition_no=3, visible=100_000)
    assert alone == [own]
    assert with_few_others == [own, SearchPass("exact", own=False, others=True)]
    assert with_many_others == [
        SearchPass("nearest", own=False, others=True, partition_no=0, visible=100_000),
        SearchPass("nearest", own=False, others=True, partition_no=7, visible=100_000),
        own,
        SearchPass("exact", own=False, others=True, left_out=(0, 7)),
    ]


def test_many_public_chunks_of_others_do_not_change_how_the_tenants_own_are_looked_through() -> (
    None
):
    survey = replace(LARGE, size=PartitionSize(6_000, 100_000), own_share=0.1)

    assert strategy.choose(survey, LIMITS, others=True, width=WIDTH) == [
        SearchPass("nearest", own=False, others=True, partition_no=0, visible=100_000),
        SearchPass("nearest", own=False, others=True, partition_no=7, visible=100_000),
        SearchPass("exact", own=True, others=True, left_out=(0, 7)),
    ]


@given(chances=chances, visible=st.floats(0, 1e6), candidates=st.integers(1, 1000))
def test_the_rarest_terms_are_as_few_as_promise_four_times_the_candidates(
    chances: dict[int, float], visible: float, candidates: int
) -> None:
    chosen = strategy.rarest_terms(chances, visible, candidates)

    promised = [chances[term] * visible for term in chosen]
    left = [chances[term] for term in chances.keys() - set(chosen)]
    assert len(set(chosen)) == len(chosen)
    assert promised == sorted(promised)
    assert all(chance >= chances[term] for chance in left for term in chosen)
    assert sum(promised[:-1]) < 4 * candidates
    assert sum(promised) >= 4 * candidates or not left


@given(
    weights=weights,
    chunk=st.dictionaries(st.integers(0, 50), frequencies, max_size=50),
    floor=st.floats(0, 150),
)
def test_a_chunk_that_holds_none_of_the_sufficient_terms_scores_below_the_floor(
    weights: dict[int, float], chunk: dict[int, float], floor: float
) -> None:
    sufficient = strategy.sufficient_terms(weights, floor)

    held = {term: held for term, held in chunk.items() if term not in sufficient}
    score = sum(weight * held.get(term, 0.0) for term, weight in weights.items())
    assert score < floor or score == floor == 0


@given(weights=weights.filter(bool), floor=st.floats(0, 150))
def test_with_any_fewer_terms_a_chunk_might_reach_the_floor(
    weights: dict[int, float], floor: float
) -> None:
    sufficient = strategy.sufficient_terms(weights, floor)

    fewer = sorted(weights.values(), reverse=True)[: max(len(sufficient) - 1, 0)]
    best_without = (lexical.K1 + 1) * (sum(weights.values()) - sum(fewer))
    assert set(sufficient) <= weights.keys()
    assert len(set(sufficient)) == len(sufficient)
    assert not sufficient or best_without >= floor - 1e-9


@given(weights=weights)
def test_without_a_floor_every_term_is_needed(weights: dict[int, float]) -> None:
    assert set(strategy.sufficient_terms(weights, 0.0)) == weights.keys()


@given(chances=chances, floor=st.floats(0, 150))
def test_sufficient_terms_are_the_rarest_and_so_are_often_among_those_looked_for_at_first(
    chances: dict[int, float], floor: float
) -> None:
    weights = {term: -log(chance) for term, chance in chances.items()}
    sufficient = strategy.sufficient_terms(weights, floor)
    every = strategy.rarest_terms(chances, visible=0, candidates=1)

    # Chances that differ in their last bit may have equal logarithms, and so equal weights.
    assert {weights[term] for term in sufficient} == {
        weights[term] for term in every[: len(sufficient)]
    }
