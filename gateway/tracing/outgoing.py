"""The HTTP client of model services, which tells them the trace of each call."""

from typing import TYPE_CHECKING

from gateway.settings.settings import Settings

if TYPE_CHECKING:
    import httpx2


def http_client(settings: Settings) -> "httpx2.AsyncClient | None":
    """A client that adds `traceparent` to its requests; None without tracing.

    It has the time-outs and limits of OpenAI's package, which makes its own if it gets none.
    """
    if settings.otlp_endpoint is None:
        return None
    from openai import DefaultAsyncHttpxClient

    from gateway.tracing.tracing import inject

    async def add_trace(request: "httpx2.Request") -> None:
        headers: dict[str, str] = {}
        inject(headers)
        request.headers.update(headers)

    return DefaultAsyncHttpxClient(event_hooks={"request": [add_trace]})
