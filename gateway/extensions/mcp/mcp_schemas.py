"""JSON-RPC 2.0 requests and responses; the protocol's package defines params and results."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, RootModel
from pydantic.config import JsonDict

from gateway.extension import Body, with_example
from index.model.document import METADATA_INTEGER_MAX

# The integers that every JSON parser represents exactly: RFC 8259, section 6.
RequestNumber = Annotated[int, Field(ge=-METADATA_INTEGER_MAX, le=METADATA_INTEGER_MAX)]


def _without_default(schema: JsonDict) -> None:
    schema.pop("default")


class McpRequest(Body):
    """Further members are ignored: JSON-RPC does not forbid them."""

    model_config = ConfigDict(
        extra="ignore", **with_example(jsonrpc="2.0", id=1, method="tools/list")
    )

    jsonrpc: Literal["2.0"] = Field(description="always `2.0`")
    id: RequestNumber | str = Field(
        0,
        description="absent: a notification, which gets no response body",
        json_schema_extra=_without_default,
    )
    method: str = Field(description="method, such as tools/call")
    params: dict[str, Any] | None = Field(None, description="parameters of the method")


class McpResult(Body):
    jsonrpc: Literal["2.0"] = Field(description="always `2.0`")
    id: int | str = Field(description="that of the request")
    result: dict[str, Any] = Field(description="result of the method")


class McpErrorDetail(Body):
    code: int = Field(description="code of JSON-RPC")
    message: str
    data: Any = Field(None, description="the problem document")


class McpError(Body):
    jsonrpc: Literal["2.0"] = Field(description="always `2.0`")
    id: int | str | None = Field(description="that of the request; null: it had none")
    error: McpErrorDetail = Field(description="what went wrong")


class McpAnswer(RootModel[McpResult | McpError | list[McpResult | McpError]]):
    """A list if the body was one, which the version 2025-03-26 has."""


class ProtectedResourceMetadata(Body):
    """By RFC 9728, section 2."""

    resource: str = Field(
        description="the resource that tokens name as their audience",
        examples=["https://search.example/mcp"],
    )
    authorization_servers: list[str] = Field(
        description="issuers of tokens", examples=[["https://login.example"]]
    )
    scopes_supported: list[str] | None = Field(None, description="scopes of the resource")
    bearer_methods_supported: tuple[Literal["header"]] = Field(
        ("header",), description="how a token is sent"
    )
    resource_name: str = Field("Nearhit", description="name of the resource for people")
