"""One call of the API and one exchange of it: what it needs, who came, what they sent."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from gateway import problems, wire
from gateway.principal import Admitted, is_operator
from gateway.services import Services
from gateway.telemetry import Trace
from index import scope
from index.scope import Scope

Needs: TypeAlias = Literal["anyone", "reader", "writer", "admin", "operator"]
Model = TypeVar("Model", bound=BaseModel)

# A role can do what those before it can; the operator administers and reads nothing.
_SUFFICIENT = {
    "reader": {"reader", "writer", "admin"},
    "writer": {"writer", "admin"},
    "admin": {"admin"},
}


@dataclass(frozen=True, slots=True)
class Call:
    """One row of the API: `body` and `answer` are the models that travel, if any does."""

    method: str
    path: str
    handle: "Callable[[Exchange], Awaitable[Response]]"
    needs: Needs
    summary: str
    body: type[BaseModel] | None = None
    answer: type[BaseModel] | None = None
    status: int = 200
    media_type: str = "application/json"
    parameters: tuple[str, ...] = ()


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
    def is_operator(self) -> bool:
        return is_operator(self._authorization, self.services.admin_key)

    @property
    def _authorization(self) -> str | None:
        return self.request.headers.get("authorization")

    async def admit(self, *, max_staleness_s: float = 0.0) -> Admitted:
        """Whoever came, as of now; a 401 or 403 `Problem` if that does not suffice for the call."""
        if self.is_operator:
            raise problems.forbidden("The operator's key administers; use a key of the tenant.")
        gate = self.services.gate
        digest = await gate.identify(self._authorization)
        admitted = await gate.admit(digest, max_staleness_s=max_staleness_s)
        self.trace.tenant = admitted.holder.tenant
        if _SUFFICIENT[self.call.needs].isdisjoint(admitted.holder.roles):
            raise problems.forbidden(f"This call needs the role {self.call.needs}.")
        return admitted

    def require_operator(self) -> None:
        if not self.is_operator:
            raise problems.unauthorized()

    async def read(self, bytes_max: int) -> bytes:
        """The body, refused as soon as it is known to be too large."""
        if int(self.request.headers.get("content-length", "0")) > bytes_max:
            raise problems.too_large(bytes_max)
        received = bytearray()
        async for piece in self.request.stream():
            received += piece
            if len(received) > bytes_max:
                raise problems.too_large(bytes_max)
        return bytes(received)

    async def parse(self, model: type[Model], bytes_max: int) -> Model:
        return wire.parse(model, await self.read(bytes_max))


def everything(admitted: Admitted) -> Scope:
    """All that the principal may read."""
    holder = admitted.holder
    return scope.everything(holder.tenant, holder.subject, holder.groups)


def answer(body: BaseModel, status: int = 200) -> Response:
    return Response(body.model_dump_json(), status, media_type="application/json")
