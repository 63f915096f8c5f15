"""Jobs over HTTP: an admin sees and manages the tenant's jobs, other callers see their own.

Whose a job is, `maker_for_admin` says.

Every writer sees the jobs that finish deletions, because many deletions wait for one job.
"""

import re
from typing import cast, get_args

from starlette.responses import Response

from gateway.extension import (
    TENANT_VISIBLE_KINDS,
    AuthenticatedRequest,
    RequestContext,
    Services,
    json_response,
    maker_for_admin,
    problems,
    schemas,
)
from gateway.extensions._audits.audit_schedule import AuditSchedule
from gateway.extensions._tenants.shown_usage import IngestStatus, ShownUsage
from gateway.extensions.jobs.job_schemas import (
    JobAnswer,
    JobsAnswer,
    SourceStatusBody,
    StatusAnswer,
)
from gateway.extensions.jobs.job_store import Job, JobStore, State
from index.model.scope import PUBLIC

_PAGE_MAX = 100
_NUMBER = "[0-9]{1,18}"


async def list_jobs(context: RequestContext[Services]) -> Response:
    """List jobs, newest first; `cursor` is the `cursor` of the previous page."""
    caller = await context.authenticate()
    query = context.request.query_params
    state = query.get("state")
    if state is not None and state not in get_args(State):
        raise problems.invalid_field("state", f"must be one of {', '.join(get_args(State))}")
    limit = query.get("limit", str(_PAGE_MAX))
    if not re.fullmatch(_NUMBER, limit) or not 1 <= int(limit) <= _PAGE_MAX:
        raise problems.invalid_field("limit", f"must be a number from 1 to {_PAGE_MAX}")
    cursor = query.get("cursor")
    if cursor is not None and not re.fullmatch(_NUMBER, cursor):
        raise problems.invalid_field("cursor", "must be the `cursor` of the previous page")
    rows = await _jobs(context).page(
        caller.principal.tenant,
        maker=maker_for_admin(caller.principal),
        state=cast("State | None", state),
        kind=schemas.parse_value("kind", schemas.LINE, query.get("kind", "")) or None,
        before=None if cursor is None else int(cursor),
        limit=int(limit) + 1,
    )
    page = rows[: int(limit)]
    return json_response(
        JobsAnswer(
            jobs=tuple(map(JobAnswer.of, page)),
            cursor=str(page[-1].job_no) if len(rows) > len(page) else None,
        )
    )


async def get_job(context: RequestContext[Services]) -> Response:
    """The operator sees jobs that belong to no tenant: deletions of tenants."""
    if context.is_operator:
        job = await _jobs(context).get(PUBLIC, _job_id(context))
        if job is None:
            raise _no_such_job()
        return json_response(JobAnswer.of(job))
    return json_response(JobAnswer.of(await _job(context, await context.authenticate())))


async def replay_job(context: RequestContext[Services]) -> Response:
    """Queue a failed job again with all its attempts; it keeps the rights of its creator."""
    caller = await context.authenticate()
    job = await _job(context, caller)
    if not await _jobs(context).replay(caller.principal.tenant, job.job_id):
        raise problems.conflict(
            "job_id", "The job has not failed. Only a failed job can be replayed."
        )
    return json_response(JobAnswer.of(await _job(context, caller)))


async def drop_job(context: RequestContext[Services]) -> Response:
    caller = await context.authenticate()
    job = await _job(context, caller)
    if not await _jobs(context).delete(caller.principal.tenant, job.job_id):
        raise problems.conflict("job_id", "The job is running. Wait until it has ended.")
    return Response(status_code=204)


async def get_status(context: RequestContext[Services]) -> Response:
    """What waits, runs and has failed, by source, and how far the index is behind."""
    caller = await context.authenticate()
    await context.services.usage_meter.flush()
    sources = await ShownUsage(context.services.stores.database).status(caller.principal.tenant)
    audits = AuditSchedule(context.services.stores.database)
    audit = await audits.last(caller.principal.tenant)
    waits_s = [source.oldest_waiting_s for source in sources if source.oldest_waiting_s is not None]
    return json_response(
        StatusAnswer(
            waiting=sum(source.waiting for source in sources),
            running=sum(source.running for source in sources),
            failed=sum(source.failed for source in sources),
            oldest_waiting_s=_rounded(max(waits_s, default=None)),
            lag_s=round(max((source.lag_s for source in sources), default=0.0), 3),
            texts_embedded=sum(source.embedded for source in sources),
            embeddings_reused=sum(source.reused for source in sources),
            chunks_without_vector=sum(source.without_vector for source in sources),
            audited_at=None if audit is None else audit.last_run_at,
            problems={} if audit is None else dict(audit.problems),
            sources=tuple(_source_status(source) for source in sources if source.source),
        )
    )


async def _job(context: RequestContext[Services], caller: AuthenticatedRequest) -> Job:
    job = await _jobs(context).get(
        caller.principal.tenant,
        _job_id(context),
        maker_for_admin(caller.principal),
        TENANT_VISIBLE_KINDS,
    )
    if job is None:
        raise _no_such_job()
    return job


def _jobs(context: RequestContext[Services]) -> JobStore:
    return JobStore(context.services.stores.database)


def _job_id(context: RequestContext[Services]) -> str:
    return schemas.parse_value("job_id", schemas.ID, context.request.path_params["job_id"])


def _no_such_job() -> problems.Problem:
    return problems.not_found("job_id", "The job does not exist, or you may not see it.")


def _source_status(status: IngestStatus) -> SourceStatusBody:
    return SourceStatusBody(
        source=status.source,
        waiting=status.waiting,
        running=status.running,
        failed=status.failed,
        oldest_waiting_s=_rounded(status.oldest_waiting_s),
        lag_s=round(status.lag_s, 3),
        texts_embedded=status.embedded,
        embeddings_reused=status.reused,
        chunks_without_vector=status.without_vector,
    )


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
