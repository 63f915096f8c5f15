"""Segments of a few chunks, each with a number that its vector holds, for models of PostgreSQL."""

from collections.abc import Mapping

import numpy as np

from index.postgres.database import Row
from index.resident import loading
from index.resident.segment import ShardSegment
from index.resident.shard import ChunkLabels, PartitionStats, Shard

STATS = PartitionStats(frozenset(), 0, None)


def empty_shard(labels: ChunkLabels, partition: str, history: str, revision: int) -> Shard:
    return Shard(partition, history, revision, None, STATS, None, labels, None, (), ())


def tiny_segment(labels: ChunkLabels, values: Mapping[int, int]) -> ShardSegment:
    """A segment of these chunks, each of a document of its own. values: by chunk id."""
    names = sorted(values)
    documents: list[Row] = [
        {
            "document_key": name,
            "tenant": "acme",
            "document_id": str(name),
            "source": "api",
            "language": "en",
            "tags": (),
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
    chunks: Row = {
        "chunks": len(names),
        "ids": ids,
        "document_keys": ids,
        "dense": b"".join(vectors),
        "lexical": b"".join(terms),
        "lexical_lengths": np.array([len(each) for each in terms], ">i4").tobytes(),
    }
    return loading.from_rows(labels, documents, chunks)


def held_rows(shard: Shard) -> list[tuple[int, int]]:
    """The id and the value of each live row; a faulty shard may have a chunk twice."""
    return [
        (int(segment.ids[row]), round(float(segment.dense[row, 1])))
        for segment, live in zip(shard.segments, shard.live, strict=True)
        for row in np.flatnonzero(live)
    ]
