"""A shard proposes all chunks that may be the best, though it compares few of their vectors.

Of these the best are chosen.
"""

import asyncio
from dataclasses import replace

import numpy as np
import orjson
import pytest
from numpy.typing import NDArray

from index.model.query import Filter
from index.model.scope import resolve
from index.resident import chunk_records, shard, term_postings
from index.resident.best_chunks import best_chunks
from index.resident.shard import Shard, ShardQuestion
from tests.index.support.sample_shards import SPACE, a_large_shard
from tests.threads import new_threads

ROWS, TERMS, COUNT = 2_000, 12, 5
ANA = resolve("acme", "ana", [], ["tenant"])


def a_shard(random: np.random.Generator) -> Shard:
    """Vectors point anywhere, some chunks have none, and some are no more."""
    made = a_large_shard(ROWS, dimensions=2, words=1)
    dense = random.standard_normal((ROWS, 2)).astype(np.float16)
    lengths = np.linalg.norm(dense.astype(np.float64), axis=1)
    inverse_norms = np.where(random.random(ROWS) < 0.9, 1 / lengths, 0.0).astype(np.float32)
    terms, rows = np.nonzero(random.random((TERMS, ROWS)) < 0.3)
    postings = term_postings.build(
        terms.astype(np.int32),
        rows.astype(np.int32),
        random.random(len(rows)).astype(np.float32),
        ROWS,
    )
    segment = replace(
        made.segments[0],
        dense=dense,
        inverse_norms=inverse_norms,
        postings=postings,
        records=chunk_records.build([orjson.dumps(["", "acme", *range(12)])] * ROWS),
    )
    return replace(made, segments=(segment,), live=(random.random(ROWS) < 0.9,))


def scores(of: Shard, question: ShardQuestion) -> NDArray[np.float64]:
    """Of each row, in double precision; -infinity of one that is no more."""
    (segment,), (live,) = of.segments, of.live
    assert question.vector is not None
    words = np.zeros(ROWS)
    for rows, products in segment.postings.products(question.weights):
        words[rows] += products
    asked = question.vector.astype(np.float64)
    cosines = segment.dense.astype(np.float64) @ asked * segment.inverse_norms
    cosines /= np.linalg.norm(asked)
    mixed = question.alpha * cosines + (1 - question.alpha) * words
    return np.where(live, np.where(segment.inverse_norms > 0, mixed, words), -np.inf)


@pytest.mark.sampled("0")
@pytest.mark.parametrize("seed", range(4))
def test_the_best_are_among_the_proposed(seed: int) -> None:
    random = np.random.default_rng(seed)
    made = a_shard(random)
    for _ in range(20):
        weights = random.dirichlet(np.ones(4))
        question = ShardQuestion(
            scope=ANA,
            filter=Filter(),
            vector=random.standard_normal(2).astype(np.float16),
            space=SPACE,
            weights=dict(zip(random.permutation(TERMS)[:4].tolist(), weights, strict=True)),
            alpha=float(random.choice([0.1, 0.25, 0.5, 1.0])),
            count=COUNT,
        )

        proposed = asyncio.run(shard.propose([made], question, ROWS, new_threads()))

        best = np.argsort(-scores(made, question))[:COUNT]
        ids = made.segments[0].ids[best].tolist()
        assert proposed is not None
        (chunks,) = proposed
        assert set(best.tolist()) <= set(chunks.rows.tolist())
        assert len(chunks.rows) < 2 * COUNT
        rows = asyncio.run(best_chunks(question, proposed))
        assert [row["chunk_id"] for row in rows] == ids
