"""The changes of a partition after a revision, read in one snapshot."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.postgres.database import Database
from index.postgres.session import Row

# Starting values, not measured: above them recomputing the answers is cheaper.
CHANGES_MAX = 1_000
CHANGED_CHUNKS_MAX = 2_000  # chunks, about 3 MB


@dataclass(frozen=True, slots=True, eq=False)
class ChangedChunk:
    """An added or updated chunk in its current state, with the fields that decide who may see it.

    space: of its vector; None in an index that has no space yet.
    dense: rounded to half precision.
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
    trust: str | None
    space: str | None
    dense: NDArray[np.float32]
    lexical: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """The effect of a partition's changes up to `revision`, as of that revision.

    history: of the database, to which the revisions belong.
    outdated: ids of removed or updated chunks. repositioned: ids of chunks that only moved.
    documents: keys of documents that were written, re-permitted or removed.
    popularities: keys of documents that are more or less popular than before.
    languages, vocabulary_size, space: of the partition.
    audience_revision: of the tenant at `revision`; of the public partition always 0.
    """

    history: str
    partition: str
    revision: int
    outdated: frozenset[int]
    repositioned: frozenset[int]
    documents: frozenset[int]
    changed_chunks: Sequence[ChangedChunk]
    languages: frozenset[str]
    vocabulary_size: int
    space: str | None
    audience_revision: int = 0
    popularities: frozenset[int] = frozenset()


class ChangeLog:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def changes_after(self, home: str, partition: str, revision: int) -> ChangeSet | None:
        """The changes after `revision`; None if one is no longer stored, or they are too many.

        home: the tenant whose cache asks; the public partition leaves out its own documents.

        Raises `DatabaseUnavailable`.
        """
        rows = await self._database.rows(
            "change_log.since", partition, revision, CHANGES_MAX, CHANGED_CHUNKS_MAX, home
        )
        head = next((row for row in rows if row["revision"] is not None), None)
        if head is None or not head["is_whole"]:
            return None
        return ChangeSet(
            history=head["history"],
            partition=partition,
            revision=head["revision"],
            outdated=frozenset(head["outdated_chunks"]),
            repositioned=frozenset(head["repositioned_chunks"]),
            documents=frozenset(head["document_keys"]),
            changed_chunks=[_to_changed_chunk(row) for row in rows if row["chunk_id"] is not None],
            languages=frozenset(head["partition_languages"]),
            vocabulary_size=head["vocabulary_size"],
            space=head["embedding_space"],
            audience_revision=head["audience_revision"],
            popularities=frozenset(head["popularity_keys"]),
        )


def _to_changed_chunk(row: Row) -> ChangedChunk:
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
        trust=row["trust"],
        space=row["tenant_embedding_space"],
        dense=row["dense"].to_numpy().astype(np.float32),
        lexical=dict(zip(row["lexical"].indices(), row["lexical"].values(), strict=True)),
    )
