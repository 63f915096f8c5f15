"""Cached answers held against the truth: computed anew at the same revisions, and compared.

A sample of what is served, behind it; or all live entries, for `nearhit audit`.
"""

import asyncio
import random
from collections.abc import AsyncIterator
from typing import Literal, TypeAlias

import structlog

from cache import protocol
from cache.answers import Answers, ServedAnswer
from cache.invalidation import CountEvent, Invalidation
from cache.protocol import Revisions
from cache.redis.store import RedisStore
from gateway.search.response_body import matches_body, search_index
from index.errors import DatabaseUnavailable, UnreadableRecord
from index.invalidation.answer_dependencies import AnswerDependencies
from index.invalidation.changes import ChangeSet
from index.model.query import Query
from index.model.scope import PUBLIC, Scope
from index.search.searcher import Searcher
from index.tenants.tenant_store import TenantStore

# equal, other; moved: the index has changed meanwhile; approximate: an index that may miss a chunk,
# or a model that shortens a text otherwise each time, took part, so that two right answers may
# differ; gone: it was no live entry any more.
Verdict: TypeAlias = Literal["equal", "other", "moved", "approximate", "gone"]

_AT_ONCE_MAX = 1  # of a worker's, so that audits never crowd out answers
_ATTEMPTS_MAX = 5  # at an entry while writers go on

log = structlog.get_logger()


class CacheAuditor:
    """share: of the answers from a cache to compute anew; `count` is told audit_VERDICT."""

    def __init__(
        self, searcher: Searcher, answers: Answers, count: CountEvent, *, share: float
    ) -> None:
        self._searcher = searcher
        self._answers = answers
        self._count = count
        self._share = share
        self._at_work: set[asyncio.Task[None]] = set()

    def sample(self, seen: Scope, query: Query, key: str, served: ServedAnswer) -> None:
        """Perhaps look at what has just been served as this question's own answer."""
        if (
            served.tier in ("memory", "redis")
            and random.random() < self._share  # noqa: S311  no secret
            and len(self._at_work) < _AT_ONCE_MAX
        ):
            task = asyncio.create_task(self._look(seen, query, key, served))
            self._at_work.add(task)
            task.add_done_callback(self._at_work.discard)

    async def check(
        self, seen: Scope, query: Query, key: str, body: bytes, good: Revisions
    ) -> Verdict:
        """An answer that is another one is dropped, and told. Raises `DatabaseUnavailable`."""
        found = await search_index(self._searcher, seen, query)
        if found.degraded or not found.dependence.exact:
            return "approximate"
        if Revisions(found.history, found.as_of) != good:
            return "moved"
        if is_equal := matches_body(found, query, body):
            return "equal"
        if is_equal is None:
            return "approximate"
        log.error(
            "audit",
            tenant=seen.tenant,
            key=key,
            revisions=dict(good.by_partition),
            detail="a cached answer is not what a search gives: it is dropped; please report it",
        )
        await self._answers.drop(seen.tenant, key)
        return "other"

    async def drain_background(self) -> None:
        await asyncio.gather(*self._at_work)

    async def _look(self, seen: Scope, query: Query, key: str, served: ServedAnswer) -> None:
        try:
            verdict = await self.check(seen, query, key, served.body, served.valid_until)
        except DatabaseUnavailable:
            return
        self._count(f"audit_{verdict}")


class CacheAuditRun:
    """All live entries of a tenant, one after the other."""

    def __init__(
        self,
        store: RedisStore,
        invalidation: Invalidation[ChangeSet],
        tenants: TenantStore,
        auditor: CacheAuditor,
    ) -> None:
        self._store = store
        self._invalidation = invalidation
        self._tenants = tenants
        self._auditor = auditor

    async def of(self, tenant: str) -> AsyncIterator[tuple[str, Verdict]]:
        """Each key, and what became of it. Raises `CacheUnavailable` and `DatabaseUnavailable`."""
        after, is_last = 0, False
        while not is_last:
            history = (await self._tenants.revisions([PUBLIC]))[PUBLIC].history
            sight = await self._store.lookup(tenant, history, "")
            if sight.state is None:
                return
            page = await self._store.scan(sight, sight.state.nonce, after=after)
            if page is None:
                return
            is_last = page.is_last
            for listed in page.records:
                after = listed.sequence
                yield listed.key, await self._settled(tenant, listed.key)

    async def _settled(self, tenant: str, key: str) -> Verdict:
        verdict: Verdict = "gone"
        for _ in range(_ATTEMPTS_MAX):
            verdict = await self._verdict(tenant, key)
            if verdict != "moved":
                break
        return verdict

    async def _verdict(self, tenant: str, key: str) -> Verdict:
        read = await self._tenants.revisions([tenant, PUBLIC])
        now = Revisions(read[PUBLIC].history, {name: one.revision for name, one in read.items()})
        await self._invalidation.drain(tenant, now)
        sight = await self._store.lookup(tenant, now.history, key)
        if sight.entry is None or sight.state is None:
            return "gone"
        try:
            needed = AnswerDependencies.decode(sight.entry.dependencies)
        except UnreadableRecord:
            return "gone"  # of another version: nobody serves it, and any change drops it
        good = now.of(needed.scope.partitions)
        if not protocol.may_serve(sight.state, sight.entry.version, good):
            return "moved"
        return await self._auditor.check(needed.scope, needed.query, key, sight.entry.body, good)
