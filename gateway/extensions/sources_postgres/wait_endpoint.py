"""`POST /v1/sources/{source}/wait`: until what was committed on the followed server is stored."""

import asyncio
from contextlib import suppress

from starlette.responses import Response

from gateway.extension import RequestContext, json_response, problems, schemas
from gateway.extensions._sources.source_store import StoredSource
from gateway.extensions.sources_postgres import position_watcher
from gateway.extensions.sources_postgres.follower_services import FollowerServices
from gateway.extensions.sources_postgres.position_watcher import WatchedPosition
from gateway.extensions.sources_postgres.postgres_schemas import WaitAnswer, WaitBody
from gateway.extensions.sources_postgres.server.change_message import lsn_number


async def wait_for_position(context: RequestContext[FollowerServices]) -> Response:
    """Answer once searches find, or no longer find, what the server had at a position.

    Every such change is then acknowledged as a write is: no cached answer is older.
    """
    tenant = (await context.authenticate()).principal.tenant
    name = schemas.parse_value("source", schemas.SOURCE, context.request.path_params["source"])
    body = schemas.parse(WaitBody, context.body)
    services = context.services
    _require_followed(await services.parts.sources.get(tenant, name))
    if services.watcher.waiting(tenant) >= position_watcher.TENANT_WAITING_MAX:
        raise problems.rate_limited("calls that wait for sources of this tenant", 1)
    async with services.watcher.watching(tenant, name) as watched:
        lsn = await _reached(watched, body)
    lag = None if lsn is None else max(0, lsn_number(body.lsn) - lsn_number(lsn))
    source = await services.parts.sources.get(tenant, name)
    return json_response(
        WaitAnswer(
            source=name,
            reached=lag == 0,
            lsn=lsn,
            lag_bytes=lag,
            last_error=source.last_error if source else None,
        )
    )


async def _reached(watched: WatchedPosition, body: WaitBody) -> str | None:
    """The position when it is reached, or when the time is over."""
    lsn, wanted = await watched.next(), lsn_number(body.lsn)
    with suppress(TimeoutError):
        async with asyncio.timeout(body.timeout_s):
            while lsn is None or lsn_number(lsn) < wanted:
                lsn = await watched.next()
    return lsn


def _require_followed(source: StoredSource | None) -> None:
    if source is None:
        raise problems.not_found("source", "The source does not exist.")
    if source.kind != "postgres" or source.paused:
        raise problems.conflict("source", "The source follows no server.")
