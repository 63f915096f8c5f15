"""Opens tracing if it is configured, and spans that cost nothing if it is not."""

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, TypeAlias

import structlog

from gateway.errors import CommandError
from gateway.settings.settings import Settings

if TYPE_CHECKING:  # importing OpenTelemetry takes a fifth of a second
    from gateway.tracing.tracing import Tracing

Service: TypeAlias = Literal["nearhit", "nearhit-worker"]

_NO_SPAN: AbstractContextManager[None] = nullcontext()


def span(tracing: "Tracing | None", name: str) -> AbstractContextManager[None]:
    """A span below the current one, for the time of the block."""
    return _NO_SPAN if tracing is None else tracing.span(name)


def check(settings: Settings) -> None:
    """Raises `CommandError` if tracing is configured and its packages are not installed."""
    if settings.otlp_endpoint is None:
        return
    for module in ("opentelemetry", "opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"):
        try:
            is_there = find_spec(module) is not None
        except ModuleNotFoundError:  # of a package around it
            is_there = False
        if not is_there:
            raise CommandError(
                "NEARHIT_OTLP_ENDPOINT needs the extra `otel`: pip install '.[otel]' in a checkout"
            )


def log_processors(settings: Settings) -> list[structlog.typing.Processor]:
    """What adds the ids of traces to log lines, if tracing is configured."""
    if settings.otlp_endpoint is None:
        return []
    check(settings)
    from gateway.tracing.log_fields import add_trace_ids

    return [add_trace_ids]


@asynccontextmanager
async def opened(settings: Settings, service: Service) -> "AsyncIterator[Tracing | None]":
    """The tracing of this process; None if no collector is configured.

    At the end the spans that wait are sent.
    """
    if settings.otlp_endpoint is None:
        yield None
        return
    check(settings)
    from gateway.tracing.tracing import Tracing

    tracing = Tracing(
        settings.otlp_endpoint,
        service,
        share=settings.trace_share,
        comments_statements=settings.pooler_url is None,
    )
    try:
        yield tracing
    finally:
        await tracing.close()
