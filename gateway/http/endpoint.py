"""One call as it is served: head, caller, body, slot, work.

1. head    what is wrong with the request's path, origin or deadline needs nobody's key
2. caller  a credential that nobody knows is refused before its body is read
3. body    within its deadline, its least rate and the memory for bodies
4. slot    only a request that is all here counts among those that a worker does at once
5. work    the call's own

What fails because of what the client sent counts against the client's address, too.
"""

import hmac
import math
import re
from collections.abc import Awaitable, Callable, Mapping
from ipaddress import ip_address
from urllib.parse import unquote_to_bytes, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gateway import content, problems
from gateway.auth.authenticator import SUFFICIENT, bearer, digest_of
from gateway.http import body
from gateway.http.admission import Slot
from gateway.http.connection import Connection
from gateway.http.request_context import ApiRoute, RequestContext
from gateway.http.telemetry import Trace
from gateway.services import Services
from gateway.settings import Settings, listed
from index.model.audit_actor import OPERATOR, act_as
from index.model.document import UNSTORABLE
from index.tenants.principals import Principal

_SECONDS = re.compile(rb"[0-9]{1,6}(\.[0-9]{1,6})?")
_FAILED = {400, 401, 408, 413, 422}  # for want of a key, or for what the body says


class Endpoint:
    """A call as an ASGI application of its own: no layer stands between it and the server's."""

    def __init__(self, call: ApiRoute, settings: Settings) -> None:
        self._call = call
        self._needs_nobody = call.needs == "anyone"
        self._body_bytes_max = call.body_bytes_max(settings)
        self._sufficient = SUFFICIENT.get(call.needs, frozenset())
        self._longest_s = settings.deadline_s if call.reads else math.inf
        self._origins = {origin.rstrip("/").lower() for origin in listed(settings.mcp_origins)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        trace: Trace = scope["trace"]
        trace.route = self._call.path
        services: Services = scope["state"]["services"]
        request = Request(scope, receive)
        slot = Slot(services.admission)
        try:
            response = await self._response(request, trace, services, slot)
            if trace.counters:
                standing = services.admission.ratelimit_header(trace.counters)
                response.raw_headers.append((b"ratelimit", standing))
            await response(scope, receive, send)
        finally:
            slot.end()

    async def _response(
        self, request: Request, trace: Trace, services: Services, slot: Slot
    ) -> Response:
        try:
            response = await self._answer(request, trace, services, slot)
            if trace.unspent:
                await _spend_rest(trace, services)
        except Exception as error:
            return await refused(request, await _counted(error, trace, services), self._call.render)
        return response

    async def _answer(
        self, request: Request, trace: Trace, services: Services, slot: Slot
    ) -> Response:
        _refuse_unstorable(request.scope)
        if self._call.origins:
            self._refuse_foreign(trace.headers)
        timeout_s = self._timeout_s(trace.headers)
        with services.deadlines.timeout(timeout_s) as deadline:
            if self._needs_nobody:
                return await self._call.handle(
                    RequestContext(self._call, request, services, b"", None, b"")
                )
            credential = bearer(trace.headers.get(b"authorization", b""))
            if credential is None:
                raise problems.unauthorized()
            digest = digest_of(credential)
            principal = services.authenticator.known(digest)
            if principal is None:
                principal = await self._find_caller(credential, digest, services)
            if principal is not None and self._sufficient.isdisjoint(principal.roles):
                await self._refuse_insufficient(principal, services)
            slot.tenant = "" if principal is None else principal.tenant
            if self._call.body is not None:
                content.check_type(self._call.body_type or self._call.media_type, trace.headers)
            sent = self._body_at_hand(request)
            if sent is None:
                sent = await body.read(
                    request,
                    trace.headers.get(b"content-length"),
                    size_bytes_max=self._body_bytes_max,
                    limits=services.body_limits,
                    deadline=deadline,
                    slot=slot,
                )
                deadline.restart(timeout_s)
            slot.begin()
            if principal is not None:
                _count(principal, trace, services)
            return await self._call.handle(
                RequestContext(self._call, request, services, digest, principal, sent)
            )

    def _body_at_hand(self, request: Request) -> bytes | None:
        """The body, if all of it came before anybody had to wait for it; else None."""
        connection: Connection = request.scope["state"]["connection"]
        if not connection.is_proven:  # one on which a caller with a key came gives way no more
            connection.prove()
        sent = connection.whole_body()
        if sent is not None and len(sent) > self._body_bytes_max:
            raise problems.too_large(self._body_bytes_max)
        return sent

    async def _find_caller(
        self, credential: bytes, digest: bytes, services: Services
    ) -> Principal | None:
        """Who came, whom this worker does not know yet; None for the operator.

        A 401 `Problem` for a credential that nobody holds.
        """
        operator = services.admin_digest
        if operator is not None and hmac.compare_digest(digest, operator):
            act_as(OPERATOR)
            return None
        return await services.authenticator.identify(credential, digest)

    async def _refuse_insufficient(self, principal: Principal, services: Services) -> None:
        """A 403 `Problem`, a 401 if the key is gone; unless the principal has what it lacked."""
        now = (await services.authenticator.admit(principal)).principal
        if self._call.needs == "operator":
            raise problems.forbidden("This call needs the operator's key.")
        if self._sufficient.isdisjoint(now.roles):
            raise problems.forbidden(f"This call needs the role {self._call.needs}.")

    def _timeout_s(self, headers: Mapping[bytes, bytes]) -> float:
        """What the caller grants the call, and the server what only reads.

        A 422 `Problem` if the caller's header is no number of seconds.
        """
        given = headers.get(b"request-timeout")
        if given is None:
            return self._longest_s
        if not _SECONDS.fullmatch(given) or float(given) == 0:
            raise problems.invalid_field("Request-Timeout", "must be seconds, such as 2 or 0.5")
        return min(float(given), self._longest_s)

    def _refuse_foreign(self, headers: Mapping[bytes, bytes]) -> None:
        """A 403 `Problem` for a web page that is neither listed nor from here.

        A page from here has an origin that is also the host which the request names. A name that
        leads here may be anybody's (DNS rebinding); an address and `localhost` are not.
        """
        origin = headers.get(b"origin", b"").decode("latin-1").lower()
        if not origin or origin in self._origins:
            return
        try:
            parts = urlsplit(origin)
            host = parts.hostname or ""
        except ValueError:
            raise problems.foreign_origin() from None
        is_named = parts.netloc == headers.get(b"host", b"").decode("latin-1").lower()
        if not (is_named and (host == "localhost" or _is_address(host))):
            raise problems.foreign_origin()


async def refused(
    request: Request,
    error: Exception,
    render: Callable[[Request, Exception], Awaitable[Response]],
) -> Response:
    """What went wrong; a 429 if the client is to blame, and its address has failed too often."""
    response = await render(request, error)
    if response.status_code in _FAILED or isinstance(error, HTTPException):
        services: Services = request.scope["state"]["services"]
        wait_s = services.failures.spend(services.addresses.of(request.scope))
        if wait_s:
            too_many = problems.rate_limited("failed requests of this address", math.ceil(wait_s))
            return await render(request, too_many)
    return response


def _count(principal: Principal, trace: Trace, services: Services) -> None:
    """A request of this principal, with the tokens that this worker has at hand."""
    trace.tenant = principal.tenant
    trace.counters = services.admission.counters(principal)
    trace.unspent = services.admission.spend_at_hand(trace.counters)


async def _spend_rest(trace: Trace, services: Services) -> None:
    """Each request of a principal counts once, whatever comes of it."""
    if trace.unspent:
        unspent, trace.unspent = trace.unspent, ()
        await services.admission.spend(unspent)


async def _counted(error: Exception, trace: Trace, services: Services) -> Exception:
    """What went wrong, which is a 429 `Problem` if the principal has asked too often."""
    try:
        await _spend_rest(trace, services)
    except problems.Problem as too_many:
        return too_many
    return error


def _refuse_unstorable(scope: Scope) -> None:
    """A 422 `Problem` for a path or a query with text that PostgreSQL can't hold.

    A path that is no UTF-8, or ends in a line break, would name something else than was sent.
    Headers come without U+0000: the server's parser refuses it.
    """
    if b"%" in scope["raw_path"]:
        path = _unquoted("path", scope["raw_path"])
        if path.endswith("\n"):
            raise problems.invalid_field("path", "must not end in a line break")
        for name, value in scope.get("path_params", {}).items():
            _check_storable(name, value)
    if b"%" in scope["query_string"]:
        for part in scope["query_string"].split(b"&"):
            name, _, value = part.partition(b"=")
            field = _unquoted("query", name)
            _check_storable("query", field)
            _check_storable(field, _unquoted(field, value))


def _unquoted(field: str, quoted: bytes) -> str:
    try:
        return unquote_to_bytes(quoted).decode()
    except UnicodeDecodeError:
        raise problems.invalid_field(field, "must be UTF-8") from None


def _check_storable(field: str, text: str) -> None:
    if UNSTORABLE.search(text):
        raise problems.invalid_field(field, "must not hold the character U+0000")


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
