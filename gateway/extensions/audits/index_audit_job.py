"""The audit of the index, as a scheduled job or a command, with those of extensions."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import structlog

from gateway.extension import NEVER, IndexProblem, WorkerServices
from gateway.extensions._audits.audit_schedule import AuditSchedule
from gateway.extensions._jobs.job_progress import report_progress
from gateway.extensions.audits.consistency_counts import ConsistencyReader
from gateway.extensions.audits.index_audit import IndexAudit
from index.jobs.job_queue import ClaimedJob, JobLease
from ingest.worker import schedule

_LOGGED_MAX = 20

log = structlog.get_logger()


async def index_problems(
    services: WorkerServices,
    tenant: str,
    on_documents: Callable[[int], None],
    *,
    repair: bool,
    run: JobLease | None = None,
) -> AsyncIterator[IndexProblem]:
    """Yield the tenant's index problems, after repair if requested; store the unrepaired counts.

    on_documents: called with the number of further documents checked. run: the job's lease.
    """
    unrepaired: Counter[str] = Counter()
    spaces = [embedder.space for embedder in services.embedders]
    audit = IndexAudit(ConsistencyReader(services.stores.database), services.writer, spaces, repair)
    for audited in (
        audit.problems(tenant, on_documents, run),
        *(further(tenant, repair) for further in services.audits),
    ):
        async for problem in audited:
            unrepaired[problem.kind] += not problem.is_repaired
            yield problem
    await AuditSchedule(services.stores.database).record_run(tenant, +unrepaired)


async def enqueue_due_audits(services: WorkerServices) -> None:
    """Queue an index audit for each tenant whose audit is due."""
    if (text := services.settings.index_audit_schedule) == NEVER:
        return
    audits = AuditSchedule(services.stores.database)
    while tenant := await audits.enqueue_due(schedule.next_run(text, datetime.now(UTC))):
        log.info("audit", state="due", tenant=tenant)


class AuditIndexJob:
    """Repairs nothing: the operator does, by `nearhit audit index --repair`."""

    def __init__(self, services: WorkerServices) -> None:
        self._services = services

    async def __call__(self, job: ClaimedJob) -> Mapping[str, Any]:
        services = self._services
        kinds: Counter[str] = Counter()
        documents = 0

        def on_documents(more: int) -> None:
            nonlocal documents
            documents += more

        async def audit() -> None:
            audited = index_problems(services, job.tenant, on_documents, repair=False, run=job.run)
            async for problem in audited:
                kinds[problem.kind] += 1
                if kinds.total() <= _LOGGED_MAX:
                    log.error("index_problem", tenant=job.tenant, **asdict(problem))

        def counts() -> dict[str, Any]:
            return {"documents": documents, "problems": dict(kinds)}

        await report_progress(services.stores.jobs, job.run, audit(), counts)
        return counts()
