"""An admin searches as another subject or group; the audit log records it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel

from gateway.extension import ApiRoute, Extension, SearchAnswer, SearchServices, Services
from gateway.extensions.search_as.search_as_endpoint import search_as
from gateway.extensions.search_as.search_as_schemas import SearchAsBody

_ROUTES: tuple[ApiRoute[SearchServices], ...] = (
    ApiRoute(
        "POST",
        "/v1/search/as",
        search_as,
        needs="admin",
        summary="Search as another subject or group; the audit log records it",
        body=SearchAsBody,
        answer=SearchAnswer,
        only_reads=True,
    ),
)


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[SearchServices]:
    yield services.search


EXTENSION = Extension(
    summary="admins search as another subject or group", routes=_ROUTES, open=_open
)
