"""The audit of all live entries of tenants, one after the other, for `nearhit audit`."""

from collections.abc import AsyncIterator, Sequence

from cache import protocol
from cache.protocol import Revisions
from gateway.extension import Services
from gateway.extensions.audits.cache_auditor import CacheAuditor, Verdict
from index.errors import UnreadableRecord
from index.invalidation.answer_dependencies import AnswerDependencies
from index.model.scope import PUBLIC

_ATTEMPTS_MAX = 5  # per entry while writers change the index


async def verdicts(
    services: Services, tenants: Sequence[str]
) -> AsyncIterator[tuple[str, str, Verdict]]:
    """The tenant, key and verdict of each live entry. Raises `CacheUnavailable`."""
    for tenant in tenants:
        async for key in _keys(services, tenant):
            yield tenant, key, await _verdict(services, tenant, key)


async def _keys(services: Services, tenant: str) -> AsyncIterator[str]:
    after, is_last, store = 0, False, services.caches.store
    while not is_last:
        history = (await services.stores.tenants.revisions([PUBLIC]))[PUBLIC].history
        snapshot = await store.lookup(tenant, history, "")
        if snapshot.state is None:
            return
        page = await store.scan(snapshot, snapshot.state.nonce, after=after)
        if page is None:
            return
        is_last = page.is_last
        for record in page.records:
            after = record.sequence
            yield record.key


async def _verdict(services: Services, tenant: str, key: str) -> Verdict:
    """The verdict on an entry; `moved` only if the index changed during every attempt."""
    verdict: Verdict = "gone"
    for _ in range(_ATTEMPTS_MAX):
        verdict = await _try_audit(services, tenant, key)
        if verdict != "moved":
            break
    return verdict


async def _try_audit(services: Services, tenant: str, key: str) -> Verdict:
    counters = await services.stores.tenants.revisions([tenant, PUBLIC])
    now = Revisions(
        counters[PUBLIC].history,
        {partition: counter.revision for partition, counter in counters.items()},
    )
    await services.caches.invalidation.drain(tenant, now)
    snapshot = await services.caches.store.lookup(tenant, now.history, key)
    state, entry = snapshot.state, snapshot.entry
    if state is None or entry is None:
        return "gone"
    try:
        dependencies = AnswerDependencies.decode(entry.dependencies)
    except UnreadableRecord:
        return "gone"  # written by another version: never served, and dropped by any change
    if dependencies.is_of_chunks:
        return "approximate"  # a model would write another text
    scope, query = dependencies.scope, dependencies.query
    revisions = now.of(scope.partitions)
    if not protocol.may_serve(state, entry.version, revisions):
        return "moved"
    auditor = CacheAuditor.of(services.search)
    return await auditor.check(scope, query, key, entry.body, revisions)
