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
    return Response(
        context.services.metrics.exposition(),
        media_type="text/plain; version=0.0.4; charset=utf-8",
    )
