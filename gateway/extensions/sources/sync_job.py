"""The job that reads a source."""

from collections.abc import Mapping
from typing import Any

from common.errors import Saturated
from gateway.extensions._jobs.job_progress import report_progress
from gateway.extensions._sources.source_store import StoredSource
from gateway.extensions._sources.sync.pruning import PrunePolicy
from gateway.extensions._sources.sync.report import Report
from gateway.extensions._sources.sync.source_sync import READING_S_MAX, SourceSync
from gateway.extensions.sources.source_services import SourceServices
from index.documents.write_causes import Reading
from index.errors import IndexStoreError, JobLost
from index.jobs.job_queue import ClaimedJob
from ingest.errors import JobRefused
from ingest.worker import job_slot

_REFUSED_LISTED_MAX = 20


class SyncSourceJob:
    """Reads a whole source and removes the documents that it no longer contains.

    More of them than a share of the source, or all, stay until an admin has confirmed the removal.
    """

    def __init__(self, services: SourceServices) -> None:
        self._services = services

    async def __call__(self, job: ClaimedJob) -> Mapping[str, Any]:
        assert job.source is not None, "a job of this kind has a source"
        sources = self._services.sources
        stored = await sources.get(job.tenant, job.source)
        if following := self._services.kinds.following(stored.kind if stored else None):
            await following.request_copy(job.tenant, job.source)
            return {"copy_requested": True}
        confirmed = 0 if stored is None else stored.confirmed_removals or 0
        try:
            report = await self._read(job, job.source, stored, confirmed)
        except JobLost:  # what becomes of the source is told by another run
            raise
        except (JobRefused, IndexStoreError, Saturated) as error:
            await sources.record_failure(job.tenant, job.source, str(error))
            raise
        except Exception as error:
            await sources.record_failure(job.tenant, job.source, type(error).__name__)
            raise
        await sources.record_run(
            job.tenant,
            job.source,
            report.counts,
            pending_removals=len(report.pending.document_ids) if report.pending else None,
            confirmed_removals=confirmed or None,
        )
        refused = [f"{item.path}: {item.reason}" for item in report.refused[:_REFUSED_LISTED_MAX]]
        warnings = report.warnings[:_REFUSED_LISTED_MAX]
        return {**report.counts, "first_rejected": refused, "first_warnings": warnings}

    async def _read(
        self, job: ClaimedJob, name: str, source: StoredSource | None, confirmed: int
    ) -> Report:
        kinds = self._services.kinds
        body = None if source is None else kinds.configured(source)
        if source is None or body is None:
            raise JobRefused("The source was removed or is no longer configured to be read.")
        if not kinds.needs_slot(body.kind):
            job_slot.leave()
        latest = Report()

        def on_item(report: Report) -> None:
            nonlocal latest
            latest = report

        reader = await kinds.open(job.tenant, name, body)
        sync = SourceSync(
            reader,
            job.tenant,
            self._services.writer,
            self._services.stores.documents,
            PrunePolicy(confirmed, allows_empty=confirmed > 0),
            source.may_publish,
        )
        reading = Reading(job.run.sequence, job.run)
        report = await report_progress(
            self._services.stores.jobs,
            job.run,
            sync.read(on_item, reading=reading, time_s_max=READING_S_MAX),
            lambda: latest.counts,
        )
        await kinds.record(job.tenant, name, body, reader, report)
        return report
