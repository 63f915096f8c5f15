"""The ASGI application: routes made of the table of calls, services opened for its lifetime."""

import gc
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypedDict

import structlog
from starlette.applications import Starlette
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway import logs, problems
from gateway.api.routes import ROUTES
from gateway.http.connections import ConnectionLimits, Connections
from gateway.http.endpoint import Endpoint, refuse
from gateway.http.head import HeadLimits
from gateway.http.http_services import HttpServices
from gateway.http.route import ApiRoute
from gateway.http.telemetry import Telemetry
from gateway.metrics import Metrics
from gateway.search import embedders
from gateway.services import Services, open_services
from gateway.settings import Settings
from gateway.worker import parent_watch
from index.search.query_embedder import Embedder

# Between two collections of what is new: with Python's 700 there is one in each request or two.
# After so many of them one looks at all that came meanwhile, which is what caches hold, in vain:
# after ten it stopped everything for 80 ms, three times a minute under load.
_ALLOCATIONS = 10_000
_COLLECTIONS = 1_000
# For which a thread that computes, as each write has one, keeps searches waiting. With Python's
# 5 ms a statement of 0.3 ms took 5.6 beside such a thread, with this 0.5; the thread as long.
_TURN_S = 0.0002


class _AnyPath(PathConvertor):
    """With line breaks too: what is wrong with a name, the call says that it stands in."""

    regex = "(?s:.*)"


register_url_convertor("path", _AnyPath())


class State(TypedDict):
    """What every request is given, each in a copy of its own; connections add themselves to it."""

    http: HttpServices
    services: Services
    connections: Connections


def create() -> ASGIApp:
    """The application with the settings of the environment, as uvicorn's workers start it."""
    settings = Settings()
    logs.configure(settings.log_level)
    parent_watch.stop_with_parent()
    counted = Metrics()
    made = embedders.make_all(settings, counted.embedding_tokens)
    for embedder in made:
        structlog.get_logger().info(
            "embedder",
            space=embedder.space,
            dimensions=embedder.dimensions,
            alpha=embedder.alpha,
            tokens_max=embedder.tokens_max,
        )
    return create_app(settings, counted, *made)


def create_app(settings: Settings, counted: Metrics, *made: Embedder) -> ASGIApp:
    log = logs.RequestLog() if settings.log_level in ("debug", "info") else None

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[State]:
        async with open_services(settings, counted, *made) as services:
            # What lives as long as the process need not be looked at again and again, and what a
            # request leaves behind is freed by its counts: cycles are few.
            gc.freeze()
            gc.set_threshold(_ALLOCATIONS, _COLLECTIONS, 20)
            sys.setswitchinterval(_TURN_S)
            async with AsyncExitStack() as meanwhile:
                if settings.serve_jobs:
                    from gateway.worker.worker_loop import (
                        run_in_background,  # most gateways leave it to `worker`
                    )

                    await meanwhile.enter_async_context(run_in_background(services.worker))
                yield {
                    "http": services.http,
                    "services": services,
                    "connections": _connections(settings, services.http),
                }
        if log is not None:
            log.flush()

    endpoints = [(route, Endpoint(route, settings, room)) for route, room in ROUTES]
    table = [Route(call.path, endpoint, methods=[call.method]) for call, endpoint in endpoints]

    async def no_such_call(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException), "it is asked about no others"
        if error.status_code == 405:
            error.headers = {"Allow": ", ".join(_methods(table, request.scope))}
        return await refuse(request, error, problems.render)

    routes = Starlette(
        routes=table, exception_handlers={HTTPException: no_such_call}, lifespan=lifespan
    )
    routes.router.redirect_slashes = False  # to whatever host the caller named
    return Telemetry(_ExactPathRouter(routes, endpoints), counted, log)


def _methods(table: Sequence[Route], scope: Scope) -> list[str]:
    """All that the path has, of whichever calls it may be."""
    matching = (route for route in table if route.matches(scope)[0] is not Match.NONE)
    return sorted({method for route in matching for method in route.methods or ()})


def _connections(settings: Settings, http: HttpServices) -> Connections:
    limits = ConnectionLimits(
        HeadLimits(settings.head_bytes_max, settings.url_bytes_max, settings.headers_max),
        head_deadline_s=settings.head_deadline_s,
        send_deadline_s=settings.send_deadline_s,
        connections_max=settings.connections_max,
        address_connections_max=settings.address_connections_max,
    )
    return Connections(
        limits,
        http.addresses,
        lambda status: http.metrics.request("", status, "", 0.0),
    )


class _ExactPathRouter:
    """Calls by their very path; what has parameters in it, or is no call, goes by the routes.

    For a cached answer the way through Starlette's layers takes as long as all the rest of ours.
    """

    def __init__(self, routes: ASGIApp, endpoints: Iterable[tuple[ApiRoute[Any], ASGIApp]]) -> None:
        self._routes = routes
        self._calls = {
            (call.method, call.path): endpoint
            for call, endpoint in endpoints
            if "{" not in call.path
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        call = None
        if scope["type"] == "http":
            call = self._calls.get((scope["method"], scope["path"]))
        await (call or self._routes)(scope, receive, send)
