"""Callers follow their jobs, admins those of the tenant; commands reach those of all tenants."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import get_args

from pydantic import BaseModel

from gateway.extension import ApiRoute, Extension, Services, parameters
from gateway.extensions.jobs.job_endpoints import (
    drop_job,
    get_job,
    get_status,
    list_jobs,
    replay_job,
)
from gateway.extensions.jobs.job_schemas import JobAnswer, JobsAnswer, StatusAnswer
from gateway.extensions.jobs.job_store import State

_ROUTES: tuple[ApiRoute[Services], ...] = (
    ApiRoute(
        "GET",
        "/v1/jobs",
        list_jobs,
        needs="writer",
        summary="List jobs, newest first: the caller's own, for an admin the tenant's",
        answer=JobsAnswer,
        parameters={
            "cursor": parameters.NUMBER_CURSOR,
            "kind": parameters.LINE,
            "limit": parameters.limit(),
            "state": parameters.one_of(*get_args(State)),
        },
    ),
    ApiRoute(
        "GET",
        "/v1/jobs/{job_id}",
        get_job,
        needs="writer",
        summary="Get a job with its progress and result",
        answer=JobAnswer,
    ),
    ApiRoute(
        "POST",
        "/v1/jobs/{job_id}/replay",
        replay_job,
        needs="admin",
        summary="Queue a failed job again",
        answer=JobAnswer,
    ),
    ApiRoute(
        "DELETE",
        "/v1/jobs/{job_id}",
        drop_job,
        needs="admin",
        summary="Delete a job that is not running",
        status=204,
    ),
    ApiRoute(
        "GET",
        "/v1/ingest/status",
        get_status,
        needs="admin",
        summary="Get waiting, running and failed jobs and the index lag, by source",
        answer=StatusAnswer,
    ),
)


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[Services]:
    yield services


EXTENSION = Extension(
    summary="calls and commands list, replay and delete jobs", routes=_ROUTES, open=_open
)
