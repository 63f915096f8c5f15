"""Postings give the values that rows hold of terms, whatever the order of the triples."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from index.resident import term_postings
from index.resident.term_postings import TermPostings

ROWS = 6
TERMS = st.integers(0, 4)
HELD = st.dictionaries(st.tuples(TERMS, st.integers(0, ROWS - 1)), st.floats(0.5, 1.0, width=32))


def built(triples: list[tuple[int, int, float]]) -> TermPostings:
    terms, rows, values = zip(*triples, strict=True) if triples else ((), (), ())
    columns = (np.array(terms, np.int32), np.array(rows, np.int32), np.array(values, np.float32))
    return term_postings.build(*columns, ROWS)


@given(held=HELD, weights=st.dictionaries(TERMS, st.floats(0.5, 1.0, width=32)), data=st.data())
def test_products_are_those_of_each_term_and_row(
    held: dict[tuple[int, int], float], weights: dict[int, float], data: st.DataObject
) -> None:
    triples = data.draw(st.permutations([(*place, value) for place, value in held.items()]))
    postings = built(triples)

    found = [(rows.tolist(), products.tolist()) for rows, products in postings.products(weights)]

    assert postings.is_consistent()
    assert found == [
        (rows, [weights[term] * held[term, row] for row in rows])
        for term in sorted(weights)
        if (rows := sorted(row for of, row in held if of == term))
    ]


def test_rows_of_a_term_that_do_not_ascend_are_inconsistent() -> None:
    postings = built([(1, 0, 0.5), (1, 2, 0.5), (3, 1, 0.5)])
    assert postings.is_consistent()

    for rows in ([2, 0, 1], [2, 2, 1]):
        assert not replace(postings, rows=np.array(rows, np.int32)).is_consistent()
