"""Queued work over HTTP: an admin sees and mends the tenant's, everybody else sees their own.

What is still to be forgotten can be seen by whoever may write: many wait for one job.
"""

import re
from typing import cast, get_args

from starlette.responses import Response

from gateway import problems, schemas
from gateway.admin.job_schemas import JobAnswer, JobsAnswer
from gateway.auth.authenticator import AuthenticatedRequest
from gateway.documents import deletion
from gateway.http.request_context import RequestContext, json_response
from gateway.problems import Problem
from index.jobs.job_queue import Job, State
from index.model.scope import PUBLIC

_PAGE_MAX = 100
_NUMBER = "[0-9]{1,18}"


async def list_jobs(exchange: RequestContext) -> Response:
    """`cursor` is what the page before says."""
    admitted = await exchange.authenticate()
    query = exchange.request.query_params
    state = query.get("state")
    if state is not None and state not in get_args(State):
        raise problems.invalid_field("state", f"must be one of {', '.join(get_args(State))}")
    limit = query.get("limit", str(_PAGE_MAX))
    if not re.fullmatch(_NUMBER, limit) or not 1 <= int(limit) <= _PAGE_MAX:
        raise problems.invalid_field("limit", f"must be a number from 1 to {_PAGE_MAX}")
    cursor = query.get("cursor")
    if cursor is not None and not re.fullmatch(_NUMBER, cursor):
        raise problems.invalid_field("cursor", "must be what the page before says")
    page = await exchange.services.jobs.page(
        admitted.principal.tenant,
        subject=None if _is_admin(admitted) else admitted.principal.subject,
        state=cast("State | None", state),
        kind=schemas.parse_value("kind", schemas.LINE, query.get("kind", "")) or None,
        before=None if cursor is None else int(cursor),
        limit=int(limit) + 1,
    )
    shown = page[: int(limit)]
    return json_response(
        JobsAnswer(
            jobs=tuple(map(JobAnswer.of, shown)),
            cursor=str(shown[-1].job_no) if len(page) > len(shown) else None,
        )
    )


async def get_job(exchange: RequestContext) -> Response:
    """The operator sees what is no tenant's: the deletion of one."""
    if exchange.is_operator:
        job = await exchange.services.jobs.get(PUBLIC, _job_id(exchange))
        if job is None:
            raise _no_such_job()
        return json_response(JobAnswer.of(job))
    return json_response(JobAnswer.of(await _job(exchange, await exchange.authenticate())))


async def replay_job(exchange: RequestContext) -> Response:
    """It waits again, with all its attempts, and runs with the rights of whoever asked for it."""
    admitted = await exchange.authenticate()
    job = await _job(exchange, admitted)
    if not await exchange.services.jobs.replay(admitted.principal.tenant, job.job_id):
        raise problems.conflict("job_id", "Only a job that has failed can be replayed.")
    return json_response(JobAnswer.of(await _job(exchange, admitted)))


async def drop_job(exchange: RequestContext) -> Response:
    admitted = await exchange.authenticate()
    job = await _job(exchange, admitted)
    if not await exchange.services.jobs.delete(admitted.principal.tenant, job.job_id):
        raise problems.conflict("job_id", "The job is at work.")
    return Response(status_code=204)


async def _job(exchange: RequestContext, admitted: AuthenticatedRequest) -> Job:
    job = await exchange.services.jobs.get(admitted.principal.tenant, _job_id(exchange))
    if job is None or not (
        _is_admin(admitted)
        or job.subject == admitted.principal.subject
        or job.kind in deletion.EVERYBODYS
    ):
        raise _no_such_job()
    return job


def _job_id(exchange: RequestContext) -> str:
    return schemas.parse_value("job_id", schemas.NAME, exchange.request.path_params["job_id"])


def _is_admin(admitted: AuthenticatedRequest) -> bool:
    return "admin" in admitted.principal.roles


def _no_such_job() -> Problem:
    return problems.not_found("job_id", "There is no such job, or you may not see it.")
