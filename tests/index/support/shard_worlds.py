"""Worlds of the model of shards: what PostgreSQL, a worker and its searches hold at one time.

Named tuples, not dataclasses: a search hashes hundreds of thousands of them.
"""

from typing import NamedTuple, TypeAlias

from cache.protocol import Revisions
from index.resident.building.loading import ShardChanges
from index.resident.shard import Shard

PARTITION = "acme"
Contents: TypeAlias = tuple[int, ...]
"""The value of each chunk, whose ids count from 1; 0 if there is no such chunk."""


class ModelHistory(NamedTuple):
    """One history of the database.

    contents:  of each revision, from 0 on.
    log_start: the change log holds the changes after this revision.
    """

    number: int
    contents: tuple[Contents, ...]
    log_start: int = 0

    @property
    def name(self) -> str:
        return f"history {self.number}"

    @property
    def revision(self) -> int:
        return len(self.contents) - 1


class Reading(NamedTuple):
    """Changes that were read for a version of the shard, and are not applied yet."""

    before: Shard
    changes: ShardChanges


class Remembered(NamedTuple):
    """An answer in the worker's memory, and the revision that it was computed at."""

    history: int
    revision: int
    contents: Contents


class ModelWorker(NamedTuple):
    """One process. Another one shares no answer with it, and of its shards the files alone.

    sourced:   what a load or a compaction has given, before it is used.
    known:     the history that the dedicated connection has read.
    is_watched: whether that connection is open; a server that is replaced cuts it.
    """

    shard: Shard | None = None
    sourced: Shard | None = None
    reading: Reading | None = None
    memory: Remembered | None = None
    known: int = 0
    is_watched: bool = False

    def without_shard(self) -> "ModelWorker":
        return self._replace(shard=None, sourced=None, reading=None)


class ModelSearch(NamedTuple):
    """arrived: the history and the revision when the request arrived.

    history:  which the answer must be of; None until it is read.
    revision: read before the answer is computed; None until then, and for a search at once, whose
              revision is that of its own statement.
    shard:    the version that has proposed.
    """

    arrived: tuple[int, int]
    at_once: bool
    history: int | None = None
    revision: int | None = None
    shard: Shard | None = None


class ShardWorld(NamedTuple):
    """histories: the last one takes commits; a connection may lead to any of them.

    file: of the partition; None if no process has stored one.
    """

    histories: tuple[ModelHistory, ...]
    worker: ModelWorker = ModelWorker()
    file: Shard | None = None
    searches: tuple[ModelSearch, ...] = ()

    @property
    def current(self) -> ModelHistory:
        return self.histories[-1]

    def with_current(self, history: ModelHistory) -> "ShardWorld":
        return self._replace(histories=(*self.histories[:-1], history))

    def is_right(self, search: ModelSearch, history: int, contents: Contents) -> bool:
        """Whether an answer misses no commit that was acknowledged before the request arrived.

        Nor may it be of a history that had ended by then.
        """
        arrived_history, arrived_revision = search.arrived
        if history < arrived_history:
            return False
        since = arrived_revision if history == arrived_history else 0
        return contents in self.histories[history].contents[since:]


def revisions(history: int, revision: int) -> Revisions:
    return Revisions(f"history {history}", {PARTITION: revision})
