"""Spans by OpenTelemetry, sent by OTLP over HTTP in the background.

A request continues the trace that its `traceparent` names (W3C Trace Context), with the caller's
decision whether it is sampled. Without that header a share of the requests is sampled.

A job continues the trace of the request that enqueued it: its span is a child of the request's, as
OpenTelemetry's conventions for messaging allow where one message is processed at a time.

A span of a statement or a drain is made when it ends, from its duration, because `index` and
`cache` report durations and know nothing of traces. Those of a request's phases are made when the
request ends, of the times that `Server-Timing` shows: a request that is not traced makes none.
"""

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import cast

from opentelemetry import trace as otel
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Span, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from common import current_span
from common.version import VERSION
from gateway.extension import TracedRequest
from index.jobs import trace_context
from index.jobs.job_queue import ClaimedJob
from index.postgres.session import ObserveStatement
from index.postgres.statement_comment import commenting

SPANS_WAITING_MAX = 2_048  # then further ones are dropped; OpenTelemetry's own value
EXPORT_S_MAX = 5.0  # of one batch, and of those that wait when the process ends
_EXPORT_EVERY_S = 5.0  # OpenTelemetry's own value

_W3C = TraceContextTextMapPropagator()
_NO_PARENT = otel.set_span_in_context(otel.INVALID_SPAN)


