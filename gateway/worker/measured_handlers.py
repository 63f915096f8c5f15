"""The handlers of jobs, each attempt timed, counted by its outcome, and traced."""

import time
from collections.abc import Mapping
from typing import Any

from gateway.monitoring.tracing import Tracing
from gateway.monitoring.work_metrics import JobOutcome, WorkMetrics
from index.errors import SourceReserved, TenantMissing
from index.jobs.job_queue import ClaimedJob
from ingest.errors import DocumentTooLong, JobRefused, JobUnfinished
from ingest.worker.job_worker import Handler

_REFUSALS = (JobRefused, DocumentTooLong, SourceReserved, TenantMissing)  # as `job_worker` has them


def measured(
    handlers: Mapping[str, Handler], metrics: WorkMetrics, tracing: Tracing | None
) -> dict[str, Handler]:
    return {kind: _MeasuredHandler(handler, metrics, tracing) for kind, handler in handlers.items()}


class _MeasuredHandler:
    def __init__(self, handler: Handler, metrics: WorkMetrics, tracing: Tracing | None) -> None:
        self._handler = handler
        self._metrics = metrics
        self._tracing = tracing

    async def __call__(self, job: ClaimedJob) -> Mapping[str, Any]:
        if self._tracing is None:
            return await self._call(job)
        with self._tracing.job(job):
            return await self._call(job)

    async def _call(self, job: ClaimedJob) -> Mapping[str, Any]:
        started_s = time.perf_counter()
        outcome: JobOutcome = "error"
        try:
            result = await self._handler(job)
            outcome = "done"
        except _REFUSALS:
            outcome = "refused"
            raise
        except JobUnfinished:
            outcome = "unfinished"
            raise
        finally:
            self._metrics.job(job.kind, outcome, time.perf_counter() - started_s)
        return result
