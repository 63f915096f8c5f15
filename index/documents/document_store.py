"""Documents at rest: read, listed, and changed in one transaction with their change row."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import chain

from pgvector import HalfVector

from index.documents import document_writes, event_versions, forgetting, outbox
from index.documents.document_writes import CommitOutcome, Confirmation, Write
from index.documents.event_versions import By, EventUpdate, sequence_of
from index.documents.outbox import Change, Committed
from index.documents.rows import row_to_document
from index.errors import DatabaseUnavailable, SourceReserved, TenantMissing
from index.model.document import Document
from index.model.query import Filter
from index.model.scope import PUBLIC, Scope
from index.model.write_order import (
    ACCESS,
    ALL_PARTS,
    UNKNOWN,
    Absent,
    Parts,
    PartSequences,
    by_parts,
)
from index.postgres.database import Database, Row, Session
from index.search.visibility_args import filter_args
from index.text import vocabulary
from index.text.vocabulary import SeenWords

_MOVING_PAUSE_S = 0.1
_MOVING_PAUSES_MAX = 300  # half a minute; a tenant of 34,000 chunks is moved in a second


@dataclass(frozen=True, slots=True)
class StoredSummary:
    """A summary of text[start:end] of its document."""

    chunk_id: int
    digest: bytes
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as it is, its chunks in the order of the text, and the version that this is.

    revision: the tenant's, when this was read.
    places: where each chunk begins and ends. summaries: chunks that are in none of those three.
    sequences: of the last writes of its parts. is_awaited: whether a queued write of it is to come.
    """

    document: Document
    version: int
    revision: int
    chunk_ids: tuple[int, ...]
    digests: tuple[bytes, ...]
    places: tuple[tuple[int, int], ...]
    summaries: tuple[StoredSummary, ...] = ()
    sequences: PartSequences = UNKNOWN
    is_awaited: bool = False

    @property
    def all_ids(self) -> tuple[int, ...]:
        return (*self.chunk_ids, *(summary.chunk_id for summary in self.summaries))


