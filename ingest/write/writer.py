"""The write path: chunk, plan, embed what is new, commit once, invalidate, acknowledge.

Documents are planned from what is stored, without a lock; the commit takes those of them of which
that is still what is stored, the others are planned again.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from typing import Protocol

from pgvector import HalfVector

from cache.protocol import Revisions
from index.documents.document_store import DocumentStore, StoredDocument
from index.documents.document_writes import Confirmation
from index.documents.event_versions import By, EventUpdate, sequence_of
from index.documents.outbox import Committed
from index.errors import DatabaseUnavailable, EmbeddingUnavailable, SourceReserved
from index.model.document import Document
from index.model.write_order import ACCESS, ALL_PARTS, NEVER_SEEN, Absent, Parts
from index.text import spelling
from ingest.billing_context import bill_to
from ingest.errors import DocumentContended, DocumentTooLong
from ingest.threads import Threads
from ingest.write.document_plan import (
    DocumentPlan,
    PlannedBatch,
    is_tenant_visible,
    plan_in_thread,
    to_write,
)
from ingest.write.embed import PassageEmbedder, embed_missing
from ingest.write.llm_preprocessing import LlmPreprocessor
from ingest.write.revision import (
    Outcome,
    Put,
    Revise,
    Revision,
    Written,
    distinct,
    revision_of,
    superseded,
)
from ingest.write.write_coordination import FairnessLocks, PipelineLocks

_ATTEMPTS_MAX = 20  # a starting value: each lost attempt means that another writer got through
_PATIENCE = 3  # lost attempts; then the other writers of this process give way
_PAUSE_S = 0.01  # after a lost attempt, longer each time, so that many processes take turns
# Starting values, not measured. More threads compute no faster; one tenant uses half of these.
_THREADS = 4
_WAITING_MAX = 1_000  # writes of one tenant whose documents have yet to be cut
_WAIT_S_MAX = 300.0
_NO_ASSISTANT = LlmPreprocessor()


class ChunkCounter(Protocol):
    """Told of each document how many texts of it were embedded, and how many chunks were not."""

    def chunks(self, tenant: str, source: str, embedded: int, reused: int, /) -> None: ...


class CacheInvalidation(Protocol):
    async def drain(self, tenant: str, revisions: Revisions, /) -> None: ...


_Attempt = Callable[[Mapping[str, StoredDocument | None]], Awaitable[Mapping[str, Outcome]]]


class Writer:
    """Writes to each tenant in the space that its vectors are in.

    Raises `DatabaseUnavailable`, `EmbeddingUnavailable`, `Saturated`, and what `ingest.errors`
    lists.
    """

    def __init__(
        self,
        documents: DocumentStore,
        embedder: PassageEmbedder,
        invalidation: CacheInvalidation,
        *others: PassageEmbedder,
        assistant: LlmPreprocessor = _NO_ASSISTANT,
        tally: ChunkCounter | None = None,
    ) -> None:
        """embedder: for tenants in no other's space, or in none yet."""
        self._documents = documents
        self._first = embedder.space
        self._embedders = {each.space: each for each in (embedder, *others)}
        self._invalidation = invalidation
        self._assistant = assistant
        self._tally = tally
        self._precedence = FairnessLocks()
        self._threads = Threads(
            _THREADS, name="write", waiting_max=_WAITING_MAX, wait_s_max=_WAIT_S_MAX
        )

    async def put(
        self,
        tenant: str,
        document_id: str,
        revise: Revise,
        by: By | None = None,
        parts: Parts = ALL_PARTS,
    ) -> Written:
        """`put_all` of one; raises the exception where that returns it.

        by: the job's run, the reading or the event that asks for it; once overtaken, it writes
        nothing, and `JobLost` or `HeardMeanwhile` is raised. What a later write has set, an earlier
        one leaves alone. parts: those that it sets.
        """
        (outcome,) = await self.put_all(tenant, [Put(document_id, revise, parts)], by)
        return _written(outcome)

    async def put_all(
        self,
        tenant: str,
        puts: Sequence[Put],
        by: By | None = None,
        turns: PipelineLocks | None = None,
    ) -> list[Outcome]:
        """Store the documents, together where they differ; what became of each, in order.

        One that fails stops no other. Of two puts of one document the later one sees the earlier.
        A document that is already so costs its part of a look-up, and makes no revision.
        `ingest.write.batch` says how many are worth a call.

        turns: of calls that are made together and write one after the other.
        """
        turns = turns or PipelineLocks()
        outcomes: list[Outcome] = []
        for different in distinct(puts):
            await self._precedence.yield_to_priority(tenant, different)
            settled = await self._retry_until_committed(
                tenant, list(different), partial(self._put, tenant, different, by, turns)
            )
            outcomes += [settled[document_id] for document_id in different]
        return outcomes

    async def put_access(
        self,
        tenant: str,
        document_id: str,
        revise: Revise,
        by: EventUpdate | None = None,
        parts: Parts = ACCESS,
    ) -> Written:
        """Change owner and readers to what `revise` says; embeds nothing, moves no vector.

        parts: which of the two it sets; queued writes then leave them alone.
        """

        async def attempt(stored: StoredDocument | None) -> Written | None:
            document = revise(stored.document if stored else None)
            assert stored is not None, "revise refuses what is not there"
            if stored.document == document:
                unchanged = Revision(stored, document, parts)
                confirmed = await self._confirmed(tenant, {document_id: unchanged}, by)
                return unchanged.unchanged() if confirmed else None
            words: Collection[str] = ()
            if is_tenant_visible(document) and not is_tenant_visible(stored.document):
                told = (summary.text for summary in stored.summaries)
                texts = [document.title, document.text, *told]
                words = await self._threads.run(tenant, spelling.vocabulary_words, texts)
            owner, readers = document.owner, document.readers
            committed = await self._documents.put_access(
                tenant, stored, owner=owner, readers=readers, words=words, by=by, parts=parts
            )
            if committed is None:
                return None
            revision = await self._invalidate(tenant, committed)
            return Written(document_id, revision, kept=len(stored.all_ids))

        return await self._retry_one(tenant, document_id, attempt)

    async def remove(
        self,
        tenant: str,
        document_id: str,
        permit: Callable[[Document | None], object],
        by: By | None = None,
        *,
        forget: bool = False,
    ) -> Written:
        """Remove the document with its chunks; `permit` raises to refuse.

        Where it doesn't and there is no document, what is queued for it is removed. A document that
        was written later than `by` was acknowledged stays.
        forget: its vectors too, which would else stay, should its words come back.
        """

        async def attempt(stored: StoredDocument | None) -> Written | None:
            permit(stored.document if stored else None)
            if stored is None:
                is_absent = await self._documents.remove_absent(tenant, document_id, by)
                return Written(document_id, 0, changed=False) if is_absent else None
            sequence = sequence_of(by)
            if sequence is not None and stored.sequences.content > sequence:
                return superseded(document_id, stored)
            committed = await self._documents.remove(tenant, stored, by, forget=forget)
            if committed is None:
                return None
            revision = await self._invalidate(tenant, committed)
            removed = len(stored.all_ids)
            return Written(document_id, revision, removed=removed, forgotten=committed.forgotten)

        return await self._retry_one(tenant, document_id, attempt)

    async def rewrite_chunks(
        self, tenant: str, document_id: str, strays: Sequence[int] = (), by: By | None = None
    ) -> None:
        """Write the document as it is, all of its chunks anew; nothing if it is gone.

        strays: chunks of it that not all tables hold, to be removed.
        """

        async def attempt(stored: StoredDocument | None) -> Written | None:
            if stored is None:
                return Written(document_id, 0, changed=False)
            unknown = replace(
                stored,
                digests=(b"",) * len(stored.digests),
                summaries=tuple(replace(each, digest=b"") for each in stored.summaries),
            )
            drafts, too_long = await self._plan_documents(tenant, [(unknown, stored.document)])
            for error in too_long.values():
                raise error
            planned = await self._embed_plans(
                tenant,
                [replace(draft, strays=strays) for draft in drafts],
                {document_id: Revision(stored, stored.document, frozenset())},
            )
            outcome = (await self._commit(tenant, planned, by)).get(document_id)
            return None if outcome is None else _written(outcome)

        await self._retry_one(tenant, document_id, attempt)

    async def _retry_one(
        self,
        tenant: str,
        document_id: str,
        attempt: Callable[[StoredDocument | None], Awaitable[Written | None]],
    ) -> Written:
        """What an attempt wrote; None means that somebody else got through first."""

        async def attempt_all(stored: Mapping[str, StoredDocument | None]) -> Mapping[str, Outcome]:
            written = await attempt(stored[document_id])
            return {} if written is None else {document_id: written}

        settled = await self._retry_until_committed(tenant, [document_id], attempt_all)
        return _written(settled[document_id])

    async def _retry_until_committed(
        self, tenant: str, document_ids: Sequence[str], attempt: _Attempt
    ) -> dict[str, Outcome]:
        """What became of each; whom an attempt leaves out somebody overtook, so once more."""
        outcomes: dict[str, Outcome] = {}
        waiting = document_ids
        async with AsyncExitStack() as going_first:
            for lost in range(_ATTEMPTS_MAX):
                if lost == _PATIENCE:
                    first = self._precedence.acquire_priority(tenant, waiting)
                    await going_first.enter_async_context(first)
                try:
                    stored = await self._documents.stored_all(tenant, waiting)
                    outcomes |= await attempt({each: stored.get(each) for each in waiting})
                except Exception as error:
                    await going_first.aclose()
                    return outcomes | await self._retry_separately(tenant, waiting, attempt, error)
                waiting = [each for each in waiting if each not in outcomes]
                if not waiting:
                    return outcomes
                await asyncio.sleep(random.uniform(0, lost * _PAUSE_S))  # noqa: S311  no secret
        return outcomes | {each: DocumentContended(each) for each in waiting}

    async def _retry_separately(
        self, tenant: str, document_ids: Sequence[str], attempt: _Attempt, error: Exception
    ) -> dict[str, Outcome]:
        """What becomes of those whose attempt failed as a whole, most often for one of them.

        Whose text the embedder refuses, or who needs it while it is away, shows when each is alone.
        """
        if len(document_ids) == 1 or isinstance(error, DatabaseUnavailable):
            return dict.fromkeys(document_ids, error)
        outcomes: dict[str, Outcome] = {}
        for each in document_ids:
            outcomes |= await self._retry_until_committed(tenant, [each], attempt)
        return outcomes

    async def _put(
        self,
        tenant: str,
        puts: Mapping[str, Put],
        by: By | None,
        turns: PipelineLocks,
        stored: Mapping[str, StoredDocument | None],
    ) -> dict[str, Outcome]:
        """One attempt at all that `stored` names; whom somebody overtook is left out."""
        outcomes: dict[str, Outcome] = {}
        revisions, unchanged = dict[str, Revision](), dict[str, Revision]()
        for each, revised in (await self._revised(tenant, puts, by, stored)).items():
            if not isinstance(revised, Revision):
                outcomes[each] = revised
            elif not revised.is_unchanged:
                revisions[each] = revised
            elif revised.is_certain(by):
                outcomes[each] = revised.unchanged()
            else:
                unchanged[each] = revised
        async with turns.planning:
            drafts, too_long = await self._plan_documents(
                tenant, [(revised.stored, revised.document) for revised in revisions.values()]
            )
            planned = await self._embed_plans(tenant, drafts, revisions)
        async with turns.committing:
            outcomes |= await self._confirmed(tenant, unchanged, by)
            return outcomes | too_long | await self._commit(tenant, planned, by)

    async def _revised(
        self,
        tenant: str,
        puts: Mapping[str, Put],
        by: By | None,
        stored: Mapping[str, StoredDocument | None],
    ) -> dict[str, Revision | Outcome]:
        """What each put makes of its document."""
        sequence, absent = sequence_of(by), dict[str, Absent]()
        new = [each for each, found in stored.items() if found is None]
        if sequence is not None and new:
            absent = await self._documents.absent_all(tenant, new)
        revised = {
            each: revision_of(puts[each], found, absent.get(each, NEVER_SEEN), sequence)
            for each, found in stored.items()
        }
        for each, found in stored.items():
            one = revised[each]
            if found and (
                one.is_unchanged if isinstance(one, Revision) else isinstance(one, Written)
            ):
                self._count(tenant, found.document, 0, len(found.all_ids))
        return revised

    async def _confirmed(
        self, tenant: str, unchanged: Mapping[str, Revision], by: By | None
    ) -> dict[str, Outcome]:
        """Those writes that change nothing and are acknowledged all the same, as the last ones."""
        if not unchanged:
            return {}
        confirmed = await self._documents.confirm_all(
            tenant,
            [Confirmation(each, one.version, one.parts) for each, one in unchanged.items()],
            by,
        )
        return {each: one.unchanged() for each, one in unchanged.items() if each in confirmed}

    async def _plan_documents(
        self, tenant: str, changed: Sequence[tuple[StoredDocument | None, Document]]
    ) -> tuple[list[DocumentPlan], dict[str, DocumentTooLong]]:
        """The drafts, and those documents that are too long for one."""
        with bill_to(tenant):
            assisted = await self._assistant.preprocess(changed)
        return await plan_in_thread(self._threads, tenant, changed, assisted)

    async def _embed_plans(
        self, tenant: str, drafts: Sequence[DocumentPlan], revisions: Mapping[str, Revision]
    ) -> PlannedBatch:
        texts = {chunk.digest: chunk.embedded_text for draft in drafts for chunk in draft.added}
        space = await self._space(tenant) if texts else None
        vectors, embedded = await self._vectors(tenant, space, texts)
        writes = []
        for draft in drafts:
            revised, write = revisions[draft.document.document_id], to_write(draft, space, vectors)
            writes.append(replace(write, parts=revised.parts, absent=revised.absent))
        return PlannedBatch(drafts, writes, embedded)

    async def _commit(
        self, tenant: str, planned: PlannedBatch, by: By | None
    ) -> dict[str, Outcome]:
        """Those of the drafts that were written, all in one commit."""
        if not planned.drafts:
            return {}
        commits = await self._documents.apply_all(tenant, planned.writes, by)
        outcomes: dict[str, Outcome] = {
            draft.document.document_id: commit
            for draft, commit in zip(planned.drafts, commits, strict=True)
            if isinstance(commit, SourceReserved)
        }
        committed = next((each for each in commits if isinstance(each, Committed)), None)
        if committed is None:
            return outcomes
        revision = await self._invalidate(tenant, committed)
        for draft, commit, texts_embedded in zip(
            planned.drafts, commits, planned.each_embedded(), strict=True
        ):
            if not isinstance(commit, Committed):
                continue
            added, kept = len(draft.added), len(draft.kept)
            self._count(tenant, draft.document, texts_embedded, added + kept - texts_embedded)
            outcomes[draft.document.document_id] = Written(
                draft.document.document_id,
                revision,
                added=added,
                kept=kept,
                removed=len(draft.removed),
                embedded=texts_embedded,
            )
        return outcomes

    def _count(self, tenant: str, document: Document, embedded: int, reused: int) -> None:
        if self._tally is not None:
            self._tally.chunks(tenant, document.source, embedded, reused)

    async def _space(self, tenant: str) -> str:
        """The space to embed in; should the tenant leave it meanwhile, the commit is refused."""
        space = await self._documents.space(tenant) or self._first
        if space not in self._embedders:
            raise EmbeddingUnavailable(
                f"{tenant} has vectors of {space}, for which no embedder is configured here"
            )
        return space

    async def _vectors(
        self, tenant: str, space: str | None, wanted: Mapping[bytes, str]
    ) -> tuple[Mapping[bytes, HalfVector], Collection[bytes]]:
        """A vector for each digest, and those embedded now: what the tenant has never embedded."""
        if space is None:
            return {}, ()
        embedder = self._embedders[space]
        return await embed_missing(self._documents, embedder, tenant, wanted)

    async def _invalidate(self, tenant: str, committed: Committed) -> int:
        """The tenant's revision, once caches are drained up to it, or readers left to do so."""
        await self._invalidation.drain(tenant, Revisions(committed.history, committed.revisions))
        return committed.revisions[tenant]


def _written(outcome: Outcome) -> Written:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome
