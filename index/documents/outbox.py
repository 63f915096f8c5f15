"""The outbox: one row for each revision's changes, written by the same transaction."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from operator import attrgetter
from types import MappingProxyType
from typing import Any

import orjson

from index.audit import audit_log
from index.documents import quotas
from index.documents.forgetting import Forgotten
from index.model.document import Document
from index.model.quota import NO_QUOTAS, NOTHING, Quotas, StoredAmounts
from index.model.scope import PUBLIC
from index.postgres.session import Row, Session
from index.text.word_lists.analysed_languages import base_language
from index.vocabulary import vocabulary


@dataclass(frozen=True, slots=True)
class CommitResult:
    """The new revision of each partition that a commit changed.

    history: of the database, to which the revisions belong.
    forgotten: what else was deleted with a forgotten document.
    """

    history: str
    revisions: Mapping[str, int]
    forgotten: Forgotten | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What a commit does to one document; see `change_log` in migrations/0001_schema.sql.

    growth: what the tenant stores more, without chunks, or less.
    """

    key: int
    language: str
    was_public: bool
    is_public: bool
    chunks_before: int
    chunks: int
    growth: StoredAmounts = NOTHING
    added: Sequence[int] = ()
    removed: Sequence[int] = ()
    updated: Sequence[int] = ()
    repositioned: Sequence[int] = ()

    @property
    def public_more(self) -> int:
        """By how many the chunks that every tenant may read increase."""
        return self.chunks * self.is_public - self.chunks_before * self.was_public


def has_same_fields(document: Document, other: Document) -> bool:
    """Whether a chunk that both contain is the same in both, except for its position."""
    return _chunk_fields(document) == _chunk_fields(other)


def audit_action(version: int, before: Document | None, document: Document) -> str:
    """The audit log's word for a write of a document. version: 0 for a new document."""
    if not version:
        return "added"
    if before is not None and before.is_active != document.is_active:
        return "activated" if document.is_active else "deactivated"
    if before is None or (before.owner, before.readers) == (document.owner, document.readers):
        return "changed"
    return "changed and shared"


async def commit(
    session: Session,
    tenant: str,
    changes: Sequence[Change],
    action: str,
    actions: Mapping[str, str],
    *,
    default_quotas: Quotas = NO_QUOTAS,
    audit_fields: Mapping[str, Any] = MappingProxyType({}),
    words: Collection[str] = (),
    space: str | None = None,
) -> CommitResult:
    """Raise the revision and record the changes, also in the public partition if it sees them.

    Raises `QuotaExceeded` if the tenant would store more than it may, and `RightsLost` if the
    caller's credential has ended.

    To avoid deadlocks every writer locks the tenant's row, then the public row, then the head of
    the tenant's audit log.
    action, audit_fields: for the audit log. actions: by document, the audit log's word.
    words: the vocabulary's new entries. space: of the added chunks' vectors.
    """
    public_chunk_delta = sum(change.public_more for change in changes)
    chunk_delta = sum(change.chunks - change.chunks_before for change in changes)
    growth = sum((change.growth for change in changes), StoredAmounts(chunks=chunk_delta))
    advance = _Advance.of(
        changes, growth, public_chunks=public_chunk_delta, words=words, space=space
    )
    row = await _advance(session, tenant, advance)
    await quotas.require_room(session, tenant, row, growth, default_quotas)
    rows = {tenant: row}
    if public := [change for change in changes if change.was_public or change.is_public]:
        public_growth = StoredAmounts(chunks=public_chunk_delta)
        rows[PUBLIC] = await _advance(session, PUBLIC, _Advance.of(public, public_growth))
    for part in audit_log.parts(sorted(actions)):
        documents = {document_id: actions[document_id] for document_id in part}
        await audit_log.append(
            session, tenant, f"documents.{action}", documents=documents, **audit_fields
        )
    return _to_commit_result(rows)


async def mark_popularity(
    session: Session, tenant: str, document_keys: Sequence[int]
) -> CommitResult:
    """Raise the tenant's revision for documents whose popularity alone has changed."""
    row = await _advance(session, tenant, _Advance(popularity_keys=document_keys))
    return _to_commit_result({tenant: row})


async def mark_updated(
    session: Session, chunks_by_partition: Mapping[str, Sequence[int]]
) -> CommitResult:
    """Raise each partition's revision for these chunks, whose documents have not changed."""
    return _to_commit_result(
        {
            partition: await _advance(session, partition, _Advance(updated=chunk_ids))
            for partition, chunk_ids in chunks_by_partition.items()
        }
    )


async def withdraw(session: Session, document_keys: Sequence[int], chunk_ids: Sequence[int]) -> int:
    """Raise the public revision for existing chunks that other tenants no longer see."""
    withdrawn = _Advance(removed=chunk_ids, document_keys=document_keys)
    revision: int = (await _advance(session, PUBLIC, withdrawn))["revision"]
    return revision


def _to_commit_result(rows: Mapping[str, Row]) -> CommitResult:
    """The result of one transaction, in the newest history that its statements have read."""
    histories = [row["history"] for row in rows.values()]
    return CommitResult(histories[-1], {name: row["revision"] for name, row in rows.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Advance:
    """The arguments of `documents.advance` after the partition, in their order."""

    languages: Sequence[str] = ()
    chunks: int = 0
    public_chunks: int = 0
    added: Sequence[int] = ()
    removed: Sequence[int] = ()
    updated: Sequence[int] = ()
    repositioned: Sequence[int] = ()
    document_keys: Sequence[int] = ()
    documents: int = 0
    bytes: int = 0
    popularity_keys: Sequence[int] = ()
    words: Sequence[str] = ()
    tokens: Sequence[str] = ()
    restricted_words: Sequence[str] = ()
    space: str | None = None

    @classmethod
    def of(
        cls,
        changes: Sequence[Change],
        growth: StoredAmounts,
        *,
        public_chunks: int = 0,
        words: Collection[str] = (),
        space: str | None = None,
    ) -> "_Advance":
        common_words, tokens, restricted_words = vocabulary.to_columns(words)
        return cls(
            languages=sorted({base_language(change.language) for change in changes}),
            chunks=growth.chunks,
            public_chunks=public_chunks,
            added=list(chain.from_iterable(change.added for change in changes)),
            removed=list(chain.from_iterable(change.removed for change in changes)),
            updated=list(chain.from_iterable(change.updated for change in changes)),
            repositioned=list(chain.from_iterable(change.repositioned for change in changes)),
            document_keys=[change.key for change in changes],
            documents=growth.documents,
            bytes=growth.bytes,
            words=common_words,
            tokens=tokens,
            restricted_words=restricted_words,
            space=space,
        )


_to_arguments = attrgetter(*(field.name for field in fields(_Advance)))


async def _advance(session: Session, partition: str, advance: _Advance) -> Row:
    row = await session.row("documents.advance", partition, *_to_arguments(advance))
    assert row is not None, "the tenant's row is there"
    return row


def _chunk_fields(document: Document) -> tuple[Any, ...]:
    """The document's fields that a search compares, filters by or shows with each chunk."""
    return (
        document.title,
        document.source,
        document.language,
        document.tags,
        # As bytes: in Python 1 equals True, in a filter it doesn't.
        orjson.dumps(dict(document.metadata), option=orjson.OPT_SORT_KEYS),
        document.owner,
        document.readers,
        document.provenance.trust,
    )
