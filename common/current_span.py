"""The span that the current task is in, which log lines and calls of other services name."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_HEADERS: ContextVar[Mapping[str, str]] = ContextVar("current_span", default=_NO_HEADERS)


@contextmanager
def within(headers: Mapping[str, str]) -> Iterator[None]:
    """headers: of W3C Trace Context, which name the span; empty for none."""
    token = _HEADERS.set(headers)
    try:
        yield
    finally:
        _HEADERS.reset(token)


def headers() -> Mapping[str, str]:
    return _HEADERS.get()


def ids() -> tuple[str, str]:
    """The trace and the span in hexadecimal digits; empty without a span."""
    traceparent = headers().get("traceparent")
    if traceparent is None:
        return "", ""
    _, trace_id, span_id, _ = traceparent.split("-")
    return trace_id, span_id
