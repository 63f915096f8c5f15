"""How a shard follows the change log, and when its answers count: rules without I/O.

Why no answer from shards misses a commit that was acknowledged before the request arrived:
  1. A version of a shard holds exactly the chunks of its revision: it was loaded in one snapshot,
     and `apply` adds the changes between two revisions, read in one snapshot. If one of these
     changes is no longer stored, the shard is loaded again.
  2. A base from a file holds the chunks of its revision too: a process has stored it by rule 1,
     and it is used only after `apply` has added the changes since, read in a history that is its
     own. So is the result of a compaction, whose labels have codes of their own: changes that were
     read for another version are never applied to it. It may be at an earlier revision, or of
     another history, than the version that it replaces: rules 3 and 4 ask at each search.
  3. The statement that confirms an answer begins after the request arrived, and returns the history
     and the revisions of its snapshot. The answer counts only if the shards are at these (`is_at`),
     so it is that of the snapshot.
  4. In a region, shards answer without that statement, at the revisions that a lease has proven
     since the request arrived, or at later ones, in the same history (`has_reached`).
Everything may be lost at any time: an evicted shard or a process that ends costs only time.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

from index.resident.building.loading import ShardChanges
from index.resident.shard import Shard


class ShardVersion(Protocol):
    @property
    def partition(self) -> str: ...
    @property
    def history(self) -> str: ...
    @property
    def revision(self) -> int: ...


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
