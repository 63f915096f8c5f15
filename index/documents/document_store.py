"""Reads and changes stored documents; each change commits with its change row."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import chain

from pgvector import HalfVector

from common.shares.turns import map_in_steps
from index.documents import (
    document_writes,
    ended_readers,
    forgetting,
    outbox,
    quotas,
)
from index.documents.document_writes import CommitOutcome, Confirmation, DocumentWrite
from index.documents.outbox import Change, CommitResult
from index.documents.stored_document import StoredDocument, row_to_stored_document
from index.documents.write_causes import ExternalCause, WriteCause, sequence_of
from index.errors import DatabaseUnavailable, SourceReserved, TenantMissing
from index.jobs import job_queue
from index.jobs.job_queue import JobLease
from index.model.document import Document, DocumentContent
from index.model.quota import NO_QUOTAS, Quotas, StoredAmounts
from index.model.scope import PUBLIC
from index.model.write_order import (
    ACCESS,
    ALL_PARTS,
    MissingDocument,
    Parts,
    by_parts,
)
from index.postgres.database import Database
from index.postgres.session import Session
from index.vocabulary import vocabulary
from index.vocabulary.vocabulary import SeenWords

_MOVE_PAUSE_S = 0.1
_MOVE_PAUSES_MAX = 300  # half a minute; a tenant of 34,000 chunks is moved in a second


class DocumentStore:
    def __init__(
        self,
        database: Database,
        *,
        unlearn_s: float = 60.0,
        default_quotas: Quotas = NO_QUOTAS,
    ) -> None:
        """unlearn_s: the delay until the words of forgotten documents are pruned, in one batch.

        default_quotas: of tenants without quotas of their own.
        """
        self._database = database
        self._seen_words = SeenWords()
        self._unlearn_s = unlearn_s
        self._default_quotas = default_quotas

    async def stored(self, tenant: str, document_id: str) -> StoredDocument | None:
        return (await self.stored_all(tenant, [document_id])).get(document_id)

    async def require_open(self, tenant: str, source: str, document_id: str) -> None:
        """Raises `SourceReserved` unless a caller may write the document to the source."""
        row = await self._database.row("documents.versions", tenant, [document_id], [source])
        if row is not None and row["reserved"]:
            raise SourceReserved(source)

    async def stored_all(
        self, tenant: str, document_ids: Sequence[str]
    ) -> dict[str, StoredDocument]:
        """The documents that exist, read in one snapshot."""
        rows = await self._database.rows("documents.stored", tenant, document_ids)
        documents = await map_in_steps(row_to_stored_document, rows)
        return {one.document.document_id: one for one in documents}

    async def missing_all(
        self, tenant: str, document_ids: Sequence[str]
    ) -> dict[str, MissingDocument]:
        """The records of these documents, none of which exists."""
        rows = await self._database.rows("documents.missing", tenant, document_ids)
        return document_writes.missing_of(rows)

    async def next_sequence(self) -> int:
        """A sequence number for a write that is acknowledged now."""
        row = await self._database.row("documents.next_sequence")
        assert row is not None
        sequence: int = row["sequence"]
        return sequence

    async def forget_removed(self, kept_s: float) -> None:
        """Forget removals, and ends of readers, of so many seconds ago.

        No earlier write can arrive after that.
        """
        await self._database.rows("documents.prune_removed", kept_s)
        await self._database.rows("documents.prune_ended_readers", kept_s)

    async def space(self, tenant: str) -> str | None:
        """The space of the tenant's vectors; None if there are none yet. Raises `TenantMissing`."""
        row = await self._database.row("embedding_migration.current_space", tenant)
        if row is None:
            raise TenantMissing(tenant)
        space: str | None = row["embedding_space"]
        return space

    async def planned_embeddings(
        self, tenant: str, first_space: str, digests: Collection[bytes], growth: StoredAmounts
    ) -> tuple[str, dict[bytes, HalfVector]]:
        """The space of the tenant's vectors, and those of these digests that are stored.

        first_space: of a tenant without vectors.
        growth: of the write. If it has no room the commit refuses it too, but then its vectors have
            been computed and stored. Raises `TenantMissing` and `QuotaExceeded`.
        """
        rows = await self._database.rows(
            "documents.planned_embeddings", tenant, first_space, list(digests)
        )
        if not rows:
            raise TenantMissing(tenant)
        quotas.require_planned_room(rows[0], growth, self._default_quotas)
        known = {row["digest"]: row["dense"] for row in rows if row["digest"] is not None}
        return rows[0]["embedding_space"] or first_space, known

    async def of_source(self, tenant: str, source: str, *, until: int | None = None) -> list[str]:
        """The ids of a source's documents.

        until: leaves out those whose content a write with a higher sequence number has set.
        """
        rows = await self._database.rows("documents.of_source", tenant, source, until)
        return [row["document_id"] for row in rows]

    async def contents(
        self, tenant: str, document_ids: Sequence[str]
    ) -> dict[str, DocumentContent]:
        """Of the documents that exist."""
        rows = await self._database.rows("documents.contents", tenant, document_ids)
        return {
            row["document_id"]: DocumentContent(
                row["digest"], row["owner"], frozenset(row["readers"])
            )
            for row in rows
        }

    async def known_embeddings(
        self, tenant: str, space: str, digests: Collection[bytes]
    ) -> dict[bytes, HalfVector]:
        rows = await self._database.rows("documents.embeddings", tenant, space, list(digests))
        return {row["digest"]: row["dense"] for row in rows}

    async def keep_embeddings(
        self, tenant: str, space: str, embeddings: Mapping[bytes, HalfVector]
    ) -> None:
        digests = sorted(embeddings)  # all writers lock in this order, so they can't deadlock
        dense = [embeddings[digest] for digest in digests]
        await self._database.rows("documents.put_embeddings", tenant, space, digests, dense)

    async def apply_all(
        self, tenant: str, writes: Sequence[DocumentWrite], cause: WriteCause | None = None
    ) -> list[CommitOutcome]:
        """Commit writes of different documents together.

        The outcome is None if the document, or the tenant's space, has changed since the plan, and
        `SourceReserved` if callers may not write to the source; neither is committed.
        cause: the job's run, the reading or the event behind the writes, which must not be
               outdated; earlier jobs with nothing left to write are superseded.

        Raises `QuotaExceeded`, and commits none, if the tenant may not store all of them, and
        `RightsLost` if the key of the job no longer works.
        """
        sources = document_writes.sources_of_callers(writes, cause)
        async with self._writing(tenant, sources) as (session, locked):
            missing = await document_writes.missing_now(session, tenant, locked, writes, cause)
            current_writes = [write for write in writes if locked.is_planned_write(write, missing)]
            outcomes: dict[str, CommitOutcome] = {
                write.document_id: SourceReserved(write.document.source)
                for write in current_writes
                if write.document_id in locked.reserved
            }
            # Each new source is locked: all writers use this order, so they can't deadlock.
            accepted_writes = sorted(
                (write for write in current_writes if write.document_id not in outcomes),
                key=lambda write: write.document.source,
            )
            if not accepted_writes:
                return [outcomes.get(write.document_id) for write in writes]
            accepted_writes = await ended_readers.left_out(session, tenant, accepted_writes, cause)
            changes = await document_writes.put(session, tenant, locked, accepted_writes, cause)
            entries = chain.from_iterable(write.vocabulary_entries for write in accepted_writes)
            words = self._seen_words.unseen(tenant, locked.vocabulary.era, entries)
            space = next((write.space for write in accepted_writes if write.added), None)
            actions = {
                write.document_id: outbox.audit_action(write.version, write.stored, write.document)
                for write in accepted_writes
            }
            committed = await outbox.commit(
                session,
                tenant,
                changes,
                "write",
                actions,
                default_quotas=self._default_quotas,
                words=words,
                space=space,
            )
            if isinstance(cause, JobLease):
                await job_queue.require_rights(session, cause)
        self._seen_words.remember(tenant, locked.vocabulary.era, words)
        outcomes |= dict.fromkeys(actions, committed)
        return [outcomes.get(write.document_id) for write in writes]

    async def confirm_all(
        self, tenant: str, confirmations: Sequence[Confirmation], cause: WriteCause | None = None
    ) -> set[str]:
        """Record that these writes were acknowledged last, though they change nothing.

        Returns the confirmed documents; the others have changed since. cause: as for `apply_all`.
        """
        document_ids = [confirmation.document_id for confirmation in confirmations]
        async with self._writing(tenant, dict.fromkeys(document_ids)) as (session, locked):
            parts = {
                confirmation.document_id: confirmation.parts
                for confirmation in confirmations
                if locked.version(confirmation.document_id) == confirmation.version
            }
            if parts:
                await document_writes.supersede(session, tenant, locked, parts, cause)
            for confirmation, document_ids_of_parts in by_parts(parts):
                arguments = (document_ids_of_parts, sorted(confirmation), sequence_of(cause))
                await session.rows("documents.confirm", tenant, *arguments)
            session.raised.update((tenant, PUBLIC))  # another writer may not have announced it yet
            return set(parts)

    async def announce(self, tenant: str) -> None:
        """Announce the tenant's committed changes; see `Database.announce`."""
        await self._database.announce(tenant, PUBLIC)

    async def put_access(
        self,
        tenant: str,
        stored: StoredDocument,
        document: Document,
        *,
        words: Collection[str] = (),
        cause: ExternalCause | None = None,
        parts: Parts = ACCESS,
        audited: tuple[str, str] = ("share", "shared"),
    ) -> CommitResult | None:
        """Set the owner, readers and provenance; None and no change if it has changed since.

        words: those that the tenant's vocabulary learns.
        cause: what another system says that sets them.
        parts: those that are set; a late earlier write does not overwrite them.
        audited: the audit log's action, and its word for it.
        """
        document_id, owner = document.document_id, document.owner
        readers, provenance = list(document.readers), document.provenance.to_json()
        async with self._writing(tenant, {document_id: None}) as (session, locked):
            row = locked.rows.get(document_id)
            if row is None or row["version"] != stored.version:
                return None
            arguments = (document_id, owner, readers, sorted(parts), provenance)
            await session.rows("documents.put_access", tenant, *arguments)
            if cause is not None:
                await cause.settle(session, tenant)
            change = Change(
                row["document_key"],
                stored.document.language,
                was_public=PUBLIC in row["readers"],
                is_public=PUBLIC in readers,
                chunks_before=row["chunks"],
                chunks=row["chunks"],
                updated=stored.all_ids,
            )
            return await outbox.commit(
                session,
                tenant,
                [change],
                audited[0],
                {document_id: audited[1]},
                audit_fields={"owner": owner, "readers": readers},
                words=vocabulary.entries(readers, words),
            )

    async def remove(
        self,
        tenant: str,
        stored: StoredDocument,
        cause: WriteCause | None = None,
        *,
        forget: bool = False,
    ) -> CommitResult | None:
        """Remove the document and its chunks; None and no change if it has changed since.

        forget: also delete its vectors, which otherwise stay for reuse. Raises `QueueFull` if the
                job that prunes its words can't be queued.
        """
        document_id = stored.document.document_id
        async with self._writing(tenant, {document_id: None}) as (session, locked):
            row = locked.rows.get(document_id)
            if row is None or row["version"] != stored.version:
                return None
            parts = {document_id: ALL_PARTS}
            await document_writes.supersede(session, tenant, locked, parts, cause)
            digests = await forgetting.digests(session, row["document_key"]) if forget else []
            await session.rows("documents.remove", tenant, document_id, sequence_of(cause))
            change = Change(
                row["document_key"],
                stored.document.language,
                was_public=PUBLIC in row["readers"],
                is_public=False,
                chunks_before=row["chunks"],
                chunks=0,
                growth=StoredAmounts(documents=-1, bytes=-row["text_bytes"]),
                removed=stored.all_ids,
            )
            actions = {document_id: "removed"}
            committed = await outbox.commit(session, tenant, [change], "remove", actions)
            if not forget:
                return committed
            forgotten = await forgetting.forget(
                session, tenant, document_id, digests, unlearn_s=self._unlearn_s
            )
            return replace(committed, forgotten=forgotten)

    async def remove_absent(
        self, tenant: str, document_id: str, cause: WriteCause | None = None
    ) -> bool:
        """Remove the queued writes of a missing document; False if it exists by now."""
        async with self._writing(tenant, {document_id: None}) as (session, locked):
            if document_id in locked.rows:
                return False
            parts = {document_id: ALL_PARTS}
            await document_writes.supersede(session, tenant, locked, parts, cause)
            await session.rows("documents.remove", tenant, document_id, sequence_of(cause))
            await forgetting.forget_failed(session, tenant, document_id)
            return True

    @asynccontextmanager
    async def _writing(
        self, tenant: str, sources: Mapping[str, str | None]
    ) -> AsyncIterator[tuple[Session, document_writes.LockedRows]]:
        """A transaction that has locked these documents.

        sources: by document, the source to which a caller writes it; otherwise None.
        While the tenant's chunks are being moved, it waits without a connection.
        """
        for _ in range(_MOVE_PAUSES_MAX):
            async with self._database.transaction() as session:
                if await session.value("documents.lock_for_write", tenant, list(sources)):
                    yield session, await document_writes.read_locked(session, tenant, sources)
                    return
            await asyncio.sleep(_MOVE_PAUSE_S)
        raise DatabaseUnavailable(f"the chunks of {tenant} are being moved")
