"""The W3C trace context of the current task, which a new job keeps and its worker continues."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

_TRACESTATE_CHARACTERS_MAX = 512  # as in migrations/0001_schema.sql; W3C asks for 512


@dataclass(frozen=True, slots=True)
class TraceContext:
    """The values of the headers `traceparent` and `tracestate`."""

    traceparent: str
    tracestate: str | None = None


_CURRENT: ContextVar[TraceContext | None] = ContextVar("trace_context", default=None)


@contextmanager
def carrying(traceparent: str, tracestate: str = "") -> Iterator[None]:
    """Let jobs that this task enqueues keep the trace; empty: none."""
    is_kept = 0 < len(tracestate) <= _TRACESTATE_CHARACTERS_MAX
    context = TraceContext(traceparent, tracestate if is_kept else None) if traceparent else None
    token = _CURRENT.set(context)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current() -> TraceContext | None:
    return _CURRENT.get()
