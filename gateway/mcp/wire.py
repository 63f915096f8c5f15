"""JSON-RPC 2.0, as it travels; what stands in params and results the protocol's package knows."""

from typing import Any, Literal

from pydantic import Field

from gateway.wire import Body


class McpRequest(Body):
    jsonrpc: Literal["2.0"]
    id: int | str
    method: str = Field(description="such as tools/call")
    params: dict[str, Any] = Field(default_factory=dict)


class McpAnswer(Body):
    jsonrpc: Literal["2.0"]
    id: int | str
    result: dict[str, Any]


class McpErrorDetail(Body):
    code: int
    message: str
    data: Any = None


class McpError(Body):
    jsonrpc: Literal["2.0"]
    id: int | str | None
    error: McpErrorDetail
