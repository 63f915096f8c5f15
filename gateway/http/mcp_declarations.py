"""What an extension declares of the Model Context Protocol; an extension too is what serves it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import orjson
from starlette.responses import Response

from common.shares.threads import TenantThreads
from gateway.bodies.schemas import Body
from gateway.http.request.request_context import RequestContext

OwnServices = TypeVar("OwnServices")
Arguments = TypeVar("Arguments", bound=Body)
Headers: TypeAlias = list[tuple[bytes, bytes]]


class McpArguments(Protocol):
    """The arguments of a call of a tool. sent: as JSON, equal for equal arguments."""

    @property
    def sent(self) -> bytes: ...

    def parse(self, model: type[Arguments]) -> Arguments:
        """As a model means them. Raises a `Problem` with an error per invalid argument."""

    async def parse_within(self, threads: TenantThreads, model: type[Arguments]) -> Arguments:
        """As `parse`; long arguments in a thread. Raises `Saturated` too."""


@dataclass(frozen=True, slots=True)
class McpTool(Generic[OwnServices]):
    """A tool that only reads, with the rights of the token's principal.

    title, description: what a model reads of it.
    run: returns `tool_result`, and headers.
    """

    title: str
    description: str
    arguments: type[Body]
    result: type[Body]
    run: Callable[[RequestContext[OwnServices], McpArguments], Awaitable[tuple[bytes, Headers]]]


@dataclass(frozen=True, slots=True)
class McpMethod(Generic[OwnServices]):
    """A method of the protocol's versions without a handshake that an extension answers.

    answer: gets the request, whose head and caller have been checked.
    hint:   what clients read of it where answers are described as resources.
    """

    answer: Callable[[RequestContext[OwnServices], Mapping[str, Any]], Awaitable[Response]]
    hint: str = ""


def tool_result(result: bytes) -> bytes:
    """The fields of a tool result: structured, and as text for clients that only read text."""
    return b'"content":[{"type":"text","text":%b}],"structuredContent":%b,"isError":false' % (
        orjson.dumps(result.decode()),
        result,
    )
