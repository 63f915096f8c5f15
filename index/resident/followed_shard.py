"""How a shard follows the change log, and when its proposals count: rules without I/O.

Why no answer from shards misses a commit that was acknowledged before the request arrived:
  1. A version of a shard holds exactly the chunks of its revision: it was loaded in one snapshot,
     and `apply` adds the changes between two revisions, read in one snapshot. If one of these
     changes is no longer stored, the shard is loaded again.
  2. A compaction keeps the chunks of the version that it began with. The changes that came
     meanwhile are applied to its result too (`FollowedShard.with_compacted`).
  3. The statement that scores the proposed chunks begins after the request arrived, and returns the
     history and the revisions of its snapshot. The proposals count only if the shards are at these
     (`is_at`), so the answer is that of the snapshot.
  4. Shards that hold texts answer without that statement, at the revisions that were read after the
     request arrived, or at later ones (`has_reached`).
Everything may be lost at any time: an evicted shard or a process that ends costs only time.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from index.resident.loading import ShardChanges
from index.resident.shard import Shard


class ShardVersion(Protocol):
    @property
    def partition(self) -> str: ...
    @property
    def history(self) -> str: ...
    @property
    def revision(self) -> int: ...


@dataclass(frozen=True, slots=True)
class FollowedShard:
    """The newest version of a shard, and what a running compaction of an earlier one lacks.

    since_compaction: the changes that were applied since the compaction began, the oldest first;
                      None if none runs.
    """

    shard: Shard
    since_compaction: tuple[ShardChanges, ...] | None = None

    def with_changes(self, before: Shard, changes: ShardChanges | None) -> "FollowedShard | None":
        """The shard after the changes, which were read for the version `before`.

        Unchanged if that is no longer the newest version: the next reading finds the changes.
        changes: None if they can't be read. None if the shard has to be loaded again.
        """
        if self.shard is not before:
            return self
        applied = None if changes is None else apply(before, changes)
        if applied is None or changes is None:
            return None
        if self.since_compaction is None:
            return FollowedShard(applied)
        return FollowedShard(applied, (*self.since_compaction, changes))

    def compacting(self) -> "FollowedShard":
        """The shard while a compaction of this version runs."""
        return FollowedShard(self.shard, ())

    def with_compacted(self, compacted: Shard | None) -> "FollowedShard":
        """The shard after the compaction; compacted: its result, None if it failed."""
        for changes in self.since_compaction or ():
            compacted = compacted and apply(compacted, changes)
        return FollowedShard(compacted or self.shard)


def apply(shard: Shard, changes: ShardChanges) -> Shard | None:
    """The shard after the changes; None if it has to be loaded again."""
    spaces = {changes.space, shard.space} - {None}
    if changes.history != shard.history or len(spaces) > 1:
        return None
    applied = shard.without(changes.outdated)
    if changes.segment is not None:
        applied = applied.without(changes.segment.ids).with_segment(changes.segment)
    space = next(iter(spaces), None)
    return applied.at_revision(changes.revision, space, changes.stats, changes.words)


def is_at(shards: Iterable[ShardVersion], history: str, revisions: Mapping[str, int]) -> bool:
    """Whether the shards hold the chunks of these revisions, read in this history."""
    return all(
        (each.history, each.revision) == (history, revisions[each.partition]) for each in shards
    )


def has_reached(shards: Iterable[ShardVersion], history: str, revisions: Mapping[str, int]) -> bool:
    """Whether the shards hold all changes up to these revisions, read in this history."""
    return all(
        each.history == history and each.revision >= revisions[each.partition] for each in shards
    )
