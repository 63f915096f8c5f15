"""Sources that follow PostgreSQL: a worker copies a table or view, then stores its changes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.extension import ApiRoute, Extension, Services, body_limit
from gateway.extensions._sources.source_kind import SourceKind
from gateway.extensions._sources.source_store import SourceStore
from gateway.extensions.sources_postgres.follower import FollowerParts
from gateway.extensions.sources_postgres.follower_services import FollowerServices
from gateway.extensions.sources_postgres.follower_store import FollowerStore
from gateway.extensions.sources_postgres.followers import Followers, ServerAccess
from gateway.extensions.sources_postgres.position_watcher import PositionWatcher
from gateway.extensions.sources_postgres.postgres_reader import open_reader
from gateway.extensions.sources_postgres.postgres_schemas import (
    PostgresSourceBody,
    WaitAnswer,
    WaitBody,
)
from gateway.extensions.sources_postgres.postgres_settings import PostgresSettings
from gateway.extensions.sources_postgres.wait_endpoint import wait_for_position


@asynccontextmanager
async def _open(services: Services, own: PostgresSettings) -> AsyncIterator[FollowerServices]:
    store = FollowerStore(services.stores.database)
    sources = SourceStore(services.stores.database)
    parts = FollowerParts(services.stores, services.documents.writer, store, sources)
    watcher = PositionWatcher(store)
    followers = Followers(services.settings, ServerAccess.of(own), parts)
    try:
        yield FollowerServices(parts, followers, watcher)
    finally:
        await watcher.end()


async def _work(services: FollowerServices, stop: asyncio.Event) -> None:
    await services.followers.run(stop)


EXTENSION = Extension(
    summary="a worker follows a table or view of another PostgreSQL as a source",
    routes=(
        ApiRoute(
            "POST",
            "/v1/sources/{source:path}/wait",
            wait_for_position,
            needs="writer",
            summary="Wait until what a followed server has committed is found, and no longer found",
            body=WaitBody,
            body_bytes_max=body_limit(1_024),
            answer=WaitAnswer,
        ),
    ),
    open=_open,
    settings=PostgresSettings,
    work=_work,
    contributes=(SourceKind(PostgresSourceBody, open_reader),),
)
