"""Whether passages that a caller was given before are still what a search would give it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias

import orjson

from index.model.query import Filter
from index.model.scope import PUBLIC, Scope
from index.postgres.database import Database
from index.postgres.filter_sql import filter_args
from index.postgres.session import Row

State: TypeAlias = Literal["current", "edited", "gone"]

CHANGED_MAX = 3  # shown of each passage
# What was added since the earliest revision of a request; starting values, not measured.
_CHANGES_MAX = 1_000
_ADDED_MAX = 2_000
_CHARACTERS_MAX = 500_000


class HeldPassage(NamedTuple):
    """What a hit had; without `chunk_id`, the whole document.

    updated_at: of its document, as the caller knows it; None if it does not.
    since:      the revision of each partition that it came with, none if these numbers say nothing;
                None if the caller does not know it.
    start:      of the passage in its document; None if the caller does not know it.
    """

    chunk_id: int | None
    tenant: str
    document_id: str | None
    updated_at: datetime | None = None
    since: Mapping[str, int] | None = None
    start: int | None = None


class AddedPassage(NamedTuple):
    """A passage that a document has got at a revision of a partition."""

    partition: str
    revision: int
    chunk_id: int
    start: int
    end: int
    text: str


class PassageState(NamedTuple):
    """updated_at: of the document now. replaced_by: a document that says that it replaces it.

    address: the tenant and the identifier of the document; None if it is gone.
    changed: the nearest passages that the document has got since, in its order; None if that is not
             known, or the passage is not `edited`.
    """

    state: State
    updated_at: datetime | None
    replaced_by: str | None
    address: tuple[str, str] | None
    changed: Sequence[AddedPassage] | None = None


_GONE = PassageState("gone", None, None, None)


class HeldPassages:
    def __init__(self, database: Database) -> None:
        self._searching = database.searching

    async def check(
        self, scope: Scope, document_filter: Filter, held: Sequence[HeldPassage]
    ) -> list[PassageState]:
        """The state of each, in their order, from one snapshot.

        What the scope or the filter does not admit is `gone`, as what was deleted.
        """
        (row,) = await self._searching.rows(
            "search_relations.held",
            *filter_args(scope, document_filter),
            True,  # the tenant's own documents
            scope.public,
            _to_json(held),
            _earliest(held, scope.tenant),
            _earliest(held, PUBLIC),
            _CHANGES_MAX,
            _ADDED_MAX,
            _CHARACTERS_MAX,
        )
        return list(_Found.of(scope.tenant, row).states(held))


def _to_json(held: Sequence[HeldPassage]) -> str:
    """As JSON: the driver looks at each item of an array several times."""
    columns = {
        "chunks": [each.chunk_id for each in held],
        "tenants": [each.tenant for each in held],
        "documents": [each.document_id for each in held],
    }
    return orjson.dumps(columns).decode()


def _earliest(held: Sequence[HeldPassage], partition: str) -> int | None:
    revisions = (each.since[partition] for each in held if each.since and partition in each.since)
    return min(revisions, default=None)


@dataclass(frozen=True, slots=True)
class _Found:
    """What is visible of the passages.

    chunks:    the document of each chunk.
    documents: as they are, by key. keys: by tenant and identifier.
    written:   by partition and time, the revision of a write since the earliest revision.
    oldest:    the first change of each partition that is stored.
    added:     by document; None if it was too much to read.
    """

    own_tenant: str
    chunks: Mapping[int, int]
    documents: Mapping[int, PassageState]
    keys: Mapping[tuple[str, str], int]
    written: Mapping[tuple[str, datetime], int]
    oldest: Mapping[str, int | None]
    added: Mapping[int, Sequence[AddedPassage]] | None

    @classmethod
    def of(cls, own_tenant: str, row: Row) -> "_Found":
        addresses = _zipped(row, "tenants", "document_ids")
        replaced = {
            (tenant, document_id): by
            for tenant, document_id, by in _zipped(
                row, "replaced_tenants", "replaced_ids", "replaced_by"
            )
        }
        times, keys = row["updated_at"] or (), row["document_keys"] or ()
        added = defaultdict[int, list[AddedPassage]](list)
        for key, *fields in _zipped(row, "added_documents", *_ADDED_FIELDS):
            added[key].append(AddedPassage(*fields))
        return cls(
            own_tenant=own_tenant,
            chunks=dict(_zipped(row, "chunk_ids", "chunk_documents")),
            documents={
                key: PassageState("current", updated_at, replaced.get(address), address)
                for key, updated_at, address in zip(keys, times, addresses, strict=True)
            },
            keys=dict(zip(addresses, keys, strict=True)),
            written={
                (partition, at): revision
                for partition, revision, at in _zipped(
                    row, "written_partitions", "written_revisions", "written_at"
                )
            },
            oldest={own_tenant: row["tenant_oldest"], PUBLIC: row["public_oldest"]},
            added=added if row["is_whole"] else None,
        )

    def states(self, held: Sequence[HeldPassage]) -> Iterator[PassageState]:
        chunks, documents = self.chunks, self.documents
        for each in held:
            key = chunks.get(each.chunk_id) if each.chunk_id is not None else None
            if key is not None:  # a chunk with other words has another identifier
                yield documents[key]
            elif each.document_id is None:
                yield _GONE
            else:
                key = self.keys.get((each.tenant, each.document_id))
                yield _GONE if key is None else self._of_document(each, key)

    def _of_document(self, held: HeldPassage, key: int) -> PassageState:
        state = self.documents[key]
        if held.chunk_id is None and not self._is_edited(held, state):
            return state
        return state._replace(state="edited", changed=self._changed(held, key))

    def _is_edited(self, held: HeldPassage, state: PassageState) -> bool:
        assert state.updated_at is not None
        if held.updated_at is not None:
            return not _is_as_of(held.updated_at, state.updated_at)
        if held.since is None:
            return False
        partition, since = self._since(held, state)
        return since is None or self.written.get((partition, state.updated_at), since) > since

    def _changed(self, held: HeldPassage, key: int) -> Sequence[AddedPassage] | None:
        partition, since = self._since(held, self.documents[key])
        if since is None or self.added is None:
            return None
        start = held.start or 0
        later = (
            each
            for each in self.added.get(key, ())
            if each.partition == partition and each.revision > since
        )
        nearest = sorted(later, key=lambda each: (abs(each.start - start), each.chunk_id))
        return sorted(nearest[:CHANGED_MAX], key=lambda each: each.start)

    def _since(self, held: HeldPassage, state: PassageState) -> tuple[str, int | None]:
        """The document's partition, and its revision there if all changes since are stored."""
        assert state.address is not None
        partition = self.own_tenant if state.address[0] == self.own_tenant else PUBLIC
        since, oldest = (held.since or {}).get(partition), self.oldest[partition]
        is_known = since is not None and oldest is not None and since >= oldest - 1
        return partition, since if is_known else None


_ADDED_FIELDS = (
    *("added_partitions", "added_revisions", "added_ids"),
    *("added_starts", "added_ends", "added_texts"),
)


def _zipped(row: Row, *columns: str) -> list[tuple[Any, ...]]:
    return list(zip(*(row[column] or () for column in columns), strict=True))


def _is_as_of(held: datetime, updated_at: datetime) -> bool:
    """Whether no write is later. JavaScript's `Date` leaves out what is below a millisecond."""
    if held.microsecond % 1_000 == 0:
        updated_at = updated_at.replace(microsecond=updated_at.microsecond // 1_000 * 1_000)
    return held >= updated_at
