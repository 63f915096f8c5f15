"""Scores of chunks as PostgreSQL computes them, to the last bit.

pgvector sums products in single precision, in an order that its build and the processor decide. A
shard that holds texts answers without PostgreSQL, so it has to sum in the same order. `probe` finds
the order by comparing scores of made-up vectors with those of the server.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

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

# The rows that hold a term, each once, and the products of its weight and theirs: products of two
# singles, which a double holds exactly.
TermProducts: TypeAlias = tuple[NDArray[np.intp], NDArray[np.float64]]


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
        wide = np.empty((len(rows) + 1, len(vector)), np.float32)
        wide[:-1], wide[-1] = rows, vector
        products = np.empty((2, *wide.shape), np.float32)
        np.multiply(wide, wide[-1], out=products[0])
        np.multiply(wide, wide, out=products[1])
        dots, squares = self._sums(products)
        cosines = dots[:-1] / np.sqrt(squares[:-1] * squares[-1])
        bounded: NDArray[np.float64] = np.minimum(np.maximum(cosines, -1.0), 1.0)
        return 1.0 - (1.0 - bounded)

    def lexical(self, terms: Sequence[TermProducts], rows_max: int) -> NDArray[np.float32]:
        """The sum of each row's products, added from the first term to the last; 0 without terms.

        Shape (rows_max,).
        """
        totals = np.zeros(rows_max, np.float32)
        if not self.is_fused:
            for rows, products in terms:
                totals[rows] += products.astype(np.float32)
            return totals
        before, sums = [], []
        for rows, products in terms:
            before.append(totals[rows])
            sums.append(before[-1] + products)
            totals[rows] = sums[-1].astype(np.float32)
        if not sums:
            return totals
        doubles = np.concatenate(sums)
        halfway = (_bits_beyond_single(doubles) == _SINGLE_HALFWAY).nonzero()[0]
        if len(halfway):
            products = np.concatenate([products for _, products in terms])[halfway]
            lost = _lost(np.concatenate(before)[halfway], products, doubles[halfway])
            if lost.any():
                return _fused_sums(terms, rows_max)
        return totals

    def _sums(self, products: NDArray[np.float32]) -> NDArray[np.float64]:
        """The sums along the last axis, whose products are exact."""
        *outer, length = products.shape
        whole = length // _LANES * _LANES
        # Along an axis that is not the last one NumPy adds one after the other.
        lanes = np.add.reduce(products[..., :whole].reshape(*outer, -1, _LANES), axis=-2)
        if self.folds_lanes:
            lanes = lanes[..., :4] + lanes[..., 4:]
            lanes = lanes[..., :2] + lanes[..., 2:]
        sums = lanes[..., 0].copy()
        for place in range(1, lanes.shape[-1]):
            sums += lanes[..., place]
        for place in range(whole, length):
            sums += products[..., place]
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
        products = weights[0].astype(np.float64) * weights[1]
        sums = order.lexical([(np.arange(_PROBES), of_term) for of_term in products], _PROBES)
        if scores == row["dense"] and sums.tolist() == row["lexical"]:
            return order
    return None


def _sparse(weights: NDArray[np.float32]) -> SparseVector:
    return SparseVector(dict(enumerate(weights.tolist())), lexical.DIMENSION)


def _bits_beyond_single(values: NDArray[np.float64]) -> NDArray[np.int64]:
    return values.view(np.int64) & _BITS_BEYOND_SINGLE


def _fused_sums(terms: Sequence[TermProducts], rows_max: int) -> NDArray[np.float32]:
    """As with fused multiply-add: each product is added exactly, and the sum is rounded once.

    A double rounds the exact sum first. Rounding that to odd makes the second rounding right.

    Source: Boldo and Melquiond, Emulation of a FMA and Correctly Rounded Sums, IEEE Transactions on
    Computers, 2008.
    """
    totals = np.zeros(rows_max, np.float32)
    for rows, products in terms:
        before = totals[rows]
        sums = products + before
        lost = _lost(before, products, sums)
        is_even = sums.view(np.int64) & 1 == 0
        towards = np.copysign(np.inf, lost)
        totals[rows] = np.where((lost != 0) & is_even, np.nextafter(sums, towards), sums)
    return totals


def _lost(
    totals: NDArray[np.float32], products: NDArray[np.float64], sums: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What the rounding of each sum has left out; exact, by Knuth's TwoSum."""
    added = sums - totals
    return (products - added) + (totals - (sums - added))
