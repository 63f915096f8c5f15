"""Admins and the operator see how searches were answered, what they cost, and who read what."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel

from gateway.extension import Extension, Services
from gateway.extensions.activity.activity_services import ActivityServices
from gateway.extensions.activity.routes import ROUTES
from gateway.extensions.activity.search_statistics import SearchStatistics
from gateway.extensions.activity.search_statistics_store import SearchStatisticsStore


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[ActivityServices]:
    store, search = SearchStatisticsStore(services.stores.database), services.search
    statistics = SearchStatistics(store, time.time, collect=search.answer_log.tell)
    async with statistics.pending.background_flush():
        search.answer_log.question_watchers.append(statistics.watch)
        search.answer_log.audit_watchers.append(statistics.audited)
        yield ActivityServices(services, services.stores, statistics, store)


EXTENSION = Extension(
    summary="admins and the operator see how searches were answered, costs, and who read what",
    routes=ROUTES,
    open=_open,
)
