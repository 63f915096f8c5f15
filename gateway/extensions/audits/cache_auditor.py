"""Audits cached answers: computes them again at the same revisions, and compares the bodies."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Literal, TypeAlias

import structlog

from cache.answers import Answers
from cache.invalidation.drain import CountEvent
from cache.lookup import ServedAnswer
from cache.protocol import Revisions
from common.errors import Saturated
from gateway.extension import AnswerBuilder, AuditWatcher, SearchServices, decode_in_steps
from index.documents.visible_documents import VisibleDocuments
from index.errors import DatabaseUnavailable, VectorRefused
from index.model.query import Filter, Query
from index.model.scope import Scope
from index.resident.resident_shards import ResidentShards
from index.search.searcher import Searcher, SearchResult

# moved: the index changed during the audit. approximate: two correct answers may differ, because an
# approximate index or a model that writes or compresses texts took part. gone: the entry is no
# longer live.
Verdict: TypeAlias = Literal["equal", "other", "moved", "approximate", "gone"]

_TASKS_MAX = 1  # per process, so that audits do not slow down answers

log = structlog.get_logger()


class CacheAuditor:
    """searcher: without shards, as it also audits what they answered.

    count: receives audit_VERDICT, and audit_leaked for an answer that shows a document which its
        scope does not admit. watchers: of sampled answers that were found equal or other.
    """

    def __init__(
        self,
        searcher: Searcher,
        answers: Answers,
        shards: ResidentShards,
        documents: VisibleDocuments,
        count: CountEvent,
        builder: AnswerBuilder,
        watchers: Sequence[AuditWatcher],
    ) -> None:
        self._searcher = searcher
        self._shards = shards
        self._documents = documents
        self._answers = answers
        self._count = count
        self._builder = builder
        self._watchers = watchers
        self._tasks: set[asyncio.Task[None]] = set()

    @classmethod
    def of(cls, search: SearchServices) -> "CacheAuditor":
        return cls(
            search.table_searcher,
            search.answers,
            search.shards,
            search.stores.visible_documents,
            search.metrics.cache_event,
            search.builder,
            search.answer_log.audit_watchers,
        )

    def audit(self, scope: Scope, query: Query, served: ServedAnswer) -> None:
        """Audit an answer to this very question that was just served, unless another audit runs."""
        if (
            served.tier in ("memory", "redis", "miss")
            and served.is_complete
            and len(self._tasks) < _TASKS_MAX
        ):
            task = asyncio.create_task(self._audit(scope, query, served))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def check(
        self, scope: Scope, query: Query, key: str, body: bytes, revisions: Revisions
    ) -> Verdict:
        """Compare an answer, valid at these revisions; drop and log it if it differs.

        Raises `DatabaseUnavailable` and `Saturated`.
        """
        try:
            result = await self._searcher.search(scope, query)
        except VectorRefused:  # the index has moved to another space
            return "moved"
        if result.degraded or not result.dependencies.exact:
            return "approximate"
        if not _is_at(result, revisions):
            return "moved"
        matches = self._builder.matches
        is_equal = await self._builder.threads.run(scope.tenant, matches, result, query, body)
        if is_equal:
            return "equal"
        if is_equal is None:
            return "approximate"
        log.error(
            "audit",
            tenant=scope.tenant,
            key=key,
            revisions=dict(revisions.by_partition),
            detail="a cached answer differs from a new search and is dropped; please report it",
        )
        await self._answers.drop(scope.tenant, key)
        self._shards.refuse(scope.partitions)  # one of them may have left a chunk out
        await self._report_leak(scope, query, key, body, revisions)
        return "other"

    async def _report_leak(
        self, scope: Scope, query: Query, key: str, body: bytes, revisions: Revisions
    ) -> None:
        """Count and log a leak; without PostgreSQL nobody can tell, and the difference counts."""
        with suppress(DatabaseUnavailable):
            if await self._is_leaked(scope, query, body, revisions):
                self._count("audit_leaked")
                log.error("audit", state="leaked", tenant=scope.tenant, key=key)

    async def _is_leaked(
        self, scope: Scope, query: Query, body: bytes, revisions: Revisions
    ) -> bool:
        """Whether the body shows a document that its scope does not admit at these revisions."""
        hits = (await decode_in_steps(body))["hits"]
        shown = {(hit.get("tenant", scope.tenant), hit["document_id"]) for hit in hits}
        for tenant, document_id in sorted(shown):
            if await self._documents.read_of(scope, Filter(), tenant, document_id) is None:
                # Unless its readers have changed since the comparison.
                now = await self._searcher.search(scope, query)
                return _is_at(now, revisions)
        return False

    async def drain_background(self) -> None:
        await asyncio.gather(*self._tasks)

    async def _audit(self, scope: Scope, query: Query, served: ServedAnswer) -> None:
        """scope: of the caller, which may not be the one that the answer was computed for."""
        try:
            verdict = await self.check(scope, query, served.key, served.body, served.valid_until)
        except (DatabaseUnavailable, Saturated):
            return
        self._count(f"audit_{verdict}")
        if verdict in ("equal", "other"):
            for watch in self._watchers:
                watch(scope.tenant, served.tier, is_equal=verdict == "equal")


def _is_at(result: SearchResult, revisions: Revisions) -> bool:
    return result.history == revisions.history and result.as_of == revisions.by_partition
