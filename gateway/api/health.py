"""What operators look at: is it alive, is it ready, how is it doing."""

from starlette.responses import Response

from gateway.http.request_context import RequestContext


async def healthz(_: RequestContext) -> Response:
    """The process answers."""
    return Response(b'{"status":"ok"}', media_type="application/json")


async def readyz(context: RequestContext) -> Response:
    """The database answers too; Redis need not, since answers are right without it."""
    await context.services.tenants.exists("public")
    return Response(b'{"status":"ready"}', media_type="application/json")


async def get_metrics(context: RequestContext) -> Response:
    return Response(
        context.services.metrics.exposition(),
        media_type="text/plain; version=0.0.4; charset=utf-8",
    )
