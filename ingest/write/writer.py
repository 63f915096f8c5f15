"""The write path: chunk, plan, embed new chunks, commit once, invalidate, acknowledge.

Documents are planned from their stored versions without a lock. The commit writes the documents
whose stored version is unchanged; the others are planned again.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import Protocol

from cache.protocol import Revisions
from common.processes.worker_pool import WorkerPool
from common.shares.threads import FairThreads
from common.shares.turns import long_step, map_in_steps
from index.documents.document_store import DocumentStore
from index.documents.document_writes import Confirmation, DocumentWrite
from index.documents.outbox import CommitResult
from index.documents.stored_document import StoredDocument
from index.documents.write_causes import ExternalCause, WriteCause, sequence_of
from index.errors import SourceReserved
from index.model.document import Document
from index.model.provenance import NOBODY, Author
from index.model.write_order import ACCESS, ALL_PARTS, NEVER_SEEN, MissingDocument, Parts
from index.text import spelling
from ingest.write.authorship import held, intended
from ingest.write.document_plan import PlannedBatch, teaches_others
from ingest.write.embed import PassageEmbedder
from ingest.write.planning_process import PlanningProcess
from ingest.write.publishing import require_publishable
from ingest.write.revision import (
    Outcome,
    PlannedUpdate,
    Put,
    Revise,
    Written,
    distinct,
    require_written,
    revision_of,
    superseded,
)
from ingest.write.write_coordination import PipelineLocks
from ingest.write.write_planner import Preprocessor, WritePlanner
from ingest.write.write_retries import WriteRetries
from ingest.write.write_warning import WriteWarning

# One for each of two tenants. More compute no faster, since one at a time has the interpreter, and
# the event loop waits for all of them: beside 1, 2 and 3 computing threads, a round trip over a
# socket took it 2, 15 and 40 times as long (two busy cores).
_THREADS = 2
_WAITING_MAX = 1_000  # writes of one tenant that wait to be chunked; a starting value
_WAIT_S_MAX = 300.0


class ChunkCounter(Protocol):
    """Receives, for each document, the number of embedded texts and of reused chunks."""

    def chunks(self, tenant: str, source: str, embedded: int, reused: int, /) -> None: ...


class CacheInvalidation(Protocol):
    async def drain(self, tenant: str, revisions: Revisions, /) -> None: ...


class Writer:
    """Writes documents; embeds them in the embedding space of their tenant.

    Raises `DatabaseUnavailable`, `EmbeddingUnavailable`, `QuotaExceeded`, `Saturated`, and the
    errors of `ingest.errors`.
    """

    def __init__(
        self,
        documents: DocumentStore,
        embedder: PassageEmbedder,
        invalidation: CacheInvalidation,
        *other_embedders: PassageEmbedder,
        preprocessor: Preprocessor | None = None,
        chunk_counter: ChunkCounter | None = None,
        processes: WorkerPool[PlanningProcess] | None = None,
    ) -> None:
        """embedder: for tenants without vectors; other_embedders: for tenants in their spaces.

        processes: plan long texts; without them, threads do.
        `threads` are for all that is computed of the texts of stored documents.
        """
        self._documents = documents
        self._invalidation = invalidation
        self._chunk_counter = chunk_counter
        self.threads = FairThreads(
            _THREADS, name="write", waiting_max=_WAITING_MAX, wait_s_max=_WAIT_S_MAX
        )
        embedders = (embedder, *other_embedders)
        self._planner = WritePlanner(documents, embedders, preprocessor, self.threads, processes)
        self._retries = WriteRetries(documents)

    async def put(
        self,
        tenant: str,
        document_id: str,
        revise: Revise,
        cause: WriteCause | None = None,
        parts: Parts = ALL_PARTS,
        *,
        may_publish: bool = False,
        author: Author = NOBODY,
    ) -> Written:
        """`put_all` of one document; raises the exception that `put_all` returns.

        cause: the job, source reading or event behind the write. If a newer cause has replaced
        it, nothing is written and `JobLost` or its own exception is raised. Parts that a later
        write has set stay unchanged. parts: those that this write sets. may_publish, author: as in
        `Put`.
        """
        put = Put(document_id, revise, parts, may_publish, author)
        (outcome,) = await self.put_all(tenant, [put], cause)
        return require_written(outcome)

    async def put_all(
        self,
        tenant: str,
        puts: Sequence[Put],
        cause: WriteCause | None = None,
        locks: PipelineLocks | None = None,
    ) -> list[Outcome]:
        """Store the documents in as few commits as possible; returns the outcomes in order.

        A failure affects only its document. The second of two puts of one document sees the first.
        An unchanged document costs only a look-up and raises no revision.
        Callers bound the size of a call.

        locks: the locks shared by concurrent calls that commit one after the other.
        """
        locks = locks or PipelineLocks()
        outcomes: list[Outcome] = []
        for batch in distinct(puts):
            await self._retries.yield_to_priority(tenant, batch)
            batch_outcomes = await self._retries.until_committed(
                tenant, list(batch), partial(self._attempt_puts, tenant, batch, cause, locks)
            )
            outcomes += [batch_outcomes[document_id] for document_id in batch]
        return outcomes

    async def put_access(
        self,
        tenant: str,
        document_id: str,
        revise: Revise,
        cause: ExternalCause | None = None,
        parts: Parts = ACCESS,
        *,
        may_publish: bool = False,
        author: Author = NOBODY,
        audited: tuple[str, str] = ("share", "shared"),
    ) -> Written:
        """Set owner, readers and provenance as `revise` returns them; it moves no vector.

        cause: what another system said; raises its exception if that has changed since.
        parts: which of the first two it sets, against queued writes. may_publish: as in `Put`.
        author: whose quarantine holds. audited: the audit log's action, and its word for it.
        """

        async def attempt(stored: StoredDocument | None) -> Written | None:
            await self._announce_absence(tenant, stored)
            document = revise(stored.document if stored else None)
            assert stored is not None, "revise raises if the document does not exist"
            document = held(stored.document, document, author.quarantine)
            require_publishable(stored.document, intended(document), may_publish=may_publish)
            if stored.document == document:
                unchanged = PlannedUpdate(stored, document, parts)
                confirmed = await self._confirm(tenant, {document_id: unchanged}, cause)
                return unchanged.unchanged() if confirmed else None
            words: Collection[str] = ()
            if teaches_others(stored.document, document):
                summaries = (summary.text for summary in stored.summaries)
                texts = [document.title, document.text, *summaries]
                words = await self.threads.run(tenant, spelling.vocabulary_words, texts)
            committed = await self._documents.put_access(
                tenant, stored, document, words=words, cause=cause, parts=parts, audited=audited
            )
            return await self._written(tenant, document_id, committed, kept=len(stored.all_ids))

        return await self._retries.until_written(tenant, document_id, attempt)

    async def remove(
        self,
        tenant: str,
        document_id: str,
        permit: Callable[[Document | None], object],
        cause: WriteCause | None = None,
        *,
        forget: bool = False,
    ) -> Written:
        """Remove the document with its chunks; `permit` raises to refuse.

        Without a document, its queued writes are removed. A document that was written after `cause`
        was acknowledged stays.
        forget: also delete the vectors, which otherwise stay for reuse.
        """

        async def attempt(stored: StoredDocument | None) -> Written | None:
            await self._announce_absence(tenant, stored)
            permit(stored.document if stored else None)
            if stored is None:
                is_absent = await self._documents.remove_absent(tenant, document_id, cause)
                return Written(document_id, 0, changed=False) if is_absent else None
            sequence = sequence_of(cause)
            if sequence is not None and stored.sequences.get("content", 0) > sequence:
                return superseded(document_id, stored)
            committed = await self._documents.remove(tenant, stored, cause, forget=forget)
            return await self._written(tenant, document_id, committed, removed=len(stored.all_ids))

        return await self._retries.until_written(tenant, document_id, attempt)

    async def write_again(
        self,
        tenant: str,
        document_id: str,
        differing: Callable[[StoredDocument], StoredDocument],
        cause: WriteCause | None,
        strays: Sequence[int] = (),
    ) -> None:
        """Write what is stored as a change of `differing`, which lacks what is to be written.

        Does nothing if the document is gone. strays: chunks of it to remove that are missing in
        some tables.
        """

        async def attempt(stored: StoredDocument | None) -> Written | None:
            if stored is None:
                return Written(document_id, 0, changed=False)
            change = (differing(stored), stored.document)
            plans, too_long = await self._planner.plan(tenant, [change])
            for error in too_long.values():
                raise error
            batch = await self._planner.embed(
                tenant,
                [replace(plan, write=replace(plan.write, strays=strays)) for plan in plans],
                {document_id: PlannedUpdate(stored, stored.document, frozenset())},
            )
            outcome = (await self._commit(tenant, batch, cause)).get(document_id)
            return None if outcome is None else require_written(outcome)

        await self._retries.until_written(tenant, document_id, attempt)

    async def _announce_absence(self, tenant: str, stored: StoredDocument | None) -> None:
        """If there is no document, announce it before a caller is told so.

        A caller that is told relies on it everywhere, and whoever has removed the document may not
        have announced that yet.
        """
        if stored is None:
            await self._documents.announce(tenant)

    async def _attempt_puts(
        self,
        tenant: str,
        puts: Mapping[str, Put],
        cause: WriteCause | None,
        locks: PipelineLocks,
        stored: Mapping[str, StoredDocument | None],
    ) -> dict[str, Outcome]:
        """One attempt at the documents of `stored`; omits those that another writer has changed."""
        outcomes: dict[str, Outcome] = {}
        revisions, unchanged = dict[str, PlannedUpdate](), dict[str, PlannedUpdate]()
        for document_id, revised in (await self._revise_all(tenant, puts, cause, stored)).items():
            if not isinstance(revised, PlannedUpdate):
                outcomes[document_id] = revised
            elif not revised.is_unchanged:
                revisions[document_id] = revised
            elif revised.is_certain(cause):
                outcomes[document_id] = revised.unchanged()
            else:
                unchanged[document_id] = revised
        for document_id, current in stored.items():
            is_refused = isinstance(outcomes.get(document_id), Exception)
            if current and document_id not in revisions and not is_refused:
                self._count(tenant, current.document, 0, len(current.all_ids))
        if any(isinstance(outcome, Written) for outcome in outcomes.values()):
            await self._documents.announce(tenant)
        async with locks.planning:
            plans, too_long = await self._planner.plan(
                tenant, [(revised.stored, revised.document) for revised in revisions.values()]
            )
            batch = await self._planner.embed(tenant, plans, revisions)
        async with locks.committing:
            outcomes |= await self._confirm(tenant, unchanged, cause)
            return outcomes | too_long | await self._commit(tenant, batch, cause)

    async def _revise_all(
        self,
        tenant: str,
        puts: Mapping[str, Put],
        cause: WriteCause | None,
        stored: Mapping[str, StoredDocument | None],
    ) -> dict[str, PlannedUpdate | Outcome]:
        """By document, the revision that its put makes, or its outcome."""
        sequence, missing = sequence_of(cause), dict[str, MissingDocument]()
        new = [document_id for document_id, current in stored.items() if current is None]
        if sequence is not None and new:
            missing = await self._documents.missing_all(tenant, new)

        def revise() -> dict[str, PlannedUpdate | Outcome]:
            return {
                name: revision_of(puts[name], current, missing.get(name, NEVER_SEEN), sequence)
                for name, current in stored.items()
            }

        if len(stored) == 1:
            return revise()
        async with long_step(tenant):  # the language of each takes a millisecond or two to detect
            return await self.threads.run(tenant, revise)

    async def _confirm(
        self, tenant: str, unchanged: Mapping[str, PlannedUpdate], cause: WriteCause | None
    ) -> dict[str, Outcome]:
        """Confirm the writes that change nothing; they still count as the latest writes."""
        if not unchanged:
            return {}
        confirmed = await self._documents.confirm_all(
            tenant,
            [Confirmation(name, write.version, write.parts) for name, write in unchanged.items()],
            cause,
        )
        return {name: write.unchanged() for name, write in unchanged.items() if name in confirmed}

    async def _commit(
        self, tenant: str, batch: PlannedBatch, cause: WriteCause | None
    ) -> dict[str, Outcome]:
        """Commit the writes in one transaction; the outcomes of those that were committed."""
        if not batch.writes:
            return {}
        async with long_step(tenant):
            commits = await self._documents.apply_all(tenant, batch.writes, cause)
        outcomes: dict[str, Outcome] = {
            write.document_id: commit
            for write, commit in zip(batch.writes, commits, strict=True)
            if isinstance(commit, SourceReserved)
        }
        committed = next((commit for commit in commits if isinstance(commit, CommitResult)), None)
        if committed is None:
            return outcomes
        revisions = await self._invalidate(tenant, committed)

        def count(planned: tuple[DocumentWrite, Sequence[WriteWarning], int]) -> Written:
            write, warnings, embedded = planned
            added, kept = len(write.added), len(write.kept)
            self._count(tenant, write.document, embedded, added + kept - embedded)
            return Written(
                write.document_id,
                revisions.by_partition[tenant],
                added=added,
                kept=kept,
                removed=len(write.removed),
                embedded=embedded,
                committed=revisions,
                warnings=tuple(warnings),
            )

        planned = zip(batch.writes, batch.warnings, batch.embedded_counts(), strict=True)
        are_committed = (isinstance(commit, CommitResult) for commit in commits)
        for written in await map_in_steps(count, compress(planned, are_committed)):
            outcomes[written.document_id] = written
        return outcomes

    def _count(self, tenant: str, document: Document, embedded: int, reused: int) -> None:
        if self._chunk_counter is not None:
            self._chunk_counter.chunks(tenant, document.source, embedded, reused)

    async def _written(
        self,
        tenant: str,
        document_id: str,
        committed: CommitResult | None,
        *,
        kept: int = 0,
        removed: int = 0,
    ) -> Written | None:
        """The result of a commit, once it is in the caches; None if another writer was first."""
        if committed is None:
            return None
        revisions = await self._invalidate(tenant, committed)
        return Written(
            document_id,
            revisions.by_partition[tenant],
            kept=kept,
            removed=removed,
            forgotten=committed.forgotten,
            committed=revisions,
        )

    async def _invalidate(self, tenant: str, committed: CommitResult) -> Revisions:
        """Drain the cache and return the new revisions; a failed drain is left to readers."""
        revisions = Revisions(committed.history, committed.revisions)
        await self._invalidation.drain(tenant, revisions)
        return revisions
