"""Tenants move to another embedder, texts get missing vectors, and words are analysed anew."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel

from gateway.extension import Extension, JobKind, Services, WorkerServices, repeat
from gateway.extensions.reembed.analyser_migration import REANALYSE
from gateway.extensions.reembed.backfill_job import BACKFILL, BackfillJob
from gateway.extensions.reembed.reanalysis_job import ReanalysisJob, enqueue_reanalyses

_DUE_INTERVAL_S = 60.0  # of the analysis of words


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[WorkerServices]:
    yield services.worker


async def _work(services: WorkerServices, stop: asyncio.Event) -> None:
    await repeat(stop, _DUE_INTERVAL_S, lambda: enqueue_reanalyses(services))


EXTENSION = Extension(
    summary="tenants move to another embedder, and texts get missing vectors and words",
    open=_open,
    work=_work,
    jobs={
        BACKFILL: JobKind(BackfillJob, is_long=True),
        REANALYSE: JobKind(ReanalysisJob, is_long=True),
    },
)
