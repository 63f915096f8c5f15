"""The outbox: what each revision changed, in one row that the same transaction writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import orjson

from index import audit_log, lexical
from index.database import Session
from index.document import Document
from index.scope import PUBLIC


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


def is_alike(one: Document, other: Document) -> bool:
    """Whether a chunk that both hold is the same in both, but for where it stands."""
    return _beside_the_text(one) == _beside_the_text(other)


def done_to(version: int, was: Document | None, document: Document) -> str:
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
) -> dict[str, int]:
    """Raise the revision and record the change, in the public partition too where it is seen.

    The tenant's row is locked before the public one, and the head of its audit log after both,
    always, so that writers can't deadlock.
    action, told: for the audit log; done: what has been done to each document.
    """
    public_more = sum(change.public_more for change in changes)
    more = sum(change.chunks - change.chunks_before for change in changes)
    revisions = {tenant: await _advance(session, tenant, changes, more, public_more)}
    if public := [change for change in changes if change.was_public or change.is_public]:
        revisions[PUBLIC] = await _advance(session, PUBLIC, public, public_more)
    for part in audit_log.parts(sorted(done)):
        documents = {document_id: done[document_id] for document_id in part}
        await audit_log.append(session, tenant, f"documents.{action}", documents=documents, **told)
    return revisions


async def touch(session: Session, partition: str, chunk_ids: Sequence[int] = ()) -> int:
    """Raise the revision for these chunks, of whose documents nothing has changed."""
    revision: int = await session.value(
        "documents.advance", partition, [], 0, 0, [], [], list(chunk_ids), [], []
    )
    return revision


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
) -> int:
    revision: int = await session.value(
        "documents.advance",
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
    return revision


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
