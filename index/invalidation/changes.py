"""What has changed in a partition since a cache last looked, in one snapshot."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.model.chunk_kind import Kind, kind_of
from index.postgres.database import Database, Row

# Starting values, not measured: past them it is cheaper to compute the answers anew.
CHANGES_MAX = 1_000
ARRIVALS_MAX = 2_000  # chunks, about 3 MB


@dataclass(frozen=True, slots=True, eq=False)
class ChangedChunk:
    """A chunk that was added or touched, as it is now, with what says who may see it.

    space: that its vector is in; None in an index that has no space yet.
    dense: of the numbers that 16 bits can hold.
    """

    chunk_id: int
    document_key: int
    tenant: str
    document_id: str
    source: str
    language: str
    tags: Collection[str]
    metadata: Mapping[str, Any]
    owner: str | None
    readers: Collection[str]
    updated_at: datetime
    space: str | None
    dense: NDArray[np.float32]
    lexical: Mapping[int, float]

    @property
    def kind(self) -> Kind:
        return kind_of(self.chunk_id)


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """What the changes of a partition up to `revision` did, all as of that revision.

    history: of the database, which the revisions are of.
    gone: chunks that were removed or touched. moved: chunks that merely stand elsewhere.
    documents: keys of those that were written, re-permitted or removed.
    languages, words, space: of the partition.
    """

    history: str
    partition: str
    revision: int
    removed: frozenset[int]
    moved: frozenset[int]
    documents: frozenset[int]
    changed_chunks: Sequence[ChangedChunk]
    languages: frozenset[str]
    words: int
    space: str | None


class ChangeLog:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def changes_after(self, home: str, partition: str, revision: int) -> ChangeSet | None:
        """What those after `revision` did; None if one is forgotten, or they are too many to tell.

        home: the tenant whose cache asks: of what is public, its own documents are left out.

        Raises `DatabaseUnavailable`.
        """
        rows = await self._database.rows(
            "changes.since", home, partition, revision, CHANGES_MAX, ARRIVALS_MAX
        )
        head = next((row for row in rows if row["revision"] is not None), None)
        if head is None or not head["is_whole"]:
            return None
        return ChangeSet(
            history=head["history"],
            partition=partition,
            revision=head["revision"],
            removed=frozenset(head["gone"]),
            moved=frozenset(head["moved"]),
            documents=frozenset(head["documents"]),
            changed_chunks=[_arrival(row) for row in rows if row["chunk_id"] is not None],
            languages=frozenset(head["partition_languages"]),
            words=head["words"],
            space=head["space"],
        )


def _arrival(row: Row) -> ChangedChunk:
    return ChangedChunk(
        chunk_id=row["chunk_id"],
        document_key=row["document_key"],
        tenant=row["tenant"],
        document_id=row["document_id"],
        source=row["source"],
        language=row["language"],
        tags=row["tags"],
        metadata=row["metadata"],
        owner=row["owner"],
        readers=row["readers"],
        updated_at=row["updated_at"],
        space=row["tenant_space"],
        dense=row["dense"].to_numpy().astype(np.float32),
        lexical=dict(zip(row["lexical"].indices(), row["lexical"].values(), strict=True)),
    )
