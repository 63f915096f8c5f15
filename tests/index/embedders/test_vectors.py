"""Vectors as PostgreSQL takes them."""

from hypothesis import given
from hypothesis import strategies as st
from pgvector import SparseVector

from index.embedders import vectors

DIMENSIONS = 1_000_000_000

weights = st.dictionaries(
    st.integers(0, DIMENSIONS - 1), st.floats(1e-6, 1.8, allow_subnormal=False)
)


@given(weights)
def test_a_sparse_vector_is_sent_as_pgvector_sends_it(held: dict[int, float]) -> None:
    assert vectors.sparse(held, DIMENSIONS) == SparseVector(held, DIMENSIONS).to_binary()
