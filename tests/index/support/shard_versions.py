"""Real versions of shards, of which equal ones are one object, so that worlds can be compared.

Every operation on them is remembered: a search of all interleavings repeats few of them.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from index.resident import loading
from index.resident.followed_shard import FollowedShard
from index.resident.loading import ShardChanges
from index.resident.shard import Shard
from tests.index.support.shard_worlds import PARTITION, Contents, ModelHistory
from tests.index.support.tiny_shards import STATS, empty_shard, held_rows, tiny_segment

Follow: TypeAlias = Callable[[FollowedShard, Shard, ShardChanges], FollowedShard | None]
Compact: TypeAlias = Callable[[Shard], Shard]
EndCompaction: TypeAlias = Callable[[FollowedShard, Shard], FollowedShard]


class ShardVersions:
    """follow, compact, end_compaction: of `FollowedShard` and `Shard`, or mutants of these."""

    def __init__(self, follow: Follow, compact: Compact, end_compaction: EndCompaction) -> None:
        self._labels = loading.new_labels()
        self._versions: dict[object, Shard] = {}

        @cache
        def followed(now: FollowedShard, before: Shard, changes: ShardChanges) -> object:
            after = follow(now, before, changes)
            return None if after is None else replace(after, shard=self._only(after.shard))

        @cache
        def ended(now: FollowedShard, compacted: Shard) -> FollowedShard:
            after = end_compaction(now, compacted)
            return replace(after, shard=self._only(after.shard))

        self.followed: Follow = followed  # type: ignore[assignment]  # a cache hides the types
        self.compacted: Compact = cache(lambda shard: self._only(compact(shard)))
        self.with_compacted: EndCompaction = ended
        self.loaded = cache(self._loaded)
        self.changes = cache(self._changes)
        self.held = cache(held_rows)

    def _loaded(self, history: str, revision: int, contents: Contents) -> Shard:
        values = _values(contents)
        shard = empty_shard(self._labels, PARTITION, history, revision)
        if values:
            shard = shard.with_segment(tiny_segment(self._labels, values))
            shard = shard.at_revision(revision, "space", STATS, None)
        return self._only(shard)

    def _changes(
        self, history: ModelHistory, since: int, rows_revision: int, revision: int
    ) -> ShardChanges:
        """As `resident.changes`: the rows as of one revision, under the name of another."""
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
            revision=revision,
            space="space" if changed else None,
            stats=STATS,
            words=None,
            outdated=np.array(sorted(outdated), np.int64),
            segment=tiny_segment(self._labels, changed) if changed else None,
        )

    def _only(self, shard: Shard) -> Shard:
        """The version that is equal to this one."""
        rows = tuple(
            (tuple(segment.ids.tolist()), segment.dense.tobytes(), tuple(live.tolist()))
            for segment, live in zip(shard.segments, shard.live, strict=True)
        )
        return self._versions.setdefault((shard.history, shard.revision, rows), shard)


def _values(contents: Contents) -> dict[int, int]:
    return {chunk: value for chunk, value in enumerate(contents, start=1) if value}
