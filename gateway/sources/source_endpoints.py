"""Sources over HTTP: their configuration and schedule; and the worker's jobs that read them."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

from starlette.responses import Response

from common.errors import Saturated
from gateway import problems, schemas
from gateway.documents.document_update import may_publish, require_publisher
from gateway.http.request_context import RequestContext
from gateway.http.responses import json_response, queued_response
from gateway.sources.source_schemas import SourceAnswer, SourceConfiguration, SourcesAnswer
from gateway.sources.source_services import SourceServices
from index.documents.event_versions import Reading
from index.errors import IndexStoreError
from index.jobs.job_queue import ClaimedJob
from index.model.document import Document
from index.sources.source_store import SourceConfig, StoredSource
from ingest.errors import JobRefused
from ingest.sources import schedule
from ingest.sources.pruning import PrunePolicy
from ingest.sources.report import Report
from ingest.sources.source_sync import READING_S_MAX, SourceSync
from ingest.worker.job_progress import REPORT_S, report_progress

_PAGE_MAX = 100
_REFUSED_LISTED_MAX = 20


async def list_sources(context: RequestContext[SourceServices]) -> Response:
    """List sources by name; `cursor` is the last name of the previous page."""
    tenant = (await context.authenticate()).principal.tenant
    cursor = context.request.query_params.get("cursor", "")
    after = schemas.parse_value("cursor", schemas.LINE, cursor)
    rows = await context.services.stores.sources.page(tenant, after=after, limit=_PAGE_MAX + 1)
    page = rows[:_PAGE_MAX]
    return json_response(
        SourcesAnswer(
            sources=tuple(map(SourceAnswer.of, page)),
            cursor=page[-1].source if len(rows) > len(page) else None,
        )
    )


async def put_source(context: RequestContext[SourceServices]) -> Response:
    """Configure a source. The server reads it with its own rights, so its settings limit which."""
    caller = await context.authenticate()
    source = _source_id(context)
    kinds = context.services.kinds
    body: SourceConfiguration = (await context.parse_body(kinds.body)).root
    if (reason := kinds.denial_reason(body)) is not None:
        raise problems.forbidden(reason)
    require_publisher(caller.principal, body.settings.readers)
    now = datetime.now(UTC)
    next_run_at = None
    if body.schedule is not None and not body.paused:
        next_run_at = schedule.next_run(body.schedule, now)
    settings = body.settings.model_dump(mode="json")
    config = SourceConfig(
        body.kind,
        settings,
        body.schedule,
        body.paused,
        next_run_at,
        may_publish=may_publish(caller.principal),
    )
    tenant = caller.principal.tenant
    await context.services.stores.sources.put(tenant, source, config)
    return json_response(SourceAnswer.of(await _source(context, tenant, source)))


async def reindex_source(context: RequestContext[SourceServices]) -> Response:
    caller = await context.authenticate()
    source, tenant = _source_id(context), caller.principal.tenant
    await _source(context, tenant, source)
    job_id = await context.services.stores.sources.enqueue_sync(
        tenant, source, caller.principal.subject
    )
    if job_id is None:
        raise problems.conflict(
            "source", "Nearhit does not read this source. Send its documents again."
        )
    return queued_response(job_id)


async def confirm_removals(context: RequestContext[SourceServices]) -> Response:
    """Read the source again, and remove as many documents as the last reading kept back."""
    caller = await context.authenticate()
    source, tenant = _source_id(context), caller.principal.tenant
    await _source(context, tenant, source)
    job_id = await context.services.stores.sources.confirm_removals(
        tenant, source, caller.principal.subject
    )
    if job_id is None:
        raise problems.conflict("source", "No removal of this source waits for a confirmation.")
    return queued_response(job_id)


async def delete_source(context: RequestContext[SourceServices]) -> Response:
    """Queue the removal of the source and all its documents, regardless of their owners."""
    caller = await context.authenticate()
    source, tenant = _source_id(context), caller.principal.tenant
    job_id = await context.services.stores.sources.enqueue_removal(
        tenant, source, caller.principal.subject
    )
    if job_id is None:
        raise _no_such_source()
    return queued_response(job_id)


async def _source(
    context: RequestContext[SourceServices], tenant: str, source: str
) -> StoredSource:
    stored = await context.services.stores.sources.get(tenant, source)
    if stored is None:
        raise _no_such_source()
    return stored


def _source_id(context: RequestContext[SourceServices]) -> str:
    return schemas.parse_value("source", schemas.SOURCE, context.request.path_params["source"])


def _no_such_source() -> problems.Problem:
    return problems.not_found("source", "The source does not exist.")


class SyncSourceJob:
    """Reads a whole source and removes the documents that it no longer contains.

    More of them than a share of the source, or all, stay until an admin has confirmed the removal.
    """

    def __init__(self, services: SourceServices) -> None:
        self._services = services

    async def __call__(self, job: ClaimedJob) -> Mapping[str, Any]:
        assert job.source is not None, "a job of this kind has a source"
        sources = self._services.stores.sources
        stored = await sources.get(job.tenant, job.source)
        confirmed = 0 if stored is None else stored.confirmed_removals or 0
        try:
            report = await self._read(job, job.source, stored, confirmed)
        except (JobRefused, IndexStoreError, Saturated) as error:
            await sources.record_failure(job.tenant, job.source, str(error))
            raise
        except Exception as error:
            await sources.record_failure(job.tenant, job.source, type(error).__name__)
            raise
        await sources.record_run(
            job.tenant,
            job.source,
            _counts(report),
            pending_removals=len(report.pending.document_ids) if report.pending else None,
            confirmed_removals=confirmed or None,
        )
        refused = [f"{item.path}: {item.reason}" for item in report.refused[:_REFUSED_LISTED_MAX]]
        warnings = report.warnings[:_REFUSED_LISTED_MAX]
        return {**_counts(report), "first_rejected": refused, "first_warnings": warnings}

    async def _read(
        self, job: ClaimedJob, name: str, source: StoredSource | None, confirmed: int
    ) -> Report:
        kinds = self._services.kinds
        body = None if source is None else kinds.configured(source)
        if source is None or body is None:
            raise JobRefused("The source was removed or is no longer configured to be read.")
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
            lambda: _counts(latest),
            partial(self._services.stores.sources.is_being_removed, job.tenant, name),
        )
        if report is None:
            raise JobRefused("The source is being removed.")
        await kinds.record(job.tenant, name, body, reader, report)
        return report


class RemoveSourceJob:
    """Removes a source and its documents, each with the same deletion as by its owner.

    Documents written after the removal was requested stay, and so does the source.
    """

    def __init__(self, services: SourceServices) -> None:
        self._services = services

    async def __call__(self, job: ClaimedJob) -> Mapping[str, Any]:
        assert job.source is not None, "a job of this kind has a source"
        services, removed = self._services, 0
        reading = Reading(job.run.sequence, job.run)
        reported_s = now_s = asyncio.get_running_loop().time()
        while documents := await services.stores.documents.of_source(
            job.tenant, job.source, until=reading.sequence
        ):
            for document_id in documents:
                with suppress(_AlreadyRemoved):
                    await services.writer.remove(
                        job.tenant, document_id, _require_stored, reading, forget=True
                    )
                    removed += 1
                now_s = asyncio.get_running_loop().time()
                if now_s - reported_s > REPORT_S:
                    reported_s = now_s
                    await services.stores.jobs.progress(job.run, {"removed": removed})
        await services.stores.sources.remove(job.tenant, job.source)
        return {"removed": removed}


class _AlreadyRemoved(Exception):
    """Another process has removed the document."""


def _require_stored(stored: Document | None) -> None:
    if stored is None:
        raise _AlreadyRemoved


def _counts(report: Report) -> dict[str, int]:
    return {
        "documents": report.documents,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "rejected": report.refused_items,
        "warnings": len(report.warnings),
        "skipped": sum(skipped.number for skipped in report.skipped),
        "chunks_added": report.chunks_added,
        "chunks_unchanged": report.chunks_kept,
        "chunks_removed": report.chunks_removed,
        "embedded": report.embedded,
    }
