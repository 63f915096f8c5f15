"""The outbox: one row for each revision's changes, written by the same transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
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
from index.text import lexical


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
    """What a commit does to one document; see migrations/0005_precise_changes.sql.

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
) -> CommitResult:
    """Raise the revision and record the changes, also in the public partition if it sees them.

    Raises `QuotaExceeded` if the tenant would store more than it may.

    To avoid deadlocks every writer locks the tenant's row, then the public row, then the head of
    the tenant's audit log.
    action, audit_fields: for the audit log. actions: by document, the audit log's word.
    """
    public_chunk_delta = sum(change.public_more for change in changes)
    chunk_delta = sum(change.chunks - change.chunks_before for change in changes)
    growth = sum((change.growth for change in changes), StoredAmounts(chunks=chunk_delta))
    row = await _advance(session, tenant, changes, growth, public_chunk_delta)
    await quotas.require_room(session, tenant, row, growth, default_quotas)
    rows = {tenant: row}
    if public := [change for change in changes if change.was_public or change.is_public]:
        public_growth = StoredAmounts(chunks=public_chunk_delta)
        rows[PUBLIC] = await _advance(session, PUBLIC, public, public_growth)
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
    row = await _row(session, tenant, [], 0, 0, [], [], [], [], [], 0, 0, list(document_keys))
    return _to_commit_result({tenant: row})


async def mark_updated(
    session: Session, chunks_by_partition: Mapping[str, Sequence[int]]
) -> CommitResult:
    """Raise each partition's revision for these chunks, whose documents have not changed."""
    return _to_commit_result(
        {
            partition: await _row(
                session, partition, [], 0, 0, [], [], list(chunk_ids), [], [], 0, 0, []
            )
            for partition, chunk_ids in chunks_by_partition.items()
        }
    )


def _to_commit_result(rows: Mapping[str, Row]) -> CommitResult:
    """The result of one transaction, in the newest history that its statements have read."""
    histories = [row["history"] for row in rows.values()]
    return CommitResult(histories[-1], {name: row["revision"] for name, row in rows.items()})


async def withdraw(session: Session, document_keys: Sequence[int], chunk_ids: Sequence[int]) -> int:
    """Raise the public revision for existing chunks that other tenants no longer see."""
    revision: int = await session.value(
        "documents.advance",
        PUBLIC,
        [],
        0,
        0,
        [],
        list(chunk_ids),
        [],
        [],
        list(document_keys),
        0,
        0,
        [],
    )
    return revision


async def _advance(
    session: Session,
    partition: str,
    changes: Sequence[Change],
    growth: StoredAmounts,
    public_chunk_delta: int = 0,
) -> Row:
    return await _row(
        session,
        partition,
        sorted({lexical.base_language(change.language) for change in changes}),
        growth.chunks,
        public_chunk_delta,
        list(chain.from_iterable(change.added for change in changes)),
        list(chain.from_iterable(change.removed for change in changes)),
        list(chain.from_iterable(change.updated for change in changes)),
        list(chain.from_iterable(change.repositioned for change in changes)),
        [change.key for change in changes],
        growth.documents,
        growth.bytes,
        [],
    )


async def _row(session: Session, *arguments: Any) -> Row:
    row = await session.row("documents.advance", *arguments)
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
    )
