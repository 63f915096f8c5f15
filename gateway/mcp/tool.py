"""A tool of the Model Context Protocol: what a model reads of it, and what answers its calls."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

import orjson

from gateway.http.request_context import RequestContext
from gateway.schemas import Body

OwnServices = TypeVar("OwnServices")
Headers: TypeAlias = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class McpTool(Generic[OwnServices]):
    """A tool that only reads, with the rights of the token's principal.

    run: gets the request and the arguments as JSON; it returns `tool_result`, and headers.
    """

    title: str
    description: str
    arguments: type[Body]
    result: type[Body]
    run: Callable[[RequestContext[OwnServices], bytes], Awaitable[tuple[bytes, Headers]]]


def tool_result(result: bytes) -> bytes:
    """The fields of a tool result: structured, and as text for clients that only read text."""
    return b'"content":[{"type":"text","text":%b}],"structuredContent":%b,"isError":false' % (
        orjson.dumps(result.decode()),
        result,
    )
