"""One row of the API: its method and path, who may call it, and what bodies it has."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from gateway.auth.roles import Role
from gateway.http.request.request_context import RequestContext
from gateway.problems import problems
from gateway.settings.groups.limits import SEARCH_BYTES_MAX
from gateway.settings.settings import Settings

RequiredRole: TypeAlias = Literal["anyone", Role, "operator"]
RoomServices = TypeVar("RoomServices")


def body_limit(size_bytes_max: int) -> Callable[[Settings], int]:
    """The same limit under all settings."""
    return lambda _: size_bytes_max


_search_body_limit = body_limit(SEARCH_BYTES_MAX)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A query parameter, by its JSON schema."""

    schema: Mapping[str, Any]
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class Preference:
    """What a caller may ask for by `Prefer`: a header of the response, with this content."""

    summary: str
    header: str
    content: str


@dataclass(frozen=True, slots=True)
class ApiRoute(Generic[RoomServices]):
    """A route; `body` and `answer` are the models of the request's and the response's body, if any.

    is_body_optional: a request without a body means one with all defaults.
    body_type:      the request body's media type, if it differs from the response's.
    stream_type:    the media type of the response while it is streamed.
    queued_answer:  the model of the 202 response to a request that is queued.
    empty_status:   the status of a response without a body, where the route may give none.
    parameters:     query parameters by name.
    path_parameters: those in the path that the table of routes does not know by name.
    render:         turns an exception into a response. error: its model, if not a problem document.
    error_type:     the media type of that model.
    is_generated:   a language model writes the response, under a deadline of its own.
    body_bytes_max: the limit on the request body under the given settings.
    checks_origin:  web pages may call the route from allowed origins only.
    is_resource:    the route is an OAuth resource: web tokens can be for it alone, with scopes. One
        slash at the end of its path is ignored.
    has_preconditions: the route heeds `If-Match` and `If-None-Match`.
    has_etag:       the response has an `ETag`, and the route heeds `If-None-Match` with a 304.
    preferences:    what the route heeds in `Prefer`; None: nothing.
    is_optional:    404 unless the operator has configured it.
    only_reads:     it changes nothing, whatever its method and role.
    is_page:        it is for browsers, and no part of the API.
    """

    method: str
    path: str
    handle: Callable[[RequestContext[RoomServices]], Awaitable[Response]]
    needs: RequiredRole
    summary: str
    body: type[BaseModel] | None = None
    is_body_optional: bool = False
    answer: type[BaseModel] | None = None
    queued_answer: type[BaseModel] | None = None
    status: int = 200
    media_type: str = "application/json"
    body_type: str = ""
    stream_type: str = ""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    path_parameters: Mapping[str, Parameter] = field(default_factory=dict)
    render: Callable[[Request, Exception], Awaitable[Response]] = problems.render
    error: type[BaseModel] | None = None
    error_type: str = "application/json"
    empty_status: int | None = None
    is_generated: bool = False
    body_bytes_max: Callable[[Settings], int] = _search_body_limit
    checks_origin: bool = False
    is_resource: bool = False
    has_preconditions: bool = False
    has_etag: bool = False
    preferences: Mapping[str, Preference] | None = None
    is_optional: bool = False
    only_reads: bool = False
    is_page: bool = False

    @property
    def is_read(self) -> bool:
        """Whether the route only reads or writes little, so that the server's deadline applies."""
        return not self.is_generated and (
            self.only_reads or self.method == "GET" or self.needs == "reader"
        )
