"""The protocol's server, which also answers methods that it does not announce, with nothing.

Many clients call them without a look at the capabilities, and give up a server that has an error.
"""

from collections.abc import Mapping
from typing import Any

from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import HandlerEntry
from mcp_types import (
    CompleteRequestParams,
    CompleteResult,
    Completion,
    EmptyResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    Result,
    SetLevelRequestParams,
    SubscribeRequestParams,
    UnsubscribeRequestParams,
)
from pydantic import BaseModel


def _entry(params: type[BaseModel], result: Result) -> HandlerEntry[Any]:
    async def answer(_: ServerRequestContext[Any], __: BaseModel) -> Result:
        return result

    return HandlerEntry(params, answer)


# A version that lacks one of these methods refuses it before it is looked up. What is subscribed to
# is never reported: the versions that have the method report it on a stream that is not offered.
_UNANNOUNCED: Mapping[str, HandlerEntry[Any]] = {
    "prompts/list": _entry(PaginatedRequestParams, ListPromptsResult(prompts=[])),
    "resources/list": _entry(PaginatedRequestParams, ListResourcesResult(resources=[])),
    "resources/templates/list": _entry(
        PaginatedRequestParams, ListResourceTemplatesResult(resource_templates=[])
    ),
    "completion/complete": _entry(
        CompleteRequestParams, CompleteResult(completion=Completion(values=[]))
    ),
    "logging/setLevel": _entry(SetLevelRequestParams, EmptyResult()),
    "resources/subscribe": _entry(SubscribeRequestParams, EmptyResult()),
    "resources/unsubscribe": _entry(UnsubscribeRequestParams, EmptyResult()),
}


class TolerantServer(Server[Any]):
    """The package derives the capabilities from the handlers that are registered."""

    def get_request_handler(self, method: str) -> HandlerEntry[Any] | None:
        return super().get_request_handler(method) or _UNANNOUNCED.get(method)
