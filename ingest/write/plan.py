"""A plan: the smallest change from the chunks that are stored to those of a new version."""

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.chunkers.chunk import Chunk


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk of the document in the index."""

    chunk_id: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class ChunkPlan:
    """What to do with each new and each stored chunk; every one of them occurs once.

    added: indexes into the new chunks, ascending.
    kept: (chunk id, index into the new chunks), by index. Their spans may have changed.
    removed: chunk ids, ascending.
    """

    added: tuple[int, ...]
    kept: tuple[tuple[int, int], ...]
    removed: tuple[int, ...]


def plan_chunks(stored: Sequence[StoredChunk], new: Sequence[Chunk]) -> ChunkPlan:
    """Keep chunks with equal digests, as often as they occur on both sides; change the rest.

    Of equal digests the lowest chunk ids are kept, for the first of the new chunks.
    """
    unclaimed: defaultdict[bytes, deque[int]] = defaultdict(deque)
    for old in sorted(stored, key=lambda old: old.chunk_id):
        unclaimed[old.digest].append(old.chunk_id)
    added, kept = [], []
    for index, chunk in enumerate(new):
        if chunk_ids := unclaimed[chunk.digest]:
            kept.append((chunk_ids.popleft(), index))
        else:
            added.append(index)
    removed = sorted(chunk_id for chunk_ids in unclaimed.values() for chunk_id in chunk_ids)
    return ChunkPlan(tuple(added), tuple(kept), tuple(removed))
