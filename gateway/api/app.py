"""The ASGI application: routes from the table of routes, services opened for its lifetime."""

import asyncio
import gc
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypedDict

import structlog
from starlette.applications import Starlette
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from common.command_errors import CommandError
from common.shares import turns
from common.shares.turns import FairTurns
from gateway.api.routes.table import room_routes, routes
from gateway.configured import configured_embedders, configured_parts, extension_settings
from gateway.configured.installed_extensions import opened, switched_on
from gateway.http.endpoint import Endpoint, refuse
from gateway.http.http_services import HttpServices
from gateway.http.known_heads import KnownHeads
from gateway.http.route import ApiRoute
from gateway.http.telemetry import Telemetry
from gateway.http.transport import connections
from gateway.http.transport.connections import ConnectionLimits, Connections
from gateway.monitoring import logs, process_log, server_warnings
from gateway.monitoring.metrics import Metrics
from gateway.problems import problems
from gateway.services import Services, open_services
from gateway.settings.settings import Settings
from gateway.worker import parent_watch
from index.search.query_embedder import Embedder

# Garbage collector: allocations between two collections of generation 0; Python's default of 700
# means one in each request or two. And generation 0 collections per collection of generation 1,
# which scans the caches in vain: the default of 10 paused all requests for 80 ms, three times a
# minute under load.
_ALLOCATIONS = 10_000
_COLLECTIONS = 1_000
# How long a computing thread, as each write has one, delays searches. Beside such a thread a
# statement of 0.3 ms took 5.6 ms with Python's default of 5 ms and takes 0.5 ms with this; the
# thread takes equally long.
_SWITCH_INTERVAL_S = 0.0002


class _AnyPath(PathConvertor):
    """Matches line breaks too: the endpoint itself reports an invalid identifier."""

    regex = "(?s:.*)"


register_url_convertor("path", _AnyPath())


class LifespanState(TypedDict):
    """The lifespan state; every request gets a copy, to which its connection adds itself."""

    http: HttpServices
    services: Services
    connections: Connections
    known_heads: KnownHeads
    turns: FairTurns


def create() -> ASGIApp:
    """Create the application from the environment, in each of uvicorn's workers."""
    settings = Settings()
    logs.configure(settings.log_level, line_format=settings.log_format)
    parent_watch.stop_with_parent()
    metrics = Metrics(settings.metrics_tenants_max)
    configured = configured_embedders.make_all(settings, metrics.embedding_tokens)
    for embedder in configured:
        structlog.get_logger().info(
            "embedder",
            space=embedder.space,
            dimensions=embedder.dimensions,
            alpha=embedder.alpha,
            tokens_max=embedder.tokens_max,
        )
    return create_app(settings, metrics, *configured)


def create_app(settings: Settings, metrics: Metrics, *configured: Embedder) -> ASGIApp:
    extensions = switched_on(settings.extensions_off)
    own = extension_settings.read(settings.extensions_off)
    for extension in extensions.values():
        extension.check(settings)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[LifespanState]:
        # It may load a model.
        brought = await asyncio.to_thread(configured_parts.find, settings, own, "nearhit")
        async with (
            process_log.logged("gateway", extension_settings.report(settings, own)),
            open_services(settings, metrics, *configured, brought=brought) as services,
        ):
            # Objects of the process's lifetime need no collection, and reference counts free nearly
            # all objects of a request.
            gc.freeze()
            gc.set_threshold(_ALLOCATIONS, _COLLECTIONS, 20)
            sys.setswitchinterval(_SWITCH_INTERVAL_S)
            asyncio.get_running_loop().set_task_factory(turns.make_task)
            await server_warnings.log_all(services.stores.database, services.caches.store)
            services.routes.extend(routes(extensions))
            async with AsyncExitStack() as background:
                beside = await background.enter_async_context(opened(extensions, services, own))
                await background.enter_async_context(services.state_sampler.running("gateway"))
                await background.enter_async_context(services.warm_up.running())
                if settings.serve_jobs:
                    from gateway.worker.worker_loop import (
                        run_in_background,  # most gateways leave jobs to `nearhit worker`
                    )

                    await background.enter_async_context(run_in_background(services.worker, beside))
                yield {
                    "http": services.http,
                    "services": services,
                    "connections": _connections(settings, services.http),
                    "known_heads": services.http.known_heads,
                    "turns": services.http.admission.turns,
                }
            services.http.recorder.flush()

    rows = [*room_routes(extensions)]
    # The first one that matches answers, and an identifier matches all that is left of a path.
    rows.sort(key=lambda row: row[0].path.endswith(":path}"))
    endpoints = [(route, Endpoint(route, settings, room)) for route, room in rows]
    table = [Route(route.path, endpoint, methods=[route.method]) for route, endpoint in endpoints]

    async def refuse_unknown(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException), (
            "Starlette registers this handler for no other exception"
        )
        if error.status_code == 405:
            error.headers = {"Allow": ", ".join(_methods(table, request.scope))}
        dialects = (extension.dialect for extension in extensions.values() if extension.dialect)
        renders = (dialect.render for dialect in dialects if dialect.concerns(request))
        return await refuse(request, error, next(renders, problems.render))

    application = Starlette(
        routes=table, exception_handlers={HTTPException: refuse_unknown}, lifespan=lifespan
    )
    # A redirect would go to the host that the caller names.
    application.router.redirect_slashes = False
    return Telemetry(_ExactPathRouter(application, endpoints))


def _without_stack(send: Send) -> Send:
    """Tells why a start is refused in one line; Starlette tells of each failure with its stack."""

    async def tell(message: Message) -> None:
        error = sys.exc_info()[1]  # which Starlette handles as it sends
        if message["type"] == "lifespan.startup.failed" and isinstance(error, CommandError):
            message["message"] = str(error)
        await send(message)

    return tell


def _methods(table: Sequence[Route], scope: Scope) -> list[str]:
    """All methods of the path, over all routes that match it."""
    matching = (route for route in table if route.matches(scope)[0] is not Match.NONE)
    return sorted({method for route in matching for method in route.methods or ()})


def _connections(settings: Settings, http: HttpServices) -> Connections:
    limits = ConnectionLimits(
        head_bytes_max=connections.HEAD_BYTES_MAX,
        headers_deadline_s=connections.HEADERS_DEADLINE_S,
        send_deadline_s=connections.SEND_DEADLINE_S,
        connections_max=settings.connections_max,
        address_connections_max=max(1, settings.connections_max // 16),
        unsent_bytes_max=settings.body_memory_bytes,
    )
    return Connections(
        limits,
        http.addresses,
        lambda status: http.metrics.requests.observe(("", status, ""), 0.0),
    )


class _ExactPathRouter:
    """Dispatches paths without parameters by a dict; all others go through Starlette's router.

    For a cached answer Starlette's layers take as long as all of the gateway's own code.
    """

    def __init__(
        self, fallback: ASGIApp, endpoints: Sequence[tuple[ApiRoute[Any], ASGIApp]]
    ) -> None:
        self._fallback = fallback
        self._endpoints = {
            (route.method, route.path): endpoint
            for route, endpoint in endpoints
            if "{" not in route.path
        }
        # As many clients are configured.
        self._with_slash = {f"{route.path}/" for route, _ in endpoints if route.is_resource}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = None
        if scope["type"] == "http":
            if scope["path"] in self._with_slash:
                scope["path"] = scope["path"][:-1]
            endpoint = self._endpoints.get((scope["method"], scope["path"]))
        elif scope["type"] == "lifespan":
            send = _without_stack(send)
        await (endpoint or self._fallback)(scope, receive, send)
