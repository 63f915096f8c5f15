"""`GET /openapi.json`, of which clients and `/docs` are made, and the types of problems."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache

import orjson
from pydantic import BaseModel, Field
from starlette.responses import Response

from gateway.extension import ApiRoute, Extension, RequestContext, Services, StaticContent
from gateway.extensions.openapi import openapi_document, problem_endpoints

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
    summary="the description of the API and of its problems, for programs and clients",
    routes=(
        ApiRoute("GET", _PATH, get_openapi, needs="anyone", summary="Get this OpenAPI document"),
        ApiRoute(
            "GET",
            "/v1/problems",
            problem_endpoints.list_problem_types,
            needs="anyone",
            summary="List the types of problems, with causes and remedies",
            answer=problem_endpoints.ProblemTypesAnswer,
        ),
        ApiRoute(
            "GET",
            "/v1/problems/{type}",
            problem_endpoints.get_problem_type,
            needs="anyone",
            summary="Get what a type of problems means and what to do about it",
            answer=problem_endpoints.ProblemTypeAnswer,
        ),
    ),
    open=_open,
    root={
        "openapi": (str, Field(default=_PATH, description="path of the API's description")),
        "problems": (
            str,
            Field(default="/v1/problems", description="path of the types of problems"),
        ),
    },
)
