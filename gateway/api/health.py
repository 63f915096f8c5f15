"""Liveness, readiness and metrics, for the operator."""

from starlette.responses import Response

from gateway.admin.admin_services import AdminServices
from gateway.http.request_context import RequestContext


async def healthz(_: RequestContext[object]) -> Response:
    """200 if the process is alive."""
    return Response(b'{"status":"ok"}', media_type="application/json")


async def readyz(context: RequestContext[AdminServices]) -> Response:
    """200 if PostgreSQL is available too; Redis need not be, because searches work without it."""
    await context.services.tenants.exists("public")
    return Response(b'{"status":"ready"}', media_type="application/json")


async def get_metrics(context: RequestContext[AdminServices]) -> Response:
    """In OpenMetrics, which has exemplars, if the header `Accept` asks for it."""
    accept = context.trace.headers.get(b"accept", b"").decode("latin-1")
    body, media_type = context.services.metrics.exposition(accept)
    return Response(body, headers={"content-type": media_type})
