"""Segments of a few chunks, each with a number that its vector holds, for models of PostgreSQL."""

from collections.abc import Mapping

import numpy as np
import orjson

from index.postgres.session import Row
from index.resident.building import loading
from index.resident.exact_scores import SumOrder
from index.resident.segment import ShardSegment
from index.resident.shard import ChunkLabels, PartitionStats, Shard

STATS = PartitionStats(None, frozenset(), 0, None)
WRONG_LABELS = -1
_SOURCE = 1  # its place in `ShardSegment.labels`


SUMS = SumOrder(folds_lanes=True, is_fused=False)


def empty_shard(labels: ChunkLabels, partition: str, history: str, revision: int) -> Shard:
    return Shard(partition, history, revision, None, STATS, SUMS, labels, None, (), ())


def tiny_segment(labels: ChunkLabels, values: Mapping[int, int]) -> ShardSegment:
    """A segment of these chunks, each of a document of its own, from a source of its value.

    values: by chunk id.
    """
    names = sorted(values)
    documents: list[Row] = [
        {
            "document_key": name,
            "tenant": "acme",
            "document_id": str(name),
            "source": _source(values[name]),
            "language": "en",
            "tags": ("even",) if values[name] % 2 == 0 else (),
            "owner": None,
            "readers": ("tenant",),
        }
        for name in names
    ]
    ids = np.array(names, ">i8").tobytes()
    vectors = [
        np.array([2, 0], ">i2").tobytes() + np.array([1, values[name]], ">f2").tobytes()
        for name in names
    ]
    terms = [
        np.array([2**20, 1, 0, name], ">i4").tobytes() + np.array([1], ">f4").tobytes()
        for name in names
    ]
    records = [orjson.dumps([name, f"Text {values[name]}."]) for name in names]
    chunks: Row = {
        "chunks": len(names),
        "ids": ids,
        "document_keys": ids,
        "dense": b"".join(vectors),
        "lexical": b"".join(terms),
        "lexical_lengths": np.array([len(each) for each in terms], ">i4").tobytes(),
        "records": b"".join(records),
        "record_lengths": np.array([len(each) for each in records], ">i4").tobytes(),
    }
    return loading.from_rows(labels, documents, chunks)


def held_rows(shard: Shard) -> list[tuple[int, int]]:
    """The id and the value of each live row; a faulty shard may have a chunk twice.

    The value is `WRONG_LABELS` if the source is that of another value, or none.
    """
    sources = dict(enumerate(shard.labels.sources.values()))
    rows = []
    for segment, live in zip(shard.segments, shard.live, strict=True):
        for row in np.flatnonzero(live):
            value = round(float(segment.dense[row, 1]))
            is_right = sources.get(int(segment.labels[_SOURCE, row])) == _source(value)
            rows.append((int(segment.ids[row]), value if is_right else WRONG_LABELS))
    return rows


def values_of(shard: Shard) -> dict[int, int]:
    """The value of each chunk of a shard; each is there once."""
    rows = held_rows(shard)
    assert len(dict(rows)) == len(rows)
    return dict(rows)


def _source(value: int) -> str:
    return f"source {value}"
