"""Answers, shards and indexes are compared with the stored texts; what differs is dropped."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from pydantic import BaseModel

from cache.lookup import ServedAnswer
from gateway.extension import (
    Extension,
    JobKind,
    Metrics,
    SearchRequest,
    Services,
    WorkerServices,
    repeat,
)
from gateway.extensions._audits.audit_schedule import AUDIT
from gateway.extensions.audits import shard_comparison
from gateway.extensions.audits.cache_auditor import CacheAuditor
from gateway.extensions.audits.index_audit_job import AuditIndexJob, enqueue_due_audits
from gateway.extensions.audits.shard_auditor import ShardAuditor

SHARD_AUDIT_S = 600.0  # between two comparisons of a tenant; a starting value, not measured
_DUE_INTERVAL_S = 60.0  # of index audits
# A series that begins with its first event shows no increase, so no alert would see that event.
_ALERTED = ("audit_other", "audit_leaked", "shard_audit_other")


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[WorkerServices]:
    search, count = services.search, services.search.metrics.cache_event
    _count_from_zero(services.search.metrics)
    auditor, share = CacheAuditor.of(search), services.settings.cache_audit_per_mille / 1000

    def audit_sample(request: SearchRequest, served: ServedAnswer) -> None:
        if random.random() < share:  # noqa: S311  not a secret
            auditor.audit(request.scope, request.query, served)

    if share:
        search.watchers.append(audit_sample)
    shard_auditor = ShardAuditor(
        partial(shard_comparison.compare, search.shards.database),
        search.shards,
        search.answers,
        search.stores.tenants.invalidate_partition,
        count,
        every_s=SHARD_AUDIT_S,
    )
    async with shard_auditor.running():
        yield services.worker
    await auditor.drain_background()


def _count_from_zero(metrics: Metrics) -> None:
    for event in _ALERTED:
        metrics.cache_event(event, 0)


async def _work(services: WorkerServices, stop: asyncio.Event) -> None:
    await repeat(stop, _DUE_INTERVAL_S, lambda: enqueue_due_audits(services))


EXTENSION = Extension(
    summary="answers, shards and indexes are compared with what is stored; commands do so too",
    open=_open,
    work=_work,
    metrics=_count_from_zero,
    jobs={AUDIT: JobKind(AuditIndexJob, is_long=True)},
)