class OpenTelemetryTracing:
    """endpoint: of the collector, without `/v1/traces`. service: how this process is called there.

    share: of the requests without `traceparent` that are sampled, 0 to 1.
    comments_statements: whether statements of sampled requests name their trace in a comment.
    """

    def __init__(
        self, endpoint: str, service: str, *, share: float, comments_statements: bool
    ) -> None:
        self._comments_statements = comments_statements
        exporter = OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces", timeout=EXPORT_S_MAX)
        self._provider = TracerProvider(
            sampler=ParentBased(TraceIdRatioBased(share)),
            resource=Resource.create(
                {
                    "service.name": service,
                    "service.version": VERSION,
                    "service.instance.id": str(os.getpid()),
                }
            ),
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(
            BatchSpanProcessor(
                exporter,
                max_queue_size=SPANS_WAITING_MAX,
                schedule_delay_millis=_EXPORT_EVERY_S * 1000,
                export_timeout_millis=EXPORT_S_MAX * 1000,
            )
        )
        self._tracer = self._provider.get_tracer("nearhit")

    async def close(self) -> None:
        """Send the spans that wait."""
        await asyncio.to_thread(self._provider.shutdown)

    @contextmanager
    def request(self, method: str, trace: TracedRequest) -> Iterator[None]:
        """The span of a request, for the time of the block; its ids are put into `trace`."""
        headers = {
            name: trace.headers[name.encode()].decode("latin-1")
            for name in ("traceparent", "tracestate")
            if name.encode() in trace.headers
        }
        context, began_ns = _W3C.extract(headers), _ns_of(trace.started_s)
        with self._current(method, SpanKind.SERVER, context, began_ns) as request_span:
            trace.trace_id, trace.is_sampled = _ids_of(request_span)
            try:
                yield
            finally:
                self._end_request(request_span, method, trace)

    def recalled(self, method: str, trace: TracedRequest) -> None:
        """Make the span of an answered request, which has no `traceparent`; see `KnownHeads`."""
        request_span = self._tracer.start_span(
            method,
            _NO_PARENT,
            SpanKind.SERVER,
            start_time=_ns_of(trace.started_s),
        )
        trace.trace_id, trace.is_sampled = _ids_of(request_span)
        self._end_request(request_span, method, trace)
        request_span.end()

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """A span below the current one, for the time of the block."""
        with (
            self._tracer.start_as_current_span(name, record_exception=False),
            current_span.within(_headers()),
        ):
            yield

    @contextmanager
    def job(self, job: ClaimedJob) -> Iterator[None]:
        """The span of an attempt at a job, in the trace of who enqueued it, or in a new one."""
        headers = {}
        if job.trace is not None:
            headers = {"traceparent": job.trace.traceparent}
            if job.trace.tracestate is not None:
                headers["tracestate"] = job.trace.tracestate
        name = f"process {job.kind}"
        with self._current(name, SpanKind.CONSUMER, _W3C.extract(headers, _NO_PARENT)) as job_span:
            if job_span.is_recording():
                job_span.set_attributes(_job_attributes(job))
            yield

    def observing(self, observe: ObserveStatement) -> ObserveStatement:
        """`observe`, which also makes a span of each statement of a sampled request."""

        def observe_statement(name: str, seconds: float) -> None:
            observe(name, seconds)
            if otel.get_current_span().is_recording():
                self._ended(
                    name,
                    seconds,
                    SpanKind.CLIENT,
                    {"db.system.name": "postgresql", "db.operation.name": name},
                )

        return observe_statement

    def observing_drains(self, observe: Callable[[float], None]) -> Callable[[float], None]:
        """The same for drains of the cache."""

        def observe_drain(seconds: float) -> None:
            observe(seconds)
            if otel.get_current_span().is_recording():
                self._ended("drain", seconds, SpanKind.INTERNAL, {})

        return observe_drain

    def _end_request(self, request_span: Span, method: str, trace: TracedRequest) -> None:
        if not request_span.is_recording():
            return
        _describe(request_span, method, trace)
        context = otel.set_span_in_context(request_span)
        request_ns = cast("ReadableSpan", request_span).start_time or 0
        for name, *times_s in trace.phases():
            began_ns, ended_ns = (
                request_ns + int((at_s - trace.started_s) * 1e9) for at_s in times_s
            )
            self._tracer.start_span(name, context, start_time=began_ns).end(ended_ns)

    def _ended(self, name: str, seconds: float, kind: SpanKind, attributes: dict[str, str]) -> None:
        """A span that has just ended."""
        began_ns = _before_ns(seconds)
        self._tracer.start_span(name, kind=kind, attributes=attributes, start_time=began_ns).end()

    @contextmanager
    def _current(
        self, name: str, kind: SpanKind, context: Context, began_ns: int | None = None
    ) -> Iterator[Span]:
        """A span without a parent in this process, whose statements name it."""
        with self._tracer.start_as_current_span(
            name, context, kind, start_time=began_ns, record_exception=False
        ) as current:
            headers = _headers()
            traceparent = headers.get("traceparent", "")
            is_commented = current.is_recording() and self._comments_statements
            with (
                commenting(traceparent if is_commented else ""),
                trace_context.carrying(traceparent, headers.get("tracestate", "")),
                current_span.within(headers),
            ):
                yield current


def _headers() -> dict[str, str]:
    """`traceparent` and `tracestate` of the current span, if there is one."""
    headers: dict[str, str] = {}
    _W3C.inject(headers)
    return headers


def _describe(request_span: Span, method: str, trace: TracedRequest) -> None:
    request_span.update_name(f"{method} {trace.route}".rstrip())
    request_span.set_attributes(
        {
            "http.request.method": method,
            "http.route": trace.route,
            "http.response.status_code": trace.status,
            "nearhit.request_id": trace.request_id,
            "nearhit.tenant": trace.tenant,
            "nearhit.cache.tier": trace.tier,
        }
    )
    if trace.status >= 500:
        request_span.set_status(StatusCode.ERROR)


def _job_attributes(job: ClaimedJob) -> Mapping[str, str | int]:
    """Those of OpenTelemetry's conventions for messaging, and our own."""
    return {
        "messaging.system": "nearhit",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": job.kind,
        "messaging.message.id": job.job_id,
        "nearhit.tenant": job.tenant,
        "nearhit.job.attempt": job.run.attempts,
    }


def _ids_of(of: Span) -> tuple[str, bool]:
    context = of.get_span_context()
    return otel.format_trace_id(context.trace_id), of.is_recording()


def _before_ns(seconds: float) -> int:
    return time.time_ns() - int(seconds * 1e9)


def _ns_of(at_s: float) -> int:
    """Of a time on the clock of `time.perf_counter`."""
    return _before_ns(time.perf_counter() - at_s)
