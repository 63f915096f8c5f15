"""Popularity: openings of documents are counted, and searches may rank by how many there were."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel

from cache.protocol import Revisions
from gateway.extension import Extension, Services, repeat, utc_now
from gateway.extensions.popularity import popularity_services
from gateway.extensions.popularity.popularity_services import PopularityServices
from gateway.extensions.popularity.routes import ROUTES

_ROLL_UP_INTERVAL_S = 5.0  # of tenants whose openings are due
_PRUNE_INTERVAL_S = 3_600.0  # of openings


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[PopularityServices]:
    own = popularity_services.build(services)
    async with own.openings.pending.background_flush():
        services.documents.reading_watchers.append(own.openings.add_reading)
        yield own


async def _work(services: PopularityServices, stop: asyncio.Event) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(repeat(stop, _ROLL_UP_INTERVAL_S, lambda: roll_up(services)))
        group.create_task(
            repeat(
                stop, _PRUNE_INTERVAL_S, lambda: services.rollup.delete_openings(utc_now().date())
            )
        )


async def roll_up(services: PopularityServices) -> None:
    """Add the openings of each tenant that is due to what its searches rank by."""
    today = utc_now().date()
    for tenant in await services.rollup.due(today):
        committed = await services.rollup.roll_up(tenant, today)
        if committed is not None:
            current = Revisions(committed.history, committed.revisions)
            await services.invalidation.drain(tenant, current)


EXTENSION = Extension(
    summary="openings of documents are counted, and searches may rank by how many there were",
    routes=ROUTES,
    open=_open,
    work=_work,
)
