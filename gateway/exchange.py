"""One call of the API and one exchange of it: what it needs, who came, what they sent."""

import asyncio
import hmac
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar

from pydantic import BaseModel
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from gateway import content, problems, wire
from gateway.jobs_wire import QueuedAnswer
from gateway.load import Counters
from gateway.principal import SUFFICIENT, Admitted, Role, bearer, digest_of
from gateway.services import Services
from gateway.telemetry import Trace
from index import scope
from index.actor import OPERATOR, act_as
from index.principals import Principal
from index.scope import Scope

Needs: TypeAlias = Literal["anyone", Role, "operator"]
Model = TypeVar("Model", bound=BaseModel)

_SECONDS = re.compile(rb"[0-9]{1,6}(\.[0-9]{1,6})?")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a query, by its JSON schema."""

    schema: Mapping[str, Any]
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """One row of the API: `body` and `answer` are the models that travel, if any does.

    body_type: of the body, if it is not the answer's media type.
    stream_type: of the answer, if it is told while it is made.
    later: what answers with 202 if it is queued instead.
    silent: the status with which it takes what has no answer.
    parameters: of the query, by name.
    render: how what goes wrong is told. error: its model, where it isn't always a problem document.
    is_written: by a language model, which has a deadline of its own.
    """

    method: str
    path: str
    handle: "Callable[[Exchange], Awaitable[Response]]"
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

    @property
    def reads(self) -> bool:
        """Whether it only reads, or makes little: then it ends with the server's deadline."""
        return not self.is_written and (self.method == "GET" or self.needs == "reader")


@dataclass(frozen=True, slots=True)
class Exchange:
    call: Call
    request: Request
    services: Services

    @property
    def trace(self) -> Trace:
        trace: Trace = self.request.scope["trace"]
        return trace

    @property
    def credential(self) -> bytes | None:
        """The key or token that came with the request; nobody has looked whose it is."""
        authorization = self.trace.headers.get(b"authorization")
        return None if authorization is None else bearer(authorization)

    @property
    def sender(self) -> bytes | None:
        """The digest of that."""
        credential = self.credential
        return None if credential is None else digest_of(credential)

    @property
    def timeout_s(self) -> float | None:
        """What the caller grants the call, and the server what only reads; None for no end.

        A 422 `Problem` if the caller's header is no number of seconds.
        """
        longest_s = self.services.settings.deadline_s if self.call.reads else None
        given = self.trace.headers.get(b"request-timeout")
        if given is None:
            return longest_s
        if not _SECONDS.fullmatch(given) or float(given) == 0:
            raise problems.invalid_field("Request-Timeout", "must be seconds, such as 2 or 0.5")
        return float(given) if longest_s is None else min(float(given), longest_s)

    @property
    def is_operator(self) -> bool:
        sender, operator = self.sender, self.services.admin_digest
        return sender is not None and operator is not None and hmac.compare_digest(sender, operator)

    async def admit(
        self,
        principal: Principal | None = None,
        *,
        max_staleness_s: float = 0.0,
    ) -> Admitted:
        """Whoever came, as of now; a 401 or 403 `Problem` if that does not suffice for the call.

        principal: who it was when somebody last looked, if that is known; the rest as for the gate.
        """
        gate, load, trace = self.services.gate, self.services.load, self.trace
        if principal is None:
            principal = await self.identify()
        lacking: Counters = ()
        if not trace.tenant:  # a request is counted once, however often it is admitted
            load.begin_of(principal.tenant)
            trace.tenant = principal.tenant
            trace.counters = load.counters(principal)
            lacking = load.spend_at_hand(trace.counters)
        admitting = gate.admit(principal, max_staleness_s=max_staleness_s)
        if lacking:  # Redis and PostgreSQL are asked at once
            admitted, _ = await asyncio.gather(admitting, load.spend(lacking))
        else:
            admitted = await admitting
        if SUFFICIENT[self.call.needs].isdisjoint(admitted.principal.roles):
            raise problems.forbidden(f"This call needs the role {self.call.needs}.")
        act_as(admitted.principal)
        return admitted

    async def identify(self) -> Principal:
        if self.is_operator:
            raise problems.forbidden("The operator's key administers; use a key of the tenant.")
        return await self.services.gate.identify(self.credential)

    async def require_operator(self) -> None:
        if not self.is_operator:
            await self.services.gate.admit(await self.identify())  # a 401 for who holds no key
            raise problems.forbidden("This call needs the operator's key.")
        act_as(OPERATOR)

    async def operator_or_principal(self) -> Principal | None:
        """None for the operator, else whoever came, admitted."""
        if not self.is_operator:
            return (await self.admit()).principal
        act_as(OPERATOR)
        return None

    def cache_headers(self, *headers: tuple[bytes, bytes]) -> tuple[tuple[bytes, bytes], ...]:
        """The headers, which tell how an answer was made; none if the setting hides that."""
        return headers if self.services.settings.cache_status == "on" else ()

    def prefers(self, preference: str) -> bool:
        """Whether a `Prefer` header says so: RFC 7240, section 2."""
        told = ",".join(self.request.headers.getlist("prefer"))
        return preference in {each.partition(";")[0].strip().lower() for each in told.split(",")}

    async def read(self, bytes_max: int) -> bytes:
        """The body, refused if its type is another one or as soon as it is too large."""
        content.check_type(self.call.body_type or self.call.media_type, self.trace.headers)
        received, more = bytearray(), True
        while more:
            message = await self.request.receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            received += message.get("body", b"")
            more = message.get("more_body", False)
            if len(received) > bytes_max:
                raise problems.too_large(bytes_max)
        return bytes(received)

    async def parse(self, model: type[Model], bytes_max: int) -> Model:
        return wire.parse(model, await self.read(bytes_max))


def everything(admitted: Admitted) -> Scope:
    """All that the principal may read, but for its filter."""
    return everything_of(admitted.principal)


def everything_of(principal: Principal) -> Scope:
    return scope.resolve(principal.tenant, principal.subject, principal.groups, principal.scopes)


def answer(body: BaseModel, status: int = 200) -> Response:
    return Response(body.model_dump_json(), status, media_type="application/json")


def queued_body(job_id: str) -> QueuedAnswer:
    return QueuedAnswer(job_id=job_id, status_url=f"/v1/jobs/{job_id}")


def queued(job_id: str) -> Response:
    """What says that it will be done, and where to see how far it is."""
    body = queued_body(job_id)
    accepted = answer(body, 202)
    accepted.headers["Location"] = body.status_url
    return accepted
