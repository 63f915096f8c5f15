"""Tenants move to another embedder, and texts without a vector get one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel

from gateway.extension import Extension, JobKind, Services, WorkerServices
from gateway.extensions.reembed.backfill_job import BACKFILL, BackfillJob


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[WorkerServices]:
    yield services.worker


EXTENSION = Extension(
    summary="commands move tenants to another embedder, and embed what has no vector",
    open=_open,
    jobs={BACKFILL: JobKind(BackfillJob, is_long=True)},
)
