"""Problems rendered in the error format of OpenAI's API."""

import orjson
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from gateway.extension import problems


class ErrorDetail(BaseModel):
    message: str
    type: str = Field(description="kind of the error, as OpenAI names it")
    param: str | None = Field(description="the field that is wrong; null: none")
    code: str | None = Field(description="last part of the problem type, such as `not-found`")


class ErrorAnswer(BaseModel):
    error: ErrorDetail = Field(description="the error in OpenAI's form")


_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


def concerns(request: Request) -> bool:
    """Whether one of OpenAI's clients has sent the request: all of them name their language."""
    return "x-stainless-lang" in request.headers and request.url.path.startswith("/v1/")


async def render(request: Request, error: Exception) -> Response:
    problem = problems.from_exception(error, request.scope["trace"].request_id)
    status = 400 if problem.status == 422 else problem.status  # OpenAI's API answers 400
    kind = "server_error" if status >= 500 else _TYPES.get(status, "invalid_request_error")
    body = {
        "error": {
            "message": problem.text(),
            "type": kind,
            "param": problem.errors[0].field.partition(".")[0] if problem.errors else None,
            "code": problem.kind.replace("-", "_"),
        }
    }
    return Response(
        orjson.dumps(body), status, media_type="application/json", headers=problem.headers
    )
