"""Real versions of shards, of which equal ones are one object, so that worlds can be compared.

Every operation on them is remembered: a search of all interleavings repeats few of them.
"""

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from index.resident.building import loading
from index.resident.building.loading import ShardChanges
from index.resident.shard import ChunkLabels, Shard
from tests.index.support.shard_worlds import PARTITION, Contents, ModelHistory
from tests.index.support.tiny_shards import STATS, empty_shard, held_rows, tiny_segment

Apply: TypeAlias = Callable[[Shard, ShardChanges], Shard | None]
Compact: TypeAlias = Callable[[Shard], Shard]
Store: TypeAlias = Callable[[Shard], Shard]


class ShardVersions:
    """compact, store: of shards, or mutants of these. store: what a file says that it holds."""

    def __init__(self, compact: Compact, store: Store) -> None:
        self._labels = loading.new_labels()  # of all loads, so that equal ones are one object
        self._versions: dict[object, Shard] = {}
        self._store = store
        self.applied = cache(self._applied)
        self.compacted: Compact = cache(lambda shard: self._only(compact(shard)))
        self.stored: Store = cache(self._stored)
        self.loaded = cache(self._loaded)
        self.changes = cache(self._changes)
        self.held = cache(held_rows)
        self.only = cache(self._only)

    def _applied(self, apply: Apply, shard: Shard, changes: ShardChanges) -> Shard | None:
        after = apply(shard, changes)
        return None if after is None else self._only(after)

    def _stored(self, shard: Shard) -> Shard:
        """The shard of the file: its labels have codes of their own."""
        said = self._store(shard)
        rows = tuple(self.held(shard))
        known = self._versions.get((said.history, said.revision, rows))
        if known is None:
            labels = loading.new_labels()
            known = self._segmented(labels, said.history, said.revision, dict(rows))
            self._versions[said.history, said.revision, rows] = known
        return known

    def _loaded(self, history: str, revision: int, contents: Contents) -> Shard:
        return self._segmented(self._labels, history, revision, _values(contents))

    def _segmented(
        self, labels: ChunkLabels, history: str, revision: int, values: dict[int, int]
    ) -> Shard:
        shard = empty_shard(labels, PARTITION, history, revision)
        if values:
            shard = shard.with_segment(tiny_segment(labels, values))
            shard = shard.at_revision(revision, "space", STATS, None)
        return self._only(shard)

    def _changes(
        self, history: ModelHistory, since: int, rows_revision: int, labels: ChunkLabels
    ) -> ShardChanges:
        """As `resident.changes`: the rows as of one revision, under the name of the newest.

        labels: of the shard that they are read for.
        """
        outdated, written = set(), set()
        steps = history.contents[since : rows_revision + 1]
        for before, after in pairwise(steps):
            for chunk, (was, value) in enumerate(zip(before, after, strict=True), start=1):
                if was and was != value:
                    outdated.add(chunk)
                if value and was != value:
                    written.add(chunk)
        values = _values(history.contents[rows_revision])
        changed = {chunk: values[chunk] for chunk in sorted(written & values.keys())}
        return ShardChanges(
            history=history.name,
            revision=history.revision,
            space="space" if changed else None,
            stats=STATS,
            words=None,
            outdated=np.array(sorted(outdated), np.int64),
            segment=tiny_segment(labels, changed) if changed else None,
        )

    def _only(self, shard: Shard) -> Shard:
        """The version that is equal to this one."""
        rows = tuple(
            (
                tuple(segment.ids.tolist()),
                segment.dense.tobytes(),
                segment.labels.tobytes(),
                tuple(live.tolist()),
            )
            for segment, live in zip(shard.segments, shard.live, strict=True)
        )
        key = (shard.history, shard.revision, rows, shard.labels)
        return self._versions.setdefault(key, shard)


def _values(contents: Contents) -> dict[int, int]:
    return {chunk: value for chunk, value in enumerate(contents, start=1) if value}
