"""The outbox: what each revision changed, in one row that the same transaction writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import orjson

from index.audit import audit_log
from index.documents.forgetting import Forgotten
from index.model.document import Document
from index.model.scope import PUBLIC
from index.postgres.database import Row, Session
from index.text import lexical


@dataclass(frozen=True, slots=True)
class Committed:
    """The revision that a commit made in each partition that it changed.

    history: of the database, which the revisions are of.
    forgotten: what else went with a document that was forgotten.
    """

    history: str
    revisions: Mapping[str, int]
    forgotten: Forgotten | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What a commit does to one document; see migrations/0005_precise_changes.sql."""

    key: int
    language: str
    was_public: bool
    is_public: bool
    chunks_before: int
    chunks: int
    added: Sequence[int] = ()
    removed: Sequence[int] = ()
    touched: Sequence[int] = ()
    moved: Sequence[int] = ()

    @property
    def public_more(self) -> int:
        """How many chunks more every tenant may read."""
        return self.chunks * self.is_public - self.chunks_before * self.was_public


def has_same_fields(one: Document, other: Document) -> bool:
    """Whether a chunk that both hold is the same in both, but for where it stands."""
    return _beside_the_text(one) == _beside_the_text(other)


def audit_action(version: int, was: Document | None, document: Document) -> str:
    """What the audit log says of a document that is written; version: 0 for a new one."""
    if not version:
        return "added"
    if was is None or (was.owner, was.readers) == (document.owner, document.readers):
        return "changed"
    return "changed and shared"


async def commit(
    session: Session,
    tenant: str,
    changes: Sequence[Change],
    action: str,
    done: Mapping[str, str],
    **told: Any,
) -> Committed:
    """Raise the revision and record the change, in the public partition too where it is seen.

    The tenant's row is locked before the public one, and the head of its audit log after both,
    always, so that writers can't deadlock.
    action, told: for the audit log; done: what has been done to each document.
    """
    public_more = sum(change.public_more for change in changes)
    more = sum(change.chunks - change.chunks_before for change in changes)
    advanced = {tenant: await _advance(session, tenant, changes, more, public_more)}
    if public := [change for change in changes if change.was_public or change.is_public]:
        advanced[PUBLIC] = await _advance(session, PUBLIC, public, public_more)
    for part in audit_log.parts(sorted(done)):
        documents = {document_id: done[document_id] for document_id in part}
        await audit_log.append(session, tenant, f"documents.{action}", documents=documents, **told)
    return _committed(advanced)


async def touch(session: Session, touched: Mapping[str, Sequence[int]]) -> Committed:
    """Raise the revision of each partition for these chunks, of whose documents nothing changed."""
    return _committed(
        {
            partition: await _row(session, partition, [], 0, 0, [], [], list(chunk_ids), [], [])
            for partition, chunk_ids in touched.items()
        }
    )


def _committed(advanced: Mapping[str, Row]) -> Committed:
    """What one transaction has made; if an operator drew a history meanwhile, it is in that one."""
    histories = [row["history"] for row in advanced.values()]
    return Committed(histories[-1], {name: row["revision"] for name, row in advanced.items()})


async def withdraw(session: Session, document_keys: Sequence[int], chunk_ids: Sequence[int]) -> int:
    """Raise the public revision for chunks that still exist and that no other tenant sees now."""
    revision: int = await session.value(
        "documents.advance", PUBLIC, [], 0, 0, [], list(chunk_ids), [], [], list(document_keys)
    )
    return revision


async def _advance(
    session: Session,
    partition: str,
    changes: Sequence[Change],
    more: int,
    public_more: int = 0,
) -> Row:
    return await _row(
        session,
        partition,
        sorted({lexical.base_language(change.language) for change in changes}),
        more,
        public_more,
        list(chain.from_iterable(change.added for change in changes)),
        list(chain.from_iterable(change.removed for change in changes)),
        list(chain.from_iterable(change.touched for change in changes)),
        list(chain.from_iterable(change.moved for change in changes)),
        [change.key for change in changes],
    )


async def _row(session: Session, *arguments: Any) -> Row:
    row = await session.row("documents.advance", *arguments)
    assert row is not None, "the tenant's row is there"
    return row


def _beside_the_text(document: Document) -> tuple[Any, ...]:
    """What a search compares, filters by or shows of each chunk of the document."""
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
