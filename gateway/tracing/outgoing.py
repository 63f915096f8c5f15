"""The HTTP client of model services, which tells them the trace of each call."""

from typing import TYPE_CHECKING

from common import current_span, tls
from gateway.settings.settings import Settings

if TYPE_CHECKING:
    import httpx2


def http_client(settings: Settings) -> "httpx2.AsyncClient":
    """A client with the time-outs and limits of OpenAI's package.

    With tracing it adds `traceparent` to its requests.
    """
    from openai import DefaultAsyncHttpxClient

    if settings.otlp_endpoint is None:
        return DefaultAsyncHttpxClient(verify=tls.verifying())

    async def add_trace(request: "httpx2.Request") -> None:
        request.headers.update(current_span.headers())

    return DefaultAsyncHttpxClient(verify=tls.verifying(), event_hooks={"request": [add_trace]})
