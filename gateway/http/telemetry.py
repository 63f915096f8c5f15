"""Traces each request: its id, phases and cache tier, for the log, the metrics and the caller."""

import itertools
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.http.admission import Counters
from gateway.monitoring.logs import KEY_START, RequestLog
from gateway.monitoring.metrics import Metrics
from gateway.monitoring.tracing import Tracing
from index.tenants.principals import Principal

# Not a key that a caller has put into the wrong header: the log shows the id.
_REQUEST_ID = re.compile(rf"(?!.*{KEY_START})[A-Za-z0-9._-]{{1,64}}")

_PROCESS = secrets.token_hex(4)
_numbers = itertools.count(1)


@dataclass(slots=True)
class Trace:
    """Filled in while the request is handled; `tier` and `tenant` stay empty where there is none.

    trace_id: in hexadecimal digits, if requests are traced. is_sampled: whether spans are recorded.
    headers:  as received, of equal names the last; empty if the head is known and not parsed.
    digest:   of the credential; empty if there is none. principal: who holds it, once it is known.
    counters: that count the request. unspent: those whose token is not spent yet.
    rights_as_of: the header that says how new the tenant's rights were when the request began.
    """

    request_id: str
    started_s: float
    headers: Mapping[bytes, bytes]
    route: str = ""
    tier: str = ""
    tenant: str = ""
    digest: bytes = b""
    principal: Principal | None = None
    trace_id: str = ""
    is_sampled: bool = False
    query: str | None = None
    counters: Counters = ()
    unspent: Counters = ()
    rights_as_of: tuple[bytes, bytes] | None = None
    status: int = 0
    _marks: list[tuple[str, float]] = field(default_factory=list)

    def mark(self, name: str) -> None:
        """Record that the phase `name` ends now."""
        self._marks.append((name, time.perf_counter()))

    def server_timing(self) -> str:
        """The `Server-Timing` header: the phases in milliseconds."""
        parts, before_s = [], self.started_s
        for name, at_s in self._marks:
            parts.append(f"{name};dur={(at_s - before_s) * 1000:.2f}")
            before_s = at_s
        parts.append(f"total;dur={(before_s - self.started_s) * 1000:.2f}")
        return ", ".join(parts)

    def phases(self) -> Iterator[tuple[str, float, float]]:
        """The phases so far, with their begins and ends on the clock of `started_s`."""
        before_s = self.started_s
        for name, at_s in self._marks:
            yield name, before_s, at_s
            before_s = at_s


class RequestRecorder:
    """Logs and counts requests when they end. log: None if the log level leaves requests out."""

    def __init__(
        self, metrics: Metrics, log: RequestLog | None, tracing: Tracing | None = None
    ) -> None:
        self._requests = metrics.requests
        self._log = log
        self._tracing = tracing

    def record(self, method: str, trace: Trace) -> None:
        seconds = time.perf_counter() - trace.started_s
        if self._tracing is not None and not trace.trace_id:
            self._tracing.recalled(method, trace)
        exemplar = trace.trace_id if trace.is_sampled else ""
        self._requests.observe((trace.route, trace.status, trace.tier), seconds, exemplar)
        if self._log is not None:
            line = {
                "event": "request",
                "request_id": trace.request_id,
                "level": "info",
                "timestamp": datetime.now(UTC),
                "method": method,
                "route": trace.route,
                "status": trace.status,
                "ms": round(seconds * 1000, 3),
                "tenant": trace.tenant,
                "tier": trace.tier,
            }
            if trace.trace_id:
                line["trace_id"] = trace.trace_id
            if trace.query is not None:
                line["query"] = trace.query
            self._log.write(line)

    def flush(self) -> None:
        """Write the log lines that wait."""
        if self._log is not None:
            self._log.flush()


class TelemetryServices(Protocol):
    """Those of `HttpServices` that this layer uses."""

    @property
    def recorder(self) -> RequestRecorder: ...
    @property
    def tracing(self) -> Tracing | None: ...


class Telemetry:
    """The outermost layer: gives each request its trace, and records it when it ends."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started_s = time.perf_counter()
        headers = dict(scope["headers"])
        trace = Trace(request_id(headers.get(b"x-request-id")), started_s, headers)
        scope["trace"] = trace
        header = (b"x-request-id", trace.request_id.encode())

        async def observed(message: Message) -> None:
            if message["type"] == "http.response.start":
                trace.status = message["status"]
                message["headers"].append(header)
            await send(message)

        http: TelemetryServices = scope["state"]["http"]
        try:
            if http.tracing is None:
                await self._app(scope, receive, observed)
            else:
                with http.tracing.request(scope["method"], trace):
                    await self._app(scope, receive, observed)
        finally:
            http.recorder.record(scope["method"], trace)


def is_request_id(header: bytes) -> bool:
    """Whether a caller's id is short and harmless."""
    return _REQUEST_ID.fullmatch(header.decode("latin-1")) is not None


def request_id(header: bytes | None) -> str:
    """The caller's id if it is short and harmless, else a new one."""
    if header is not None and is_request_id(header):
        return header.decode("latin-1")
    return f"{_PROCESS}{next(_numbers):08x}"
