"""One call of the API and one exchange of it: what it needs, who came, what they sent."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from gateway import problems, schemas
from gateway.admin.job_schemas import QueuedAnswer
from gateway.auth.authenticator import SUFFICIENT, AuthenticatedRequest, Role, bearer
from gateway.http.telemetry import Trace
from gateway.services import Services
from gateway.settings import Settings
from index.model import scope
from index.model.audit_actor import act_as
from index.model.scope import Scope
from index.tenants.principals import Principal

Needs: TypeAlias = Literal["anyone", Role, "operator"]
Model = TypeVar("Model", bound=BaseModel)


def body_of_a_search(settings: Settings) -> int:
    return settings.search_bytes_max


def body_of(size_bytes_max: int) -> Callable[[Settings], int]:
    """The same, whatever the settings."""
    return lambda _: size_bytes_max


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a query, by its JSON schema."""

    schema: Mapping[str, Any]
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class ApiRoute:
    """One row of the API: `body` and `answer` are the models that travel, if any does.

    body_type: of the body, if it is not the answer's media type.
    stream_type: of the answer, if it is told while it is made.
    later: what answers with 202 if it is queued instead.
    silent: the status with which it takes what has no answer.
    parameters: of the query, by name.
    render: how what goes wrong is told. error: its model, where it isn't always a problem document.
    is_written: by a language model, which has a deadline of its own.
    body_bytes_max: of the body, with these settings.
    origins: whether web pages may call it of listed origins alone.
    """

    method: str
    path: str
    handle: "Callable[[RequestContext], Awaitable[Response]]"
    needs: Needs
    summary: str
    body: type[BaseModel] | None = None
    answer: type[BaseModel] | None = None
    later: type[BaseModel] | None = None
    status: int = 200
    media_type: str = "application/json"
    body_type: str = ""
    stream_type: str = ""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    render: "Callable[[Request, Exception], Awaitable[Response]]" = problems.render
    error: type[BaseModel] | None = None
    silent: int | None = None
    is_written: bool = False
    body_bytes_max: Callable[[Settings], int] = body_of_a_search
    origins: bool = False

    @property
    def reads(self) -> bool:
        """Whether it only reads, or makes little: then it ends with the server's deadline."""
        return not self.is_written and (self.method == "GET" or self.needs == "reader")


@dataclass(frozen=True, slots=True)
class RequestContext:
    """digest: of the credential, empty where a call needs nobody.

    caller: as it was when somebody last looked; None for the operator, and where a call needs
    nobody.
    """

    call: ApiRoute
    request: Request
    services: Services
    digest: bytes
    caller: Principal | None
    body: bytes

    @property
    def trace(self) -> Trace:
        trace: Trace = self.request.scope["trace"]
        return trace

    @property
    def principal(self) -> Principal:
        """Who came, as of some time ago; a 403 `Problem` if it is the operator."""
        if self.caller is None:
            raise problems.forbidden("The operator's key administers; use a key of the tenant.")
        return self.caller

    @property
    def is_operator(self) -> bool:
        return self.caller is None and self.call.needs != "anyone"

    async def authenticate(
        self,
        principal: Principal | None = None,
        *,
        max_staleness_s: float = 0.0,
    ) -> AuthenticatedRequest:
        """Who came, as of now; a 401 or 403 `Problem` if that does not suffice for the call.

        principal: who it was when somebody last looked, if that was later than at the beginning;
        the rest as for the gate.
        """
        trace = self.trace
        admitting = self.services.authenticator.admit(
            principal or self.principal, max_staleness_s=max_staleness_s
        )
        if trace.unspent:  # Redis and PostgreSQL are asked at once
            unspent, trace.unspent = trace.unspent, ()
            admitted, _ = await asyncio.gather(admitting, self.services.admission.spend(unspent))
        else:
            admitted = await admitting
        if SUFFICIENT[self.call.needs].isdisjoint(admitted.principal.roles):
            raise problems.forbidden(f"This call needs the role {self.call.needs}.")
        act_as(admitted.principal)
        return admitted

    async def identify(self) -> Principal:
        """Who came, as somebody has looked since the beginning."""
        credential = bearer(self.trace.headers.get(b"authorization", b""))
        if self.is_operator or credential is None:
            return self.principal
        return await self.services.authenticator.identify(credential, self.digest)

    async def operator_or_principal(self) -> Principal | None:
        """None for the operator, else whoever came, admitted."""
        return None if self.is_operator else (await self.authenticate()).principal

    def cache_headers(self, *headers: tuple[bytes, bytes]) -> tuple[tuple[bytes, bytes], ...]:
        """The headers, which tell how an answer was made; none if the setting hides that."""
        return headers if self.services.settings.cache_status == "on" else ()

    def prefers(self, preference: str) -> bool:
        """Whether a `Prefer` header says so: RFC 7240, section 2."""
        told = ",".join(self.request.headers.getlist("prefer"))
        return preference in {each.partition(";")[0].strip().lower() for each in told.split(",")}

    def parse_body(self, model: type[Model]) -> Model:
        """The body as what the model describes; a 400 or 422 `Problem` if it is no such thing."""
        return schemas.parse(model, self.body)


def full_scope(admitted: AuthenticatedRequest) -> Scope:
    """All that the principal may read, but for its filter."""
    return full_scope_of(admitted.principal)


def full_scope_of(principal: Principal) -> Scope:
    return scope.resolve(principal.tenant, principal.subject, principal.groups, principal.scopes)


def json_response(body: BaseModel, status: int = 200) -> Response:
    return Response(body.model_dump_json(), status, media_type="application/json")


def queued_body(job_id: str) -> QueuedAnswer:
    return QueuedAnswer(job_id=job_id, status_url=f"/v1/jobs/{job_id}")


def queued_response(job_id: str) -> Response:
    """What says that it will be done, and where to see how far it is."""
    body = queued_body(job_id)
    accepted = json_response(body, 202)
    accepted.headers["Location"] = body.status_url
    return accepted
