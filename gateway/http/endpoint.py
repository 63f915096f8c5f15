"""Serves one route: head, caller, body, slot, handler.

1. head     path, query, origin, deadline and least revision are checked before anything else
2. caller   an unknown credential is refused before its body is read
3. body     read under a deadline, a least rate and the limit on memory for bodies
4. slot     only a request that has arrived whole counts against the worker's concurrency
5. handler  of the route's room
6. rights   of a caller that has waited are confirmed; if they have changed, the handler runs again

A failure that the client has caused also counts against the client's address.
"""

import hmac
import math
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from common.audit_actor import OPERATOR, UNKNOWN, act_as
from common.shares.turns import take_turns
from gateway.auth import protected_resource
from gateway.auth.authenticator import digest_of
from gateway.auth.credentials import bearer
from gateway.auth.freshness import MinRevision, parse_min_revision
from gateway.auth.roles import SUFFICIENT
from gateway.bodies import content
from gateway.http.admission import Slot
from gateway.http.event_stream import EventStream
from gateway.http.http_services import HttpServices
from gateway.http.request import body, request_url
from gateway.http.request.request_context import RequestContext
from gateway.http.revalidation import make_confirmed
from gateway.http.route import ApiRoute
from gateway.http.telemetry import Trace
from gateway.http.transport.connection import Connection
from gateway.problems import problems
from gateway.recording.shown import Shown
from gateway.settings.groups.lists import listed
from gateway.settings.settings import Settings
from index.tenants.principals import Claims, Principal

_SECONDS = re.compile(rb"[0-9]{1,6}(\.[0-9]{1,6})?")
_CLIENT_FAILURES = {400, 401, 408, 413, 422}


