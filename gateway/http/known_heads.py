"""Answers a request whose head came before, without parsing the head again.

Agents send many requests with equal heads: only the length, the request's id and its `traceparent`
differ. What a head says holds for all that are equal to it: the route, the credential, the media
type, what the answer has to be as new as. What an equal body below it asks for is the same too. The
caller, the revision, the limits and the answer are checked each time. A request that memory may not
answer, or that may be refused, takes the usual way through the application, from the same bytes.
"""

import asyncio
import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping
from contextvars import Context
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import structlog
from starlette.responses import Response

from common.shares.cache import FairCache
from common.shares.turns import take_turns
from gateway.auth.authenticated_request import AuthenticatedRequest
from gateway.auth.authenticator import Authenticator
from gateway.auth.freshness import Freshness
from gateway.http.admission import AdmissionControl, Slot
from gateway.http.deadlines import Deadlines
from gateway.http.telemetry import RequestRecorder, Trace, is_request_id, request_id
from gateway.problems.problems import Problem
from index.errors import DatabaseUnavailable
from index.tenants.principals import Principal
from index.tenants.tenant_store import TenantRevisions

REQUEST_BYTES_MAX = 4_096
_END = b"\r\n\r\n"
_HEADS_MAX = 2_000  # 1 KB each; a starting value, not measured
_REQUESTS_MAX = 2_000  # at most REQUEST_BYTES_MAX each, and what they mean; a starting value
_DIGEST_BYTES = 32  # a head holds a credential, so only its digest is kept
# The headers whose values equal heads may differ in. No other line is matched in part: a value ends
# at the first byte that no header may hold.
_VARYING = re.compile(
    rb"(?i)(?<=\r\n)(content-length|x-request-id|traceparent):[ \t]*([!-~]*)(?=\r\n)"
)
_TRACEPARENT = re.compile(rb"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
# For the revision, which the other side of the world may send, or until an answer is computed; then
# the usual way, which begins again, has the route's whole deadline.
_WAIT_S_MAX = 0.3
_PAUSE_S = 1.0  # after that: a slow database would delay each request by the wait

log = structlog.get_logger()


class KnownRequest(Protocol):
    """What may be answered without the application, each time that it is asked."""

    @property
    def freshness(self) -> Freshness:
        """What the request asks for."""

    @property
    def is_in_memory(self) -> bool:
        """Whether memory may have the answer now."""

    @property
    def may_be_computed(self) -> bool:
        """Whether the answer may be computed now."""

    def recall(self, trace: Trace, admitted: AuthenticatedRequest, /) -> Response | None:
        """The response from memory, or None. admitted: the caller as it is now."""

    def compute(self, trace: Trace, /) -> Coroutine[Any, Any, Response | None]:
        """The response, for the caller as it is by now; None if that can't be proven."""


@dataclass(frozen=True, slots=True, eq=False)
class KnownHead:
    """What is known of the requests with this head.

    read: the request that a body makes, whenever it comes; None if the application has to answer
        it. Raises a `Problem`.
    """

    method: str
    route: str
    principal: Principal
    read: Callable[[bytes], KnownRequest | None]


# Receives the response, or None if the request has to take the usual way.
OnResponse = Callable[[Response | None], None]


class KnownHeads:
    """The heads of one worker's requests, by the digest of what they have in common.

    is_traced: whether a `traceparent` means something, so that its request takes the usual way.
    """

    def __init__(
        self,
        authenticator: Authenticator,
        admission: AdmissionControl,
        deadlines: Deadlines,
        recorder: RequestRecorder,
        rights_as_of: Mapping[str, tuple[bytes, bytes]],
        *,
        is_traced: bool,
    ) -> None:
        self.authenticator = authenticator
        self.admission = admission
        self.deadlines = deadlines
        self.recorder = recorder
        self.rights_as_of = rights_as_of
        self._is_traced = is_traced
        self._heads: FairCache[bytes, KnownHead] = FairCache(_HEADS_MAX)
        self._requests: FairCache[tuple[KnownHead, bytes], KnownRequest] = FairCache(_REQUESTS_MAX)
        self._resumes_s = 0.0

    def remember(self, received: bytes, head: KnownHead) -> None:
        """Remember the head of an answered request. received: all of its bytes, and no others."""
        if len(received) <= REQUEST_BYTES_MAX:
            parts = _VARYING.split(received[: received.find(_END) + len(_END)])
            digest = _digest(parts)
            known = self._heads.get(digest)
            if known is None or known.principal is not head.principal:
                self._heads.put(head.principal.tenant, digest, head)

    def find(self, received: bytes, started_s: float, client: str = "") -> "PendingRequest | None":
        """The request, if its head is known and it may be answered so.

        started_s: of its trace. client: the address that it came from.
        """
        if len(received) > REQUEST_BYTES_MAX or self._resumes_s > self.deadlines.loop.time():
            return None
        end = received.find(_END) + len(_END)
        parts = _VARYING.split(received[:end])
        head = self._heads.get(_digest(parts))
        if head is None:
            return None
        # Of equal names the last one counts.
        values = dict(zip(map(bytes.lower, parts[1::3]), parts[2::3], strict=True))
        own_id, parent = values.get(b"x-request-id"), values.get(b"traceparent")
        if values.get(b"content-length") != b"%d" % (len(received) - end):
            return None
        if own_id is not None and not is_request_id(own_id):
            return None
        if parent is not None and (self._is_traced or not _TRACEPARENT.fullmatch(parent)):
            return None
        counters, tenant = self.admission.counters(head.principal), head.principal.tenant
        if not self.admission.spend_all_local(counters):
            return None
        trace = Trace(request_id(own_id), started_s, {}, head.route, tenant=tenant)
        trace.counters, trace.rights_as_of = counters, self.rights_as_of.get(tenant)
        pending = self._pending_request(head, received[end:], trace, client)
        if pending is None:
            self.admission.unspend_local(counters)
        return pending

    def pause(self) -> None:
        """Find nothing for some time."""
        self._resumes_s = self.deadlines.loop.time() + _PAUSE_S

    def _pending_request(
        self, head: KnownHead, body: bytes, trace: Trace, client: str
    ) -> "PendingRequest | None":
        """None if nothing but the application answers."""
        request = self._requests.get((head, body)) or self._read(head, body)
        if request is None:
            return None
        if request.is_in_memory:
            return RecallingRequest(self, head, request, trace)
        if (
            self._is_traced  # nothing would record the spans of its statements
            or self.authenticator.known(head.principal.digest) is not head.principal
            or not request.may_be_computed
        ):
            return None
        return ComputingRequest(self, head, request, trace, client)

    def _read(self, head: KnownHead, body: bytes) -> KnownRequest | None:
        try:
            request = head.read(body)
        except Problem:  # the usual way gives it
            return None
        if request is not None:
            self._requests.put(head.principal.tenant, (head, body), request)
        return request


class PendingRequest(ABC):
    """One request of a known head, until it has a response or takes the usual way.

    Its tokens are spent. `_leave` gives back what `_begin` takes besides.
    """

    __slots__ = (
        "_head",
        "_heads",
        "_leave",
        "_on_response",
        "_request",
        "_work",
        "ends_s",
        "trace",
    )

    _leave: Callable[[], None]

    def __init__(
        self, heads: KnownHeads, head: KnownHead, request: KnownRequest, trace: Trace
    ) -> None:
        self._heads = heads
        self._head = head
        self._request = request
        self.trace = trace

    def begin(self, on_response: OnResponse) -> None:
        """Call `on_response` once, now or as soon as there is a response."""
        self._on_response = on_response
        try:
            self._begin()
        except Problem:  # the usual way gives it
            self._take_usual_way()

    def end(self) -> None:
        """What the request waits for has not come in time."""
        self._heads.pause()
        self._work.cancel()

    @abstractmethod
    def _begin(self) -> None:
        """Count the request, and respond or wait for what the response needs.

        Raises a `Problem` before any of it.
        """

    @abstractmethod
    def _response(self, outcome: Any) -> Response | None:
        """The response; None for the usual way. outcome: of what the request has waited for."""

    def _wait_for(self, work: "asyncio.Future[Any]") -> None:
        deadlines = self._heads.deadlines
        self._work = work
        work.add_done_callback(self._on_done)
        self.ends_s = deadlines.loop.time() + _WAIT_S_MAX
        deadlines.add(self)

    def _on_done(self, work: "asyncio.Future[Any]") -> None:
        self._heads.deadlines.discard(self)
        self._respond(work.result)

    def _respond(self, outcome: Callable[[], Any]) -> None:
        heads, trace, response = self._heads, self.trace, None
        try:
            response = self._response(outcome())
        except (asyncio.CancelledError, DatabaseUnavailable, Problem):
            pass  # the usual way meets it again, and tells the client
        except Exception:
            log.exception("known_head")
        self._leave()
        if response is None:
            self._take_usual_way()
            return
        trace.status = response.status_code
        if trace.counters:
            header = heads.admission.ratelimit_header(trace.counters)
            response.raw_headers.append((b"ratelimit", header))
        if trace.rights_as_of is not None:
            response.raw_headers.append(trace.rights_as_of)
        self._on_response(response)
        heads.recorder.record(self._head.method, trace)

    def _take_usual_way(self) -> None:
        self._heads.admission.unspend_local(self.trace.counters)  # they are spent there
        self._on_response(None)


class RecallingRequest(PendingRequest):
    """A request that memory may answer, once the revision is known."""

    __slots__ = ("_recalled",)

    def _begin(self) -> None:
        heads, principal, freshness = self._heads, self._head.principal, self._request.freshness
        self._recalled = heads.authenticator.recall(principal, freshness)
        heads.admission.begin(principal.tenant)
        self._leave = partial(heads.admission.requests.give_back, principal.tenant)
        if self._recalled is None:
            self._wait_for(heads.authenticator.read_revisions(principal, freshness))
        else:
            self._respond(dict)

    def _response(self, outcome: Mapping[str, TenantRevisions]) -> Response | None:
        principal, freshness = self._head.principal, self._request.freshness
        admitted = self._recalled or self._heads.authenticator.admit(principal, outcome, freshness)
        if admitted is None or admitted.principal is not principal:  # its grants may differ
            return None
        return self._request.recall(self.trace, admitted)


class ComputingRequest(PendingRequest):
    """A request whose answer is computed."""

    __slots__ = ("_client",)

    def __init__(
        self, heads: KnownHeads, head: KnownHead, request: KnownRequest, trace: Trace, client: str
    ) -> None:
        super().__init__(heads, head, request, trace)
        self._client = client

    def _begin(self) -> None:
        heads, context = self._heads, Context()
        slot = Slot(heads.admission, self._head.principal.tenant, self._client)
        slot.begin()
        self._leave = slot.end
        work = context.run(take_turns, slot, self._compute())
        self._wait_for(asyncio.Task(work, loop=heads.deadlines.loop, context=context))

    async def _compute(self) -> None:
        """Respond in the step that has the response: the task's end waits for another turn."""
        response = await self._request.compute(self.trace)
        self._work.remove_done_callback(self._on_done)
        self._heads.deadlines.discard(self)
        # What follows on the connection may be another caller's.
        Context().run(self._respond, lambda: response)

    def _response(self, outcome: Response | None) -> Response | None:
        return outcome


def _digest(parts: list[bytes]) -> bytes:
    """Of the head without the values that vary, which are every third part.

    No part but the last holds an empty line, so different heads make different bytes.
    """
    common = _END.join((*parts[::3], *parts[1::3]))
    return hashlib.blake2b(common, digest_size=_DIGEST_BYTES).digest()
