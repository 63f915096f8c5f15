"""Problems rendered as errors of SCIM: RFC 7644, section 3.12."""

from typing import Literal, TypeAlias

import orjson
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from starlette.requests import Request
from starlette.responses import Response

from gateway.extension import problems

MEDIA_TYPE = "application/scim+json"
_ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
ScimType: TypeAlias = Literal[
    "invalidFilter", "invalidPath", "invalidSyntax", "invalidValue", "mutability", "noTarget",
    "tooMany", "uniqueness",
]  # fmt: skip


class ProvisioningRefused(Exception):
    """Nothing was changed: a user or group can't be as the identity provider asks."""

    def __init__(self, scim_type: ScimType, detail: str) -> None:
        super().__init__(detail)
        self.scim_type = scim_type


class ScimErrorAnswer(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)

    schemas: list[str]
    status: str = Field(description="the HTTP status, as a string")
    detail: str
    scim_type: ScimType | None = Field(
        None, description="kind of the error, as RFC 7644 names it; null: none of these"
    )


def invalid(scim_type: ScimType, detail: str) -> problems.Problem:
    """A 400 `Problem` with the type that SCIM gives it."""
    return problems.Problem(400, "scim", detail, members={"scimType": scim_type})


async def render(request: Request, error: Exception) -> Response:
    if isinstance(error, ProvisioningRefused):
        status = 409 if error.scim_type == "uniqueness" else 400
        return _response(status, str(error), error.scim_type)
    problem = problems.from_exception(error, request.scope["trace"].request_id)
    status = 400 if problem.status == 422 else problem.status
    response = _response(status, problem.text(), _scim_type(problem))
    response.headers.update(problem.headers or {})
    return response


def _scim_type(problem: problems.Problem) -> object:
    if problem.status == 422:
        return "invalidValue"
    if problem.kind == "malformed-body":
        return "invalidSyntax"
    return (problem.members or {}).get("scimType")


def _response(status: int, detail: str, scim_type: object) -> Response:
    body = {"schemas": [_ERROR], "status": str(status), "detail": detail}
    if scim_type is not None:
        body["scimType"] = str(scim_type)
    return Response(orjson.dumps(body), status, media_type=MEDIA_TYPE)
