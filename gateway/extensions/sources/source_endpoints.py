"""Sources over HTTP: their configuration and schedule."""

from datetime import UTC, datetime

from starlette.responses import Response

from gateway.extension import (
    RequestContext,
    json_response,
    may_publish,
    problems,
    queued_response,
    require_publisher,
    schemas,
)
from gateway.extensions._sources.source_schemas import SourceConfiguration
from gateway.extensions._sources.source_store import SourceConfig, StoredSource
from gateway.extensions.sources.source_answers import SourceAnswer, SourcesAnswer
from gateway.extensions.sources.source_services import SourceServices
from ingest.worker import schedule

_PAGE_MAX = 100


async def list_sources(context: RequestContext[SourceServices]) -> Response:
    """List sources by name; `cursor` is the last name of the previous page."""
    tenant = (await context.authenticate()).principal.tenant
    cursor = context.request.query_params.get("cursor", "")
    after = schemas.parse_value("cursor", schemas.LINE, cursor)
    rows = await context.services.sources.page(tenant, after=after, limit=_PAGE_MAX + 1)
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
    tenant, sources = caller.principal.tenant, context.services.sources
    settings = kinds.settings_to_store(tenant, source, body, await sources.get(tenant, source))
    config = SourceConfig(
        body.kind,
        settings,
        body.schedule,
        body.paused,
        next_run_at,
        may_publish=may_publish(caller.principal),
    )
    await sources.put(tenant, source, config)
    return json_response(SourceAnswer.of(await _source(context, tenant, source)))


async def reindex_source(context: RequestContext[SourceServices]) -> Response:
    caller = await context.authenticate()
    source, tenant = _source_id(context), caller.principal.tenant
    await _source(context, tenant, source)
    job_id = await context.services.sources.enqueue_sync(tenant, source, caller.principal.subject)
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
    job_id = await context.services.sources.confirm_removals(
        tenant, source, caller.principal.subject
    )
    if job_id is None:
        raise problems.conflict("source", "No removal of this source waits for a confirmation.")
    return queued_response(job_id)


async def delete_source(context: RequestContext[SourceServices]) -> Response:
    """Queue the removal of the source and all its documents, regardless of their owners."""
    caller = await context.authenticate()
    source, tenant = _source_id(context), caller.principal.tenant
    job_id = await context.services.sources.enqueue_removal(
        tenant, source, caller.principal.subject
    )
    if job_id is None:
        raise _no_such_source()
    return queued_response(job_id)


async def _source(
    context: RequestContext[SourceServices], tenant: str, source: str
) -> StoredSource:
    stored = await context.services.sources.get(tenant, source)
    if stored is None:
        raise _no_such_source()
    return stored


def _source_id(context: RequestContext[SourceServices]) -> str:
    return schemas.parse_value("source", schemas.SOURCE, context.request.path_params["source"])


def _no_such_source() -> problems.Problem:
    return problems.not_found("source", "The source does not exist.")
