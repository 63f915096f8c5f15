"""`GET /`: what answers at this address, and where to go on."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic import Field, create_model
from starlette.responses import Response

from common.version import VERSION
from gateway.bodies.schemas import Body
from gateway.http.request.request_context import RequestContext
from gateway.http.responses import json_response


class RootAnswer(Body):
    name: str = Field(default="nearhit", description="name of the software")
    version: str = Field(default=VERSION, description="its version")
    purpose: str = Field(
        default="a search gateway for AI agents: it answers from what the caller may read",
        description="what it does",
    )
    authentication: str = Field(
        default="Authorization: Bearer KEY", description="the header that other calls need"
    )
    search: str = Field(default="POST /v1/search", description="the call to begin with")
    caller: str = Field(default="/v1/caller", description="path that tells whose key it is")


def answer_with(fields: Mapping[str, Any]) -> type[RootAnswer]:
    """The answer with these further fields, which extensions bring."""
    return create_model(RootAnswer.__name__, __base__=RootAnswer, **fields)


def answering(
    answer: RootAnswer, home: str
) -> Callable[[RequestContext[object]], Awaitable[Response]]:
    """home: the page that a browser is led to, if there is one."""

    async def get_root(context: RequestContext[object]) -> Response:
        accepted = context.request.headers.get("accept", "")
        if home and "text/html" in accepted:
            return Response(status_code=303, headers={"Location": home, "Vary": "Accept"})
        response = json_response(answer)
        response.headers["Vary"] = "Accept"
        return response

    return get_root
