"""The canonical form of a query's own vector."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.model.query_parts import query_vector

numbers = st.lists(
    st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9), min_size=1, max_size=9
).filter(any)


@given(numbers)
def test_it_has_length_one_and_is_its_own_canonical_form(vector: list[float]) -> None:
    half = query_vector.decode(query_vector.encode(vector))

    assert half.shape == (len(vector),)
    assert np.linalg.norm(half.astype(float)) == pytest.approx(1, abs=2e-3)


@given(st.lists(st.integers(-1_000, 1_000), min_size=1, max_size=9).filter(any))
def test_vectors_of_one_direction_are_equal(vector: list[int]) -> None:
    encoded = query_vector.encode(vector)

    for factor in (2.0**-1000, 0.5, 64, 2.0**1000):
        assert query_vector.encode([factor * number for number in vector]) == encoded


def test_the_numbers_of_an_embedder_are_rounded_alone() -> None:
    rows = np.random.default_rng(7).normal(size=(50, 256))
    for row in rows:
        unit = (row / np.linalg.norm(row)).astype(np.float32)

        encoded = query_vector.encode(unit.tolist())

        assert query_vector.decode(encoded).tobytes() == unit.astype("<f2").tobytes()


@pytest.mark.parametrize("vector", [[0, 0.0], [float("inf"), 1], [float("nan")], [10**400]])
def test_what_has_no_direction_is_refused(vector: list[float]) -> None:
    with pytest.raises(ValueError, match="must have"):
        query_vector.encode(vector)