class Endpoint:
    """A route as an ASGI application; the server calls it without a layer in between.

    room: picks the services of the handler's room out of the worker's.
    """

    def __init__(
        self, route: ApiRoute[Any], settings: Settings, room: Callable[[Any], Any]
    ) -> None:
        self._route = route
        self._room = room
        self._is_open_to_anyone = route.needs == "anyone"
        self._body_bytes_max = route.body_bytes_max(settings)
        self._sufficient_roles = SUFFICIENT.get(route.needs, frozenset())
        self._timeout_s_max = settings.deadline_s if route.is_read else math.inf
        self._is_confirmed = route.is_read or route.is_generated
        self._only_reads = route.only_reads or route.method == "GET"
        self._parameters = request_url.known_parameters(route)
        self._resource = protected_resource.build(settings) if route.is_resource else None
        self._origins = {origin.rstrip("/").lower() for origin in listed(settings.mcp_origins)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        http: HttpServices = scope["state"]["http"]
        connection: Connection = scope["state"]["connection"]
        slot = Slot(http.admission, connection.tenant, connection.peer)
        await take_turns(slot, self._serve(slot, http, scope, receive, send))

    async def _serve(
        self, slot: Slot, http: HttpServices, scope: Scope, receive: Receive, send: Send
    ) -> None:
        trace: Trace = scope["trace"]
        trace.route = self._route.path
        request = Request(scope, receive)
        connection: Connection = scope["state"]["connection"]
        await connection.drain()  # this answer must not wait behind the one before
        try:
            response = await self._respond(request, trace, http, slot)
            if trace.counters:
                header = http.admission.ratelimit_header(trace.counters)
                response.raw_headers.append((b"ratelimit", header))
            if trace.rights_as_of is not None:
                response.raw_headers.append(trace.rights_as_of)
            await response(scope, receive, send)
        finally:
            slot.end()

    async def _respond(
        self, request: Request, trace: Trace, http: HttpServices, slot: Slot
    ) -> Response:
        try:
            response = await self._handle(request, trace, http, slot)
            if isinstance(response, EventStream) and response.is_long_lived:
                slot.begin_stream()
            if trace.unspent:
                await _spend_rest(trace, http)
        except Exception as error:
            if isinstance(error, problems.Problem) and error.status in (401, 403):
                self._record_denial(error, request.method, trace, http)
            error = await _counted(error, trace, http)
            response = await refuse(request, error, self._route.render)
            if self._resource is not None and response.status_code in (401, 403):
                self._resource.add_challenge(response, error, trace.headers)
        return response

    async def _handle(
        self, request: Request, trace: Trace, http: HttpServices, slot: Slot
    ) -> Response:
        request_url.check(request, self._parameters)
        if self._route.checks_origin:
            self._refuse_foreign(trace.headers)
        timeout_s = self._timeout_s(trace.headers)
        with http.deadlines.timeout(timeout_s) as deadline:
            if self._is_open_to_anyone:
                context = self._context(request, http, b"", None, b"", slot)
                return await self._route.handle(context)
            min_revision = parse_min_revision(trace.headers.get(b"nearhit-min-revision"))
            credential = bearer(trace.headers.get(b"authorization", b""))
            if credential is None:
                raise problems.unauthorized()
            digest = digest_of(credential)
            trace.digest = digest
            principal = http.authenticator.known(digest)
            if principal is None:
                principal = await self._find_principal(credential, digest, request, http)
            trace.principal = principal
            if principal is not None and principal.claims is not None:
                self._check_web_token(principal.claims)
            if principal is not None and self._sufficient_roles.isdisjoint(principal.roles):
                await self._refuse_insufficient(principal, http)
            slot.tenant = "" if principal is None else principal.tenant
            if self._route.body is not None:
                content.check_type(self._route.body_type or self._route.media_type, trace.headers)
            connection: Connection = request.scope["state"]["connection"]
            connection.prove(slot.tenant)
            sent = self._body_at_hand(connection)
            if sent is None:
                sent = await body.read(
                    request,
                    trace.headers.get(b"content-length"),
                    size_bytes_max=self._body_bytes_max,
                    deadline=deadline,
                    slot=slot,
                )
                deadline.restart(timeout_s)
            slot.begin()
            if principal is not None:
                _count(principal, trace, http)
            context = self._context(request, http, digest, principal, sent, slot, min_revision)
            return await self._handle_confirmed(context)

    async def _handle_confirmed(self, context: RequestContext[Any]) -> Response:
        """The handler's response; once more if its caller may not be shown it any more."""
        if not self._is_confirmed or context.caller is None:
            return await self._route.handle(context)
        make = partial(self._route.handle, context)
        return await make_confirmed(context, make, self._needs_confirmation)

    def _needs_confirmation(self, shows: Shown) -> bool:
        """Not if a text is written, which is confirmed meanwhile, or something else was written."""
        return not self._route.is_generated and (self._only_reads or bool(shows.readers()))

    def _context(
        self,
        request: Request,
        http: HttpServices,
        digest: bytes,
        principal: Principal | None,
        sent: bytes,
        slot: Slot,
        min_revision: MinRevision | None = None,
    ) -> RequestContext[Any]:
        services = self._room(request.scope["state"]["services"])
        return RequestContext(
            self._route.needs, request, http, services, digest, principal, sent, slot, min_revision
        )

    def _body_at_hand(self, connection: Connection) -> bytes | None:
        """The body if all of it has arrived with the head; else None."""
        sent = connection.buffered_body()
        if sent is not None and len(sent) > self._body_bytes_max:
            raise problems.too_large(self._body_bytes_max)
        return sent

    async def _find_principal(
        self, credential: bytes, digest: bytes, request: Request, http: HttpServices
    ) -> Principal | None:
        """The caller, whom this worker does not know yet; None for the operator.

        A 401 `Problem` for an unknown credential.
        """
        operator = http.operator_digest
        if operator is not None and hmac.compare_digest(digest, operator):
            act_as(OPERATOR)
            return None
        address = http.addresses.network_of(request.scope)
        return await http.authenticator.identify(credential, digest, address)

    def _check_web_token(self, claims: Claims) -> None:
        """A 401 `Problem` for a web token of another resource, a 403 for one without the scopes."""
        if claims.is_mcp_only and not self._route.is_resource:
            raise problems.unauthorized("Invalid web token: its audience is /mcp alone.")
        if self._resource is not None and not claims.has_mcp_scopes:
            raise problems.insufficient_scope(self._resource.scopes)

    async def _refuse_insufficient(self, principal: Principal, http: HttpServices) -> None:
        """A 403 `Problem`, or a 401 for a revoked key; unless the caller has the role by now."""
        now = (await http.authenticator.confirm(principal)).principal
        if self._route.needs == "operator":
            raise problems.forbidden("This call needs the operator's key.")
        if self._sufficient_roles.isdisjoint(now.roles):
            raise problems.forbidden(f"This call needs the role {self._route.needs}.")

    def _record_denial(
        self, error: problems.Problem, method: str, trace: Trace, http: HttpServices
    ) -> None:
        if http.denials is None:
            return
        route, principal = f"{method} {self._route.path}", trace.principal
        if error.status == 401 and trace.digest:
            http.denials.add_credential(trace.digest, route)
        elif principal is None:
            is_operator = trace.digest != b"" and trace.digest == http.operator_digest
            reason = "no-credential" if error.status == 401 else error.kind
            http.denials.add_stranger(OPERATOR if is_operator else UNKNOWN, reason, route)
        else:
            lacks_role = self._sufficient_roles.isdisjoint(principal.roles)
            http.denials.add(principal, "missing-role" if lacks_role else error.kind, route)

    def _timeout_s(self, headers: Mapping[bytes, bytes]) -> float:
        """The shorter of the caller's `Request-Timeout` and the route's own limit.

        A 422 `Problem` if the header is not a number of seconds.
        """
        header = headers.get(b"request-timeout")
        if header is None:
            return self._timeout_s_max
        if not _SECONDS.fullmatch(header) or float(header) == 0:
            raise problems.invalid_field("Request-Timeout", "must be seconds, such as 2 or 0.5")
        return min(float(header), self._timeout_s_max)

    def _refuse_foreign(self, headers: Mapping[bytes, bytes]) -> None:
        """A 403 `Problem` for a web page whose origin is neither listed nor this gateway's own.

        A page of this gateway has an origin that equals the request's host. Only an address or
        `localhost` counts as such: a name may be an attacker's (DNS rebinding).
        """
        origin = headers.get(b"origin", b"").decode("latin-1").lower()
        if not origin or origin in self._origins:
            return
        try:
            parts = urlsplit(origin)
            host = parts.hostname or ""
        except ValueError:
            raise problems.origin_not_allowed() from None
        is_same_host = parts.netloc == headers.get(b"host", b"").decode("latin-1").lower()
        if not (is_same_host and (host == "localhost" or _is_address(host))):
            raise problems.origin_not_allowed()


async def refuse(
    request: Request,
    error: Exception,
    render: Callable[[Request, Exception], Awaitable[Response]],
) -> Response:
    """The response to a failure; a 429 if the client has caused it, and its address too many."""
    response = await render(request, error)
    if response.status_code in _CLIENT_FAILURES or isinstance(error, HTTPException):
        http: HttpServices = request.scope["state"]["http"]
        wait_s = http.failures.spend(http.addresses.network_of(request.scope))
        if wait_s:
            too_many = problems.rate_limited("failed requests of this address", math.ceil(wait_s))
            return await render(request, too_many)
    return response


def _count(principal: Principal, trace: Trace, http: HttpServices) -> None:
    """Count the request against the principal's rate limits, with tokens that the worker holds."""
    trace.tenant = principal.tenant
    trace.rights_as_of = http.rights_as_of.get(principal.tenant)
    trace.counters = http.admission.counters(principal)
    trace.unspent = http.admission.spend_local(trace.counters)


async def _spend_rest(trace: Trace, http: HttpServices) -> None:
    """Count the request where that is still to be done: each counts once, even if it fails."""
    if trace.unspent:
        unspent, trace.unspent = trace.unspent, ()
        await http.admission.spend(unspent)


async def _counted(error: Exception, trace: Trace, http: HttpServices) -> Exception:
    """The error, or a 429 `Problem` if counting the request shows that its limit is reached."""
    try:
        await _spend_rest(trace, http)
    except problems.Problem as too_many:
        return too_many
    return error


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
