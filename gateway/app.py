"""The ASGI application: routes made of the table of calls, services opened for its lifetime."""

import gc
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypedDict
from urllib.parse import unquote_to_bytes

import structlog
from starlette.applications import Starlette
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway import embedders, logs, problems, supervision
from gateway.calls import CALLS
from gateway.exchange import Call, Exchange
from gateway.metrics import Metrics
from gateway.services import Services, open_services
from gateway.settings import Settings
from gateway.telemetry import Telemetry, Trace
from index.document import UNSTORABLE
from index.search import Embedder

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
    services: Services


def create() -> ASGIApp:
    """The application with the settings of the environment, as uvicorn's workers start it."""
    settings = Settings()
    logs.configure(settings.log_level)
    supervision.follow()
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
                    from gateway.working import working  # most gateways leave it to `worker`

                    await meanwhile.enter_async_context(working(services))
                yield {"services": services}
        if log is not None:
            log.flush()

    routes = Starlette(
        routes=[Route(call.path, _Endpoint(call), methods=[call.method]) for call in CALLS],
        exception_handlers={HTTPException: problems.render},
        lifespan=lifespan,
    )
    routes.router.redirect_slashes = False  # to whatever host the caller named
    return Telemetry(_Direct(routes), counted, log)


class _Direct:
    """Calls by their very path; what has parameters in it, or is no call, goes by the routes.

    For a cached answer the way through Starlette's layers takes as long as all the rest of ours.
    """

    def __init__(self, routes: ASGIApp) -> None:
        self._routes = routes
        self._calls = {
            (call.method, call.path): _Endpoint(call) for call in CALLS if "{" not in call.path
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        call = None
        if scope["type"] == "http":
            call = self._calls.get((scope["method"], scope["path"]))
        await (call or self._routes)(scope, receive, send)


class _Endpoint:
    """A call as an ASGI application of its own: no layer stands between it and the server's."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._is_counted = call.needs != "anyone"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        trace: Trace = scope["trace"]
        trace.route = self._call.path
        services: Services = scope["state"]["services"]
        request = Request(scope, receive)
        if not self._is_counted:
            await (await self._response(request, services))(scope, receive, send)
            return
        try:
            services.load.begin()
        except problems.Problem as overloaded:
            await (await self._call.render(request, overloaded))(scope, receive, send)
            return
        try:
            response = await self._response(request, services)
            if trace.counters:
                standing = services.load.standing(trace.counters)
                response.raw_headers.append((b"ratelimit", standing))
            await response(scope, receive, send)
        finally:
            services.load.end(trace.tenant)

    async def _response(self, request: Request, services: Services) -> Response:
        try:
            _refuse_unstorable(request.scope)
            exchange = Exchange(self._call, request, services)
            seconds = exchange.timeout_s
            if seconds is None:
                return await self._call.handle(exchange)
            with services.deadlines.within(seconds):
                return await self._call.handle(exchange)
        except Exception as error:
            return await self._call.render(request, error)


def _refuse_unstorable(scope: Scope) -> None:
    """A 422 `Problem` for a path or a query with text that PostgreSQL can't hold.

    A path that is no UTF-8, or ends in a line break, would name something else than was sent.
    Headers come without U+0000: the server's parser refuses it.
    """
    if b"%" in scope["raw_path"]:
        path = _unquoted("path", scope["raw_path"])
        if path.endswith("\n"):
            raise problems.invalid_field("path", "must not end in a line break")
        for name, value in scope.get("path_params", {}).items():
            _check_storable(name, value)
    if b"%" in scope["query_string"]:
        for part in scope["query_string"].split(b"&"):
            name, _, value = part.partition(b"=")
            field = _unquoted("query", name)
            _check_storable("query", field)
            _check_storable(field, _unquoted(field, value))


def _unquoted(field: str, quoted: bytes) -> str:
    try:
        return unquote_to_bytes(quoted).decode()
    except UnicodeDecodeError:
        raise problems.invalid_field(field, "must be UTF-8") from None


def _check_storable(field: str, text: str) -> None:
    if UNSTORABLE.search(text):
        raise problems.invalid_field(field, "must not hold the character U+0000")
