"""The terms of chunks as compressed columns: for each term the rows that hold it.

Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.resident.exact_scores import TermProducts


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

    def products(self, weights: Mapping[int, float]) -> Sequence[TermProducts]:
        """Of the query's terms that a chunk holds, ascending: which rows, and weight times value.

        PostgreSQL receives weights in single precision.
        """
        wanted = np.array(sorted(weights), np.int32)
        places = self.terms.searchsorted(wanted)
        is_held = self.terms.take(places, mode="clip") == wanted if len(self.terms) else places < 0
        places = places[is_held]
        starts, ends = self.starts[places].tolist(), self.starts[places + 1].tolist()
        held: list[TermProducts] = []
        for term, start, end in zip(wanted[is_held].tolist(), starts, ends, strict=True):
            weight = np.float64(np.float32(weights[term]))
            # NumPy goes to places of this type in half the time.
            held.append((self.rows[start:end].astype(np.intp), self.values[start:end] * weight))
        return held

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
