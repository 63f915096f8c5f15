"""What makes spans of requests and jobs, if it is configured; without it they cost nothing."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from typing import Literal, Protocol, TypeAlias

from gateway.settings.settings import Settings
from index.jobs.job_queue import ClaimedJob
from index.postgres.session import ObserveStatement

Service: TypeAlias = Literal["nearhit", "nearhit-worker"]  # how a process is called in traces

_NO_SPAN: AbstractContextManager[None] = nullcontext()


class TracedRequest(Protocol):
    """What a span says of a request; see `gateway.http.telemetry.Trace`."""

    trace_id: str
    is_sampled: bool
    route: str
    status: int
    tenant: str
    tier: str

    @property
    def request_id(self) -> str: ...
    @property
    def started_s(self) -> float: ...
    @property
    def headers(self) -> Mapping[bytes, bytes]: ...
    def phases(self) -> Iterable[tuple[str, float, float]]: ...


class Tracing(Protocol):
    """Sets `common.current_span`, and `index.jobs.trace_context`, for the time of each block."""

    def request(self, method: str, trace: TracedRequest, /) -> AbstractContextManager[None]:
        """The span of a request; its ids are put into `trace`."""
        ...

    def recalled(self, method: str, trace: TracedRequest, /) -> None:
        """Make the span of an answered request, which has no `traceparent`; see `KnownHeads`."""
        ...

    def span(self, name: str, /) -> AbstractContextManager[None]:
        """A span below the current one."""
        ...

    def job(self, job: ClaimedJob, /) -> AbstractContextManager[None]:
        """The span of an attempt at a job, in the trace of who enqueued it, or in a new one."""
        ...

    def observing(self, observe: ObserveStatement, /) -> ObserveStatement:
        """`observe`, which also makes a span of each statement of a sampled request."""
        ...

    def observing_drains(self, observe: Callable[[float], None], /) -> Callable[[float], None]:
        """The same for drains of the cache."""
        ...

    async def close(self) -> None:
        """Send the spans that wait."""
        ...


MakeTracing: TypeAlias = Callable[[], Tracing]
# Refuses what the first call would refuse, by a `CommandError`.
CheckTracing: TypeAlias = Callable[[Settings, Service], MakeTracing]


def span(tracing: Tracing | None, name: str) -> AbstractContextManager[None]:
    """A span below the current one, for the time of the block."""
    return _NO_SPAN if tracing is None else tracing.span(name)


@asynccontextmanager
async def opened(make: MakeTracing | None) -> AsyncIterator[Tracing | None]:
    """The tracing of this process; None if no collector is configured."""
    if make is None:
        yield None
        return
    tracing = make()
    try:
        yield tracing
    finally:
        await tracing.close()
