"""Sources over HTTP: how and when the tenant's are read; and what the worker does with them."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

from starlette.responses import Response

from gateway import problems, schemas
from gateway.http.request_context import RequestContext, json_response, queued_response
from gateway.services import Services
from gateway.sources import source_reader
from gateway.sources.source_schemas import SourceAnswer, SourceBody, SourcesAnswer
from index.documents.event_versions import Reading
from index.documents.source_store import Source, SourceConfig
from index.errors import IndexStoreError
from index.jobs.job_queue import ClaimedJob
from index.model.document import Document
from ingest.errors import JobRefused
from ingest.sources import schedule
from ingest.sources.source_sync import Report, read_source
from ingest.worker.job_progress import TELL_S, report_progress

_REFUSED_SHOWN_MAX = 20


async def list_sources(context: RequestContext) -> Response:
    caller = await context.authenticate()
    sources = await context.services.sources.all(caller.principal.tenant)
    return json_response(SourcesAnswer(sources=tuple(map(SourceAnswer.of, sources))))


async def put_source(context: RequestContext) -> Response:
    """What is read is read with the rights of the server, so it says what may be read."""
    caller = await context.authenticate()
    source = _source_id(context)
    body = context.parse_body(SourceBody).root
    if (reason := source_reader.unreachable(context.services.settings, body)) is not None:
        raise problems.forbidden(reason)
    now = datetime.now(UTC)
    next_run_at = None
    if body.schedule is not None and not body.paused:
        next_run_at = schedule.next_run(body.schedule, now)
    settings = body.settings.model_dump(mode="json")
    plan = SourceConfig(body.kind, settings, body.schedule, body.paused, next_run_at)
    tenant = caller.principal.tenant
    await context.services.sources.put(tenant, source, plan)
    return json_response(SourceAnswer.of(await _source(context, tenant, source)))


async def reindex_source(context: RequestContext) -> Response:
    caller = await context.authenticate()
    source, tenant = _source_id(context), caller.principal.tenant
    await _source(context, tenant, source)
    job_id = await context.services.sources.enqueue_sync(tenant, source, caller.principal.subject)
    if job_id is None:
        raise problems.conflict("source", "Others bring its documents; send them again.")
    return queued_response(job_id)


async def delete_source(context: RequestContext) -> Response:
    """With all its documents, whoever owns them."""
    caller = await context.authenticate()
    source, tenant = _source_id(context), caller.principal.tenant
    job_id = await context.services.sources.enqueue_removal(
        tenant, source, caller.principal.subject
    )
    if job_id is None:
        raise _no_such_source()
    return queued_response(job_id)


async def _source(context: RequestContext, tenant: str, source: str) -> Source:
    found = await context.services.sources.get(tenant, source)
    if found is None:
        raise _no_such_source()
    return found


def _source_id(context: RequestContext) -> str:
    return schemas.parse_value("source", schemas.SOURCE, context.request.path_params["source"])


def _no_such_source() -> problems.Problem:
    return problems.not_found("source", "There is no such source.")


class SyncSourceJob:
    """Reads a source whole: what it no longer has is removed."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(self, job: ClaimedJob) -> Mapping[str, Any]:
        assert job.source is not None, "such jobs are of a source"
        sources = self._services.sources
        try:
            report = await self._read(job, job.source)
        except (JobRefused, IndexStoreError) as error:
            await sources.record_run(job.tenant, job.source, str(error))
            raise
        except Exception as error:
            await sources.record_run(job.tenant, job.source, type(error).__name__)
            raise
        await sources.record_run(job.tenant, job.source, None, _counts(report))
        refused = [f"{each.path}: {each.reason}" for each in report.refused[:_REFUSED_SHOWN_MAX]]
        return {**_counts(report), "first_refused": refused}

    async def _read(self, job: ClaimedJob, name: str) -> Report:
        source = await self._services.sources.get(job.tenant, name)
        body = None if source is None else SourceBody.of(source)
        if body is None:
            raise JobRefused("The source is not read any more.")
        latest = Report()

        def note(report: Report) -> None:
            nonlocal latest
            latest = report

        async with source_reader.opened(
            self._services.settings, job.tenant, name, body.root
        ) as opened:
            work = read_source(
                opened,
                job.tenant,
                writer=self._services.writer,
                documents=self._services.documents,
                prune=True,
                on_item=note,
                reading=Reading(job.run.sequence, job.run),
            )
            report = await report_progress(
                self._services.jobs,
                job.run,
                work,
                lambda: _counts(latest),
                partial(self._services.sources.is_being_removed, job.tenant, name),
            )
        if report is None:
            raise JobRefused("The source is to be removed.")
        return report


class RemoveSourceJob:
    """Removes a source with its documents, each forgotten as if its owner had.

    Those that were written after the removal was asked for stay, and the source with them.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(self, job: ClaimedJob) -> Mapping[str, Any]:
        assert job.source is not None, "such jobs are of a source"
        services, removed = self._services, 0
        reading = Reading(job.run.sequence, job.run)
        told_s = now_s = asyncio.get_running_loop().time()
        while documents := await services.documents.of_source(
            job.tenant, job.source, until=reading.sequence
        ):
            for document_id in documents:
                with suppress(_SourceMissing):
                    await services.writer.remove(
                        job.tenant, document_id, _must_be_there, reading, forget=True
                    )
                    removed += 1
                now_s = asyncio.get_running_loop().time()
                if now_s - told_s > TELL_S:
                    told_s = now_s
                    await services.jobs.progress(job.run, {"removed": removed})
        await services.sources.remove(job.tenant, job.source)
        return {"removed": removed}


class _SourceMissing(Exception):
    """Somebody else has removed it."""


def _must_be_there(stored: Document | None) -> None:
    if stored is None:
        raise _SourceMissing


def _counts(report: Report) -> dict[str, int]:
    return {
        "documents": report.documents,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "refused": len(report.refused),
        "chunks_added": report.chunks_added,
        "chunks_kept": report.chunks_kept,
        "chunks_removed": report.chunks_removed,
        "embedded": report.embedded,
    }
