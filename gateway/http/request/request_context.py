"""One request as its handler sees it: the caller, the body, and the services of its room."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Generic, TypeVar

from pydantic import BaseModel
from starlette.requests import Request

from common.audit_actor import act_as
from common.shares.threads import TenantThreads
from gateway.auth.authenticated_request import AuthenticatedRequest
from gateway.auth.credentials import bearer
from gateway.auth.freshness import Freshness, MinRevision
from gateway.auth.roles import SUFFICIENT
from gateway.bodies import schemas
from gateway.http.admission import Slot
from gateway.http.http_services import HttpServices
from gateway.http.known_heads import KnownHead, KnownRequest
from gateway.http.telemetry import Trace
from gateway.http.transport.connection import Connection
from gateway.monitoring import tracing
from gateway.problems import problems
from gateway.recording import shown
from index.model import scope
from index.model.scope import Scope
from index.tenants.principals import Principal

Model = TypeVar("Model", bound=BaseModel)
RoomServices_co = TypeVar("RoomServices_co", covariant=True)


@dataclass(frozen=True, slots=True)
class RequestContext(Generic[RoomServices_co]):
    """A request whose head, caller and body have been checked.

    needs:    the role that the route needs; `anyone` and `operator` are no roles of a principal.
    services: of the handler's room.
    digest:   of the credential; empty if the route needs none.
    caller:   the principal as it was last read; None for the operator, and if the route needs none.
    slot:     what the request holds of its worker.
    min_revision: that the answer has to be correct at; None if the caller names none.
    """

    needs: str
    request: Request
    http: HttpServices
    services: RoomServices_co
    digest: bytes
    caller: Principal | None
    body: bytes
    slot: Slot
    min_revision: MinRevision | None = None

    @property
    def trace(self) -> Trace:
        trace: Trace = self.request.scope["trace"]
        return trace

    @property
    def principal(self) -> Principal:
        """The caller as last read; a 403 `Problem` for the operator."""
        if self.caller is None:
            raise problems.forbidden("The operator's key administers; use a key of the tenant.")
        return self.caller

    @property
    def is_operator(self) -> bool:
        return self.caller is None and self.needs != "anyone"

    async def authenticate(
        self, principal: Principal | None = None, freshness: Freshness | None = None
    ) -> AuthenticatedRequest:
        """The caller as it is now; a 401 or 403 `Problem` if it may not call the route any more.

        principal: the caller, if it was read again since the request began.
        freshness: of a search; every other route reads the caller's rights from the primary.
        """
        trace = self.trace
        confirmation = self.http.authenticator.confirm(
            principal or self.principal, freshness or Freshness(min_revision=self.min_revision)
        )
        if trace.unspent:  # Redis and PostgreSQL are asked concurrently
            unspent, trace.unspent = trace.unspent, ()
            admitted, _ = await asyncio.gather(confirmation, self.http.admission.spend(unspent))
        else:
            admitted = await confirmation
        if SUFFICIENT[self.needs].isdisjoint(admitted.principal.roles):
            raise problems.forbidden(f"This call needs the role {self.needs}.")
        act_as(admitted.principal)
        shows = shown.CURRENT.get()
        if shows is not None and shows.admitted is None:
            shows.admitted = admitted
        return admitted

    def span(self, name: str) -> AbstractContextManager[None]:
        """A span of the request's trace, if it is traced, for the time of the block."""
        return tracing.span(self.http.tracing, name)

    def remember(self, principal: Principal, read: Callable[[bytes], KnownRequest | None]) -> None:
        """Let `read` read the bodies of the next requests with an equal head; see `KnownHead`."""
        trace = self.trace
        if b"request-timeout" in trace.headers or principal.issuer_key is not None:
            return  # both have to be checked anew
        connection: Connection = self.request.scope["state"]["connection"]
        connection.remember(KnownHead(self.request.method, trace.route, principal, read))

    async def identify(self) -> Principal:
        """The caller, read again if it has changed since the request began."""
        credential = bearer(self.trace.headers.get(b"authorization", b""))
        if self.is_operator or credential is None:
            return self.principal
        address = self.http.addresses.network_of(self.request.scope)
        return await self.http.authenticator.identify(credential, self.digest, address)

    async def operator_or_principal(self) -> Principal | None:
        """None for the operator, else the authenticated caller."""
        return None if self.is_operator else (await self.authenticate()).principal

    async def spend(self, requests: int) -> None:
        """Count further requests of the caller; a 429 `Problem` if its rate limit is reached."""
        await self.http.admission.spend(self.trace.counters, requests)

    def prefers(self, preference: str) -> bool:
        """Whether a `Prefer` header has the preference: RFC 7240, section 2."""
        preferences = ",".join(self.request.headers.getlist("prefer"))
        return preference in {
            item.partition(";")[0].strip().lower() for item in preferences.split(",")
        }

    @property
    def threads(self) -> TenantThreads:
        """For what takes as long as what the caller sends."""
        return self.http.threads.of(self.slot.tenant)

    async def parse_body(self, model: type[Model]) -> Model:
        """The body as the model; a 400 or 422 `Problem` if it does not fit."""
        (parsed,) = await self.threads.map(partial(schemas.parse, model), [self.body])
        return parsed

    def day_parameter(self, name: str, default: date) -> date:
        """The day that a query parameter names; a 422 `Problem` if it names none."""
        text = self.request.query_params.get(name)
        if text is None:
            return default
        try:
            return date.fromisoformat(text)
        except ValueError:
            raise problems.invalid_field(name, "must be a day, as YYYY-MM-DD") from None


def full_scope(admitted: AuthenticatedRequest) -> Scope:
    """All that the principal may read, apart from its filter."""
    return full_scope_of(admitted.principal)


def full_scope_of(principal: Principal) -> Scope:
    return scope.resolve(
        principal.tenant,
        principal.subject,
        principal.groups,
        principal.scopes,
        receives_public=principal.receives_public,
    )
