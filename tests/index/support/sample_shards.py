"""Small shards of made-up chunks, without PostgreSQL."""

from collections.abc import Mapping, Sequence

import numpy as np

from index.model.query import Filter
from index.model.scope import Scope
from index.resident import chunk_records, term_postings
from index.resident.building import loading
from index.resident.segment import ShardSegment
from index.resident.shard import PartitionStats, Shard, ShardQuestion
from index.vocabulary.extent import Extent
from index.vocabulary.resident_words import ResidentWords
from tests.index.support.tiny_shards import STATS, SUMS, tiny_segment

SPACE = "space"
HISTORY = "first"
WORDS = {"group:staff": ("lighthouse",), "tenant": ("harbour", "lightship")}


def a_shard(
    values: Mapping[int, int],
    *,
    partition: str = "acme",
    revision: int = 7,
    words: Mapping[str, Sequence[str]] = WORDS,
) -> Shard:
    """words: of the tenant's vocabulary, by token."""
    labels = loading.new_labels()
    extent = Extent(HISTORY, sum(map(len, words.values())))
    return Shard(
        partition=partition,
        history=HISTORY,
        revision=revision,
        space=SPACE,
        stats=PartitionStats("a-space", frozenset({"en", "de"}), extent.words, {"floor": 0.25}),
        sums=SUMS,
        labels=labels,
        words=ResidentWords.of(extent, words, "", 812),
        segments=(tiny_segment(labels, values),),
        live=(np.ones(len(values), np.bool_),),
    )


def a_question(
    scope: Scope, *, term: int = 1, document_filter: Filter | None = None
) -> ShardQuestion:
    return ShardQuestion(
        scope=scope,
        filter=document_filter or Filter(),
        vector=np.array([1, 2], np.float16),
        space=SPACE,
        weights={term: 1.0},
        alpha=0.5,
        count=3,
    )


def a_large_shard(chunks: int, *, dimensions: int = 256, words: int = 60) -> Shard:
    """A shard of the size that real texts give: three chunks a document, so many words a chunk."""
    random = np.random.default_rng(0)
    labels = loading.new_labels()
    for number in range(chunks // 3 + 1):
        labels.documents.code(f"handbook/page-{number:06}")
    labels.audiences.code(("tenant",))
    labels.tags.code(())
    labels.sources.code("api")
    labels.languages.code("en")
    labels.tenants.code("acme")
    codes = np.zeros((6, chunks), np.int32)
    codes[4] = np.arange(chunks) // 3
    rows = np.repeat(np.arange(chunks, dtype=np.int32), words)
    first_words = random.integers(0, 200_000, (chunks, 1))
    terms = ((first_words + 3_301 * np.arange(words)) % 200_000).astype(np.int32).ravel()
    values = random.random(chunks * words).astype(np.float32)
    segment = ShardSegment(
        ids=np.arange(1, chunks + 1),
        document_keys=np.arange(chunks) // 3,
        dense=random.standard_normal((chunks, dimensions)).astype(np.float16),
        inverse_norms=np.ones(chunks, np.float32),
        postings=term_postings.build(terms, rows, values, chunks),
        labels=codes,
        records=chunk_records.build([b"[]"] * chunks),
    )
    numbers = random.integers(0, 26, (20_000, 9)) + ord("a")
    known = ["".join(map(chr, letters)) for letters in numbers.tolist()]
    return Shard(
        partition="acme",
        history=HISTORY,
        revision=7,
        space=SPACE,
        stats=STATS,
        sums=SUMS,
        labels=labels,
        words=ResidentWords.of(Extent(HISTORY, 0), {"tenant": known}, "", 0),
        segments=(segment,),
        live=(np.ones(chunks, np.bool_),),
    )
