"""Answers a request that came before in the same bytes, without parsing it again.

Agents repeat requests byte for byte. Equal bytes have the same head, credential and body, so all
that is known of the first request holds for the next: only the caller, the revision, the limits and
the answer itself are checked anew. A repeat is answered from memory; in any other case it takes the
usual way through the application, which also gives all refusals.
"""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import structlog
from starlette.responses import Response

from common.shares.cache import FairCache
from gateway.auth.authenticator import AuthenticatedRequest, Authenticator
from gateway.auth.freshness import Freshness
from gateway.auth.rights_as_of import RightsAsOf
from gateway.http.admission import AdmissionControl
from gateway.http.deadlines import Deadlines
from gateway.http.telemetry import RequestRecorder, Trace
from gateway.problems import Problem
from index.errors import DatabaseUnavailable
from index.tenants.principals import Principal
from index.tenants.tenant_store import TenantRevisions

REQUEST_BYTES_MAX = 4_096
_REQUESTS_MAX = 2_000  # 2 KB each, at most 28; a starting value, not measured
_DIGEST_BYTES = 32  # the bytes hold a credential, so only their digest is kept
# For the revision, which the other side of the world may send; then the usual way, which reads it
# again, has the route's whole deadline.
_WAIT_S_MAX = 0.3
_PAUSE_S = 1.0  # after that: a slow database would delay each repeat by the wait

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class RepeatableRequest:
    """What is known of a request that was answered.

    request_id: that the client gave; empty if each request gets a new one.
    freshness:  what it asks for; equal bytes name the same revision in their head.
    answer:     the response from memory, or None; called with the caller as it is now.
    """

    method: str
    route: str
    request_id: str
    principal: Principal
    freshness: Freshness
    answer: Callable[[Trace, AuthenticatedRequest], Response | None]


# Receives the response, or None if the request has to take the usual way.
OnResponse = Callable[[Response | None], None]


class Repeats:
    """The requests of one worker that were answered, by the digest of their bytes."""

    def __init__(
        self,
        authenticator: Authenticator,
        admission: AdmissionControl,
        deadlines: Deadlines,
        recorder: RequestRecorder,
        rights_as_of: RightsAsOf,
    ) -> None:
        self.authenticator = authenticator
        self.admission = admission
        self.deadlines = deadlines
        self.recorder = recorder
        self.rights_as_of = rights_as_of
        self._requests: FairCache[bytes, RepeatableRequest] = FairCache(_REQUESTS_MAX)
        self._resumes_s = 0.0

    def remember(self, received: bytes, request: RepeatableRequest) -> None:
        """Remember an answered request. received: all of its bytes, and no others."""
        self._requests.put(request.principal.tenant, _digest(received), request)

    def find(self, received: bytes) -> RepeatableRequest | None:
        if len(received) > REQUEST_BYTES_MAX or self._resumes_s > self.deadlines.loop.time():
            return None
        return self._requests.get(_digest(received))

    def pause(self) -> None:
        """Find nothing for some time."""
        self._resumes_s = self.deadlines.loop.time() + _PAUSE_S

    def answer(self, request: RepeatableRequest, trace: Trace, on_response: OnResponse) -> None:
        """Call `on_response` once, now or as soon as the revision has been read."""
        _Repeat(self, request, trace, on_response).begin()


class _Repeat:
    """One repeat, while the revision is read, if it has to be."""

    __slots__ = (
        "_counters", "_on_response", "_reading", "_repeats", "_request", "_trace", "ends_s",
    )  # fmt: skip

    def __init__(
        self, repeats: Repeats, request: RepeatableRequest, trace: Trace, on_response: OnResponse
    ) -> None:
        self._repeats = repeats
        self._request = request
        self._trace = trace
        self._on_response = on_response

    def begin(self) -> None:
        repeats, principal = self._repeats, self._request.principal
        freshness = self._request.freshness
        self._trace.rights_as_of = repeats.rights_as_of.headers.get(principal.tenant)
        try:
            self._counters = repeats.admission.counters(principal)
            if not self._may_begin():
                self._on_response(None)
                return
            recalled = repeats.authenticator.recall(principal, freshness)
            repeats.admission.begin(principal.tenant)
        except Problem:  # the usual way gives it
            self._on_response(None)
            return
        if recalled is not None:
            repeats.admission.end(principal.tenant)
            self._respond(lambda: recalled)
            return
        self._reading = repeats.authenticator.read_revisions(principal, freshness)
        self._reading.add_done_callback(self._on_revisions)
        self.ends_s = repeats.deadlines.loop.time() + _WAIT_S_MAX
        repeats.deadlines.add(self)

    def _may_begin(self) -> bool:
        """Whether the caller is still known and has tokens, before a far revision is read."""
        repeats, principal = self._repeats, self._request.principal
        is_known = repeats.authenticator.known(principal.digest) is principal
        return is_known and repeats.admission.has_local(self._counters)

    def end(self) -> None:
        """The revision has not been read in time."""
        self._repeats.pause()
        self._reading.cancel()

    def _on_revisions(self, reading: "asyncio.Future[Mapping[str, TenantRevisions]]") -> None:
        repeats, request = self._repeats, self._request
        repeats.deadlines.discard(self)
        repeats.admission.end(request.principal.tenant)
        self._respond(
            lambda: repeats.authenticator.admit(
                request.principal, reading.result(), request.freshness
            )
        )

    def _respond(self, admit: Callable[[], AuthenticatedRequest | None]) -> None:
        response = None
        try:
            response = self._answer(admit())
        except (asyncio.CancelledError, DatabaseUnavailable, Problem):
            pass  # the usual way meets it again, and tells the client
        except Exception:
            log.exception("repeat")
        self._on_response(response)
        if response is not None:
            self._trace.status = response.status_code
            self._repeats.recorder.record(self._request.method, self._trace)

    def _answer(self, admitted: AuthenticatedRequest | None) -> Response | None:
        request, trace, admission = self._request, self._trace, self._repeats.admission
        counters = self._counters
        if admitted is None or not admission.has_local(counters):
            return None
        response = request.answer(trace, admitted)
        if response is not None:
            admission.spend_local(counters)
            trace.route, trace.tenant = request.route, request.principal.tenant
            if counters:
                response.raw_headers.append((b"ratelimit", admission.ratelimit_header(counters)))
            if trace.rights_as_of is not None:
                response.raw_headers.append(trace.rights_as_of)
        return response


def _digest(received: bytes) -> bytes:
    return hashlib.blake2b(received, digest_size=_DIGEST_BYTES).digest()
