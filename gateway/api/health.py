"""Liveness, readiness and metrics, for the operator."""

import asyncio

from starlette.responses import Response

from gateway.http.request.request_context import RequestContext
from gateway.services import Services
from index.errors import DatabaseUnavailable

_JSON = "application/json"
_REFUSED = b',"redis":"its user lacks a permission: run nearhit config check --connect"'
READY_S_MAX = 1.5  # a starting value, not measured: the answer is there before 2 s are over


async def healthz(_: RequestContext[object]) -> Response:
    """200 if the process is alive."""
    return Response(b'{"status":"ok"}', media_type="application/json")


async def readyz(context: RequestContext[Services]) -> Response:
    """200 if PostgreSQL answers in time too; Redis need not, because searches work without it.

    `warm` says whether the worker has loaded all that it loads after its start. A balancer need not
    wait for that: until then the first calls of some kinds take up to a second longer.
    The body tells if Redis has refused the last call for want of a permission.
    Concurrent probes share one statement. Raises `DatabaseUnavailable`.
    """
    services = context.services
    try:
        async with asyncio.timeout(READY_S_MAX):
            await services.readiness.do("ready", lambda: services.stores.tenants.exists("public"))
    except TimeoutError:
        raise DatabaseUnavailable(f"PostgreSQL is silent for {READY_S_MAX:g} s") from None
    warm = b"true" if services.warm_up.is_done else b"false"
    redis = _REFUSED if services.caches.store.is_refused else b""
    return Response(b'{"status":"ready","warm":%b%b}' % (warm, redis), media_type=_JSON)


async def get_metrics(context: RequestContext[Services]) -> Response:
    """In OpenMetrics, which has exemplars, if the header `Accept` asks for it."""
    accept = context.trace.headers.get(b"accept", b"").decode("latin-1")
    metrics = context.services.http.metrics
    metrics.flush()
    body, media_type = await context.threads.run(metrics.registry.exposition, accept)
    return Response(body, headers={"content-type": media_type})
