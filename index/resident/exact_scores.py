"""Scores of chunks as PostgreSQL computes them, to the last bit.

pgvector sums products in single precision, in an order that its build and the processor decide. A
shard that holds texts answers without PostgreSQL, so it has to sum in the same order. `probe` finds
the order by comparing scores of made-up vectors with those of the server.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector, SparseVector

from index.postgres.session import Session
from index.text import lexical

_LANES = 8  # single precisions in one register of AVX
_PROBES = 64  # pairs of vectors; of another order about every third pair has another score
_PROBE_DIMENSIONS = 32 * _LANES + 3  # some are added after the lanes
_PROBE_TERMS = 12
_SINGLE_HALFWAY = 1 << 28  # of the 29 bits that a double has more than a single
_BITS_BEYOND_SINGLE = (1 << 29) - 1


@dataclass(frozen=True, slots=True)
class SumOrder:
    """How a server adds.

    folds_lanes: eight partial sums of a dense product are added as halves: four to four, two to
                 two, one to one. Otherwise one after the other.
    is_fused:    a lexical product is not rounded before it is added.
    """

    folds_lanes: bool
    is_fused: bool

    def dense(self, rows: NDArray[np.float16], vector: NDArray[np.float16]) -> NDArray[np.float64]:
        """`1 - (row <=> vector)` for each row; shape (rows,). No vector is zero."""
        wide, asked = rows.astype(np.float32), vector.astype(np.float32)
        sums = self._sums(np.concatenate([wide * asked, wide * wide, [asked * asked]]))
        dots, squares, asked_square = sums[: len(rows)], sums[len(rows) : -1], sums[-1]
        cosines: NDArray[np.float64] = np.clip(dots / np.sqrt(squares * asked_square), -1.0, 1.0)
        return 1.0 - (1.0 - cosines)

    def lexical(self, products: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sums of each column, added from the first row to the last; shape (columns,).

        products: of two singles each, which a double holds exactly; 0 where a chunk lacks a term.
        """
        totals = np.zeros(products.shape[1], np.float32)
        if not self.is_fused:
            for row in products.astype(np.float32):
                totals += row
            return totals.astype(np.float64)
        sums = np.empty_like(products)
        for row, of_row in zip(products, sums, strict=True):
            np.add(row, totals, out=of_row)
            totals = of_row.astype(np.float32)
        is_doubtful = (_bits_beyond_single(sums) == _SINGLE_HALFWAY).any()
        return (_fused_sums(products) if is_doubtful else totals).astype(np.float64)

    def _sums(self, products: NDArray[np.float32]) -> NDArray[np.float64]:
        """The sum of each row, whose products are exact; shape (rows,)."""
        whole = products.shape[1] // _LANES * _LANES
        # Along an axis that is not the last one NumPy adds one after the other.
        lanes = np.add.reduce(products[:, :whole].reshape(len(products), -1, _LANES), axis=1)
        if self.folds_lanes:
            lanes = lanes[:, :4] + lanes[:, 4:]
            lanes = lanes[:, :2] + lanes[:, 2:]
        sums = lanes[:, 0].copy()
        for column in (*lanes.T[1:], *products.T[whole:]):
            sums += column
        doubles: NDArray[np.float64] = sums.astype(np.float64)
        return doubles


_ORDERS = tuple(SumOrder(*flags) for flags in product((True, False), repeat=2))


async def probe(session: Session) -> SumOrder | None:
    """The order in which the server adds; None if it is none of those known here."""
    random = np.random.default_rng(0)
    dense = random.standard_normal((_PROBES, _PROBE_DIMENSIONS)).astype(np.float16)
    weights = random.random((2, _PROBE_TERMS, _PROBES)).astype(np.float32)
    row = await session.row(
        "resident.scores",
        [HalfVector(vector) for vector in dense],
        [HalfVector(vector) for vector in dense[::-1]],
        *([_sparse(column) for column in side.T] for side in weights),
    )
    assert row is not None, "an aggregate always has a row"
    for order in _ORDERS:
        scores = [
            float(order.dense(vector[np.newaxis], other)[0])
            for vector, other in zip(dense, dense[::-1], strict=True)
        ]
        sums = order.lexical(weights[0].astype(np.float64) * weights[1])
        if scores == row["dense"] and sums.tolist() == row["lexical"]:
            return order
    return None


def _sparse(weights: NDArray[np.float32]) -> SparseVector:
    return SparseVector(dict(enumerate(weights.tolist())), lexical.DIMENSION)


def _bits_beyond_single(values: NDArray[np.float64]) -> NDArray[np.int64]:
    return values.view(np.int64) & _BITS_BEYOND_SINGLE


def _fused_sums(products: NDArray[np.float64]) -> NDArray[np.float32]:
    """As with fused multiply-add: each product is added exactly, and the sum is rounded once.

    A double rounds the exact sum first. Rounding that to odd makes the second rounding right.

    Source: Boldo and Melquiond, Emulation of a FMA and Correctly Rounded Sums, IEEE Transactions on
    Computers, 2008.
    """
    totals = np.zeros(products.shape[1], np.float32)
    for row in products:
        sums = row + totals
        of_row = sums - totals
        error = (row - of_row) + (totals - (sums - of_row))  # exact; Knuth's TwoSum
        is_even = sums.view(np.int64) & 1 == 0
        towards = np.copysign(np.inf, error)
        sums = np.where((error != 0) & is_even, np.nextafter(sums, towards), sums)
        totals = sums.astype(np.float32)
    return totals
