"""`GET /openapi.json`: what clients are generated of, and what `/docs` shows."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache

import orjson
from pydantic import BaseModel, Field
from starlette.responses import Response

from gateway.extension import ApiRoute, Extension, RequestContext, Services, StaticContent
from gateway.extensions.openapi import openapi_document

_PATH = "/openapi.json"


async def get_openapi(context: RequestContext[Callable[[], StaticContent]]) -> Response:
    """The first one takes a third of a second, in a thread; two at once may both compute it."""
    content = await asyncio.to_thread(context.services)
    return content.response(context.request, {"Cache-Control": "no-cache"})


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[Callable[[], StaticContent]]:
    """What makes the document once."""

    def content() -> StaticContent:
        body = orjson.dumps(openapi_document.document(services.routes))
        return StaticContent.of(body, "application/json")

    yield cache(content)


EXTENSION = Extension(
    summary="the description of the API for programs, of which clients are generated",
    routes=(
        ApiRoute("GET", _PATH, get_openapi, needs="anyone", summary="Get this OpenAPI document"),
    ),
    open=_open,
    root={"openapi": (str, Field(default=_PATH, description="path of the API's description"))},
)