class DocumentStore:
    def __init__(self, database: Database, *, unlearn_s: float = 60.0) -> None:
        """unlearn_s: how long the words of what is forgotten wait for more to come."""
        self._database = database
        self._searching = database.searching
        self._learned = SeenWords()
        self._unlearn_s = unlearn_s

    async def stored(self, tenant: str, document_id: str) -> StoredDocument | None:
        return (await self.stored_all(tenant, [document_id])).get(document_id)

    async def stored_all(
        self, tenant: str, document_ids: Sequence[str]
    ) -> dict[str, StoredDocument]:
        """Those of the documents that there are, all as of one instant."""
        rows = await self._database.rows("documents.stored", tenant, document_ids)
        return {row["document_id"]: _stored(row) for row in rows}

    async def absent_all(self, tenant: str, document_ids: Sequence[str]) -> dict[str, Absent]:
        """What is known of each of these documents, none of which exists."""
        rows = await self._database.rows("documents.absent", tenant, document_ids)
        return document_writes.absent_of(rows)

    async def next_sequence(self) -> int:
        """The sequence number of what is acknowledged now."""
        row = await self._database.row("documents.next_sequence")
        assert row is not None
        sequence: int = row["sequence"]
        return sequence

    async def forget_removed(self, kept_s: float) -> None:
        """Forget removals of so long ago that no earlier write can come any more."""
        await self._database.rows("documents.forget_removed", kept_s)

    async def space(self, tenant: str) -> str | None:
        """The space of the tenant's vectors; None if there are none yet. Raises `TenantMissing`."""
        row = await self._database.row("spaces.current", tenant)
        if row is None:
            raise TenantMissing(tenant)
        space: str | None = row["space"]
        return space

    async def read(self, scope: Scope, wanted: Filter, document_id: str) -> Document | None:
        """The document, if it is one of the tenant that the scope admits and the filter wants."""
        row = await self._searching.row("search.document", *filter_args(scope, wanted), document_id)
        return None if row is None else row_to_document(row)

    async def read_unchecked(
        self, scope: Scope, wanted: Filter, document_id: str
    ) -> Document | None:
        """As `read`; if the tenant has none, what another one has made public."""
        arguments = (*filter_args(scope, wanted), document_id, scope.public)
        row = await self._searching.row("search.any_document", *arguments)
        return None if row is None else row_to_document(row)

    async def sources(self, scope: Scope, wanted: Filter, *, limit: int) -> dict[str, int]:
        """By source, how many of those documents it has."""
        rows = await self._searching.rows("search.sources", *filter_args(scope, wanted), limit)
        return {row["source"]: row["documents"] for row in rows}

    async def page(
        self, scope: Scope, wanted: Filter, *, after: str, source: str | None, limit: int
    ) -> list[Document]:
        """Up to `limit` of those documents, by identifier, without texts."""
        rows = await self._searching.rows(
            "search.documents", *filter_args(scope, wanted), after, source, limit
        )
        return [row_to_document(row) for row in rows]

    async def of_source(self, tenant: str, source: str, *, until: int | None = None) -> list[str]:
        """until: without those whose content a write with a higher sequence number has set."""
        rows = await self._database.rows("documents.of_source", tenant, source, until)
        return [row["document_id"] for row in rows]

    async def known_embeddings(
        self, tenant: str, space: str, digests: Collection[bytes]
    ) -> dict[bytes, HalfVector]:
        rows = await self._database.rows("documents.known_embeddings", tenant, space, list(digests))
        return {row["digest"]: row["dense"] for row in rows}

    async def keep_embeddings(
        self, tenant: str, space: str, embeddings: Mapping[bytes, HalfVector]
    ) -> None:
        digests = sorted(embeddings)  # in one order for all, so that writers can't deadlock
        dense = [embeddings[digest] for digest in digests]
        await self._database.rows("documents.keep_embeddings", tenant, space, digests, dense)

    async def apply_all(
        self, tenant: str, writes: Sequence[Write], by: By | None = None
    ) -> list[CommitOutcome]:
        """Commit writes of different documents together.

        None for those whose document, or the tenant's space, has changed since the plan, and
        `SourceReserved` for those whose source is not for callers: nothing of them is committed.
        by: the job's run, the reading or the event that writes them, which must not have been
        overtaken; earlier jobs of which the writes leave nothing to do are superseded.
        """
        sources = document_writes.sources_of_callers(writes, by)
        async with self._writing(tenant, sources) as (session, before):
            absent = await document_writes.absent_now(session, tenant, before, writes, by)
            planned = [write for write in writes if before.is_of(write, absent)]
            reserved = [one for one in planned if one.document.document_id in before.reserved]
            # New sources are locked one by one: in one order for all, so that nobody can deadlock.
            timely = sorted(
                (one for one in planned if one.document.document_id not in before.reserved),
                key=lambda write: write.document.source,
            )
            outcomes: dict[str, CommitOutcome] = {
                one.document.document_id: SourceReserved(one.document.source) for one in reserved
            }
            if not timely:
                return [outcomes.get(one.document.document_id) for one in writes]
            parts = {one.document.document_id: one.parts for one in timely if one.parts}
            await event_versions.supersede_event(session, tenant, parts, by)
            changes = await document_writes.put(session, tenant, before, timely, by)
            all_words = chain.from_iterable(one.words for one in timely)
            words = self._learned.others(tenant, before.vocabulary.era, all_words)
            await vocabulary.learn(session, tenant, words)
            done = {
                one.document.document_id: outbox.audit_action(one.version, one.stored, one.document)
                for one in timely
            }
            committed = await outbox.commit(session, tenant, changes, "write", done)
            space = next((write.space for write in timely if write.added), None)
            if space is not None:
                new = [*chain.from_iterable(change.added for change in changes)]
                await forgetting.unmark_forgotten(session, tenant, space, new)
        self._learned.remember(tenant, before.vocabulary.era, words)
        outcomes |= dict.fromkeys(done, committed)
        return [outcomes.get(one.document.document_id) for one in writes]

    async def confirm_all(
        self, tenant: str, confirmations: Sequence[Confirmation], by: By | None = None
    ) -> set[str]:
        """Note that these writes were acknowledged last, though they change nothing.

        The documents that were confirmed; the others have changed since. by: as for `apply_all`.
        """
        document_ids = [each.document_id for each in confirmations]
        async with self._writing(tenant, dict.fromkeys(document_ids)) as (session, before):
            parts = {
                each.document_id: each.parts
                for each in confirmations
                if before.version(each.document_id) == each.version
            }
            if parts:
                await event_versions.supersede_event(session, tenant, parts, by)
            for each, of_these in by_parts(parts):
                arguments = (of_these, sorted(each), sequence_of(by))
                await session.rows("documents.confirm", tenant, *arguments)
            return set(parts)

    async def put_access(
        self,
        tenant: str,
        stored: StoredDocument,
        *,
        owner: str | None,
        readers: Sequence[str],
        words: Collection[str] = (),
        by: EventUpdate | None = None,
        parts: Parts = ACCESS,
    ) -> Committed | None:
        """Change who may read the document, or nothing and None if it has changed since.

        words: what the tenant's vocabulary learns by it.
        by: the event that says so.
        parts: those that are set; an earlier write that still comes leaves them alone.
        """
        document_id = stored.document.document_id
        async with self._writing(tenant, {document_id: None}) as (session, before):
            row = before.rows.get(document_id)
            if row is None or row["version"] != stored.version:
                return None
            if by is not None:
                await event_versions.keep(session, tenant, by)
            arguments = (document_id, owner, list(readers), sorted(parts))
            await session.rows("documents.put_access", tenant, *arguments)
            await vocabulary.learn(session, tenant, words)
            change = Change(
                row["document_key"],
                stored.document.language,
                was_public=PUBLIC in row["readers"],
                is_public=PUBLIC in readers,
                chunks_before=row["chunks"],
                chunks=row["chunks"],
                touched=stored.all_ids,
            )
            told, done = {"owner": owner, "readers": list(readers)}, {document_id: "shared"}
            return await outbox.commit(session, tenant, [change], "share", done, **told)

    async def remove(
        self, tenant: str, stored: StoredDocument, by: By | None = None, *, forget: bool = False
    ) -> Committed | None:
        """Remove the document and its chunks, or nothing and None if it has changed since.

        forget: its vectors too, which would else stay, should its words come back. Raises
                `QueueFull` if nothing more can wait for its words to be forgotten.
        """
        document_id = stored.document.document_id
        async with self._writing(tenant, {document_id: None}) as (session, before):
            row = before.rows.get(document_id)
            if row is None or row["version"] != stored.version:
                return None
            await event_versions.supersede_event(session, tenant, {document_id: ALL_PARTS}, by)
            digests = await forgetting.digests(session, row["document_key"]) if forget else []
            await session.rows("documents.remove", tenant, document_id, sequence_of(by))
            change = Change(
                row["document_key"],
                stored.document.language,
                was_public=PUBLIC in row["readers"],
                is_public=False,
                chunks_before=row["chunks"],
                chunks=0,
                removed=stored.all_ids,
            )
            done = {document_id: "removed"}
            committed = await outbox.commit(session, tenant, [change], "remove", done)
            if not forget:
                return committed
            forgotten = await forgetting.forget(
                session, tenant, document_id, digests, unlearn_s=self._unlearn_s
            )
            return replace(committed, forgotten=forgotten)

    async def remove_absent(self, tenant: str, document_id: str, by: By | None = None) -> bool:
        """Remove what is queued for a document that does not exist; False if it exists by now."""
        async with self._writing(tenant, {document_id: None}) as (session, before):
            if document_id in before.rows:
                return False
            await event_versions.supersede_event(session, tenant, {document_id: ALL_PARTS}, by)
            await session.rows("documents.remove", tenant, document_id, sequence_of(by))
            await forgetting.forget_failed(session, tenant, document_id)
            return True

    @asynccontextmanager
    async def _writing(
        self, tenant: str, sources: Mapping[str, str | None]
    ) -> AsyncIterator[tuple[Session, document_writes.Before]]:
        """A transaction in which nobody else can change these documents.

        sources: by document, its source if a caller brings it there; else None.
        While the tenant's chunks are being moved it is waited for on no connection, for searches
        need them.
        """
        for _ in range(_MOVING_PAUSES_MAX):
            async with self._database.transaction() as session:
                if await session.value("documents.enter", tenant):
                    yield session, await document_writes.lock(session, tenant, sources)
                    return
            await asyncio.sleep(_MOVING_PAUSE_S)
        raise DatabaseUnavailable(f"the chunks of {tenant} are being moved")


def _stored(row: Row) -> StoredDocument:
    return StoredDocument(
        document=row_to_document(row),
        version=row["version"],
        revision=row["revision"],
        chunk_ids=tuple(row["chunk_ids"]),
        digests=tuple(row["digests"]),
        places=tuple(zip(row["starts"], row["ends"], strict=True)),
        summaries=tuple(StoredSummary(*summary) for summary in row["summaries_told"] or ()),
        sequences=PartSequences(
            row["content_sequence"], row["owner_sequence"], row["readers_sequence"]
        ),
        is_awaited=row["is_awaited"],
    )
