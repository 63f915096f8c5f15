"""A tenant keeps past versions for some days, and admins get answers of earlier revisions again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel

from gateway.extension import ApiRoute, Extension, SearchAnswer, Services, repeat
from gateway.extensions.replay.past_store import PastStore
from gateway.extensions.replay.replay_endpoints import difference, get_past, put_past, replay
from gateway.extensions.replay.replay_schemas import (
    DifferenceAnswer,
    PastAnswer,
    PastBody,
    ReplayBody,
)
from gateway.extensions.replay.replay_services import ReplayServices

_PRUNE_INTERVAL_S = 3_600.0

_ROUTES: tuple[ApiRoute[ReplayServices], ...] = (
    ApiRoute(
        "GET",
        "/v1/replay",
        get_past,
        needs="admin",
        summary="How far back answers can be given again, and what it takes",
        answer=PastAnswer,
    ),
    ApiRoute(
        "PUT",
        "/v1/replay",
        put_past,
        needs="admin",
        summary="Keep past versions for some days, or none",
        body=PastBody,
        answer=PastAnswer,
    ),
    ApiRoute(
        "POST",
        "/v1/search/replay",
        replay,
        needs="admin",
        summary="The answer that a search had at an earlier revision; the audit log records it",
        body=ReplayBody,
        answer=SearchAnswer,
        only_reads=True,
    ),
    ApiRoute(
        "POST",
        "/v1/search/replay/difference",
        difference,
        needs="admin",
        summary="The change since which a search has another answer; the audit log records it",
        body=ReplayBody,
        answer=DifferenceAnswer,
        only_reads=True,
    ),
)


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[ReplayServices]:
    yield ReplayServices(PastStore(services.stores.database), services.search)


async def _work(services: ReplayServices, stop: asyncio.Event) -> None:
    await repeat(stop, _PRUNE_INTERVAL_S, services.store.prune)


EXTENSION = Extension(
    summary="answers of earlier revisions are given again",
    routes=_ROUTES,
    open=_open,
    work=_work,
)
