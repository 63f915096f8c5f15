"""The terms of chunks as compressed columns: for each term the rows that hold it.

Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class TermPostings:
    """The postings of `rows_max` rows, by term.

    terms:  the distinct terms, ascending; shape (terms,).
    starts: where the postings of each term begin, and the end of the last; shape (terms + 1,).
    rows:   of the chunks that hold a term, ascending for each; shape (postings,).
    values: what the lexical vectors hold there, as PostgreSQL stores it; shape (postings,).
    """

    rows_max: int
    terms: NDArray[np.int32]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: NDArray[np.float32]

    @property
    def size_bytes(self) -> int:
        arrays = (self.terms, self.starts, self.rows, self.values)
        return sum(array.nbytes for array in arrays)

    def is_consistent(self) -> bool:
        """Whether the arrays fit together, so that no question reads beside them."""
        lengths = len(self.terms) + 1 == len(self.starts) and len(self.rows) == len(self.values)
        arrays = (self.terms, self.starts, self.rows, self.values)
        if not lengths or any(array.ndim != 1 for array in arrays):
            return False
        ends = (int(self.starts[0]), int(self.starts[-1]))
        have_rows = (self.starts[1:] > self.starts[:-1]).all()
        is_distinct = (self.terms[1:] > self.terms[:-1]).all()
        are_rows = (self.rows >= 0).all() and (self.rows < self.rows_max).all()
        if ends != (0, len(self.rows)) or not (have_rows and is_distinct and are_rows):
            return False
        is_ascending = self.rows[1:] > self.rows[:-1]
        is_ascending[self.starts[1:-1] - 1] = True  # there another term begins
        return bool(is_ascending.all())

    def scores(self, weights: Mapping[int, float]) -> NDArray[np.float32]:
        """The lexical score of each row, by the weights of the query's terms."""
        found = self._found(weights)
        if not found:
            return np.zeros(self.rows_max, np.float32)
        rows = np.concatenate([self.rows[postings] for postings, _ in found])
        parts = np.concatenate([self.values[postings] * weight for postings, weight in found])
        return np.bincount(rows, parts, self.rows_max).astype(np.float32)

    def products(self, rows: NDArray[np.intp], weights: Mapping[int, float]) -> NDArray[np.float64]:
        """Weight times value of each of the query's terms, ascending; shape (terms, rows).

        rows: those that are wanted. Terms that no chunk holds are left out.
        """
        found = self._found(dict(sorted(weights.items())))
        products = np.zeros((len(found), len(rows)))
        wanted = rows.astype(np.int32)  # as the postings, which would be converted instead
        for of_term, (postings, weight) in zip(products, found, strict=True):
            holding = self.rows[postings]
            places = holding.searchsorted(wanted)
            is_held = holding.take(places, mode="clip") == wanted
            values = self.values[postings].take(places, mode="clip")
            np.multiply(values, weight, out=of_term, where=is_held, dtype=np.float64)
        return products

    def _found(self, weights: Mapping[int, float]) -> list[tuple[slice, np.float32]]:
        """The postings and the weight of each term that a chunk holds."""
        wanted = np.fromiter(weights, np.int32, len(weights))
        places = np.searchsorted(self.terms, wanted)
        return [
            (slice(self.starts[place], self.starts[place + 1]), np.float32(weights[term]))
            for term, place in zip(wanted.tolist(), places.tolist(), strict=True)
            if place < len(self.terms) and self.terms[place] == term
        ]

    def triples(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
        """The term, the row and the value of each posting."""
        return np.repeat(self.terms, np.diff(self.starts)), self.rows, self.values


def build(
    terms: NDArray[np.int32], rows: NDArray[np.int32], values: NDArray[np.float32], rows_max: int
) -> TermPostings:
    """The postings of these triples; a row holds a term at most once."""
    order = np.lexsort((rows, terms))
    distinct, starts = np.unique(terms[order], return_index=True)
    return TermPostings(
        rows_max, distinct, np.append(starts, len(terms)), rows[order], values[order]
    )
