"""Curation: an admin sets what a sure answer is, and settles questions that had none."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.extension import Extension, Services, repeat, utc_now
from gateway.extensions.curation import curation_services
from gateway.extensions.curation.curation_services import CurationServices
from gateway.extensions.curation.curation_settings import CurationSettings
from gateway.extensions.curation.routes import ROUTES

_PRUNE_INTERVAL_S = 3_600.0  # of asked questions


@asynccontextmanager
async def _open(services: Services, settings: CurationSettings) -> AsyncIterator[CurationServices]:
    own = curation_services.build(services, items_max=settings.items_max)
    async with (
        own.asked_question_log.pending.background_flush(),
        own.best_score_log.pending.background_flush(),
        own.low_confidence_log.pending.background_flush(),
    ):
        services.search.answer_log.question_watchers.append(own.watch)
        yield own


async def _work(services: CurationServices, stop: asyncio.Event) -> None:
    await repeat(
        stop, _PRUNE_INTERVAL_S, lambda: services.asked_questions.delete_old(utc_now().date())
    )


EXTENSION = Extension(
    summary="admins set what a sure answer is, and settle questions that had none",
    routes=ROUTES,
    open=_open,
    settings=CurationSettings,
    work=_work,
)
