"""JSON-RPC 2.0 requests and responses; the protocol's package defines params and results."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, RootModel
from pydantic.config import JsonDict

from gateway.schemas import Body
from index.model.document import METADATA_INTEGER_MAX

# The integers that every JSON parser represents exactly: RFC 8259, section 6.
RequestNumber = Annotated[int, Field(ge=-METADATA_INTEGER_MAX, le=METADATA_INTEGER_MAX)]


def _without_default(schema: JsonDict) -> None:
    schema.pop("default")


class McpRequest(Body):
    """Further members are ignored: JSON-RPC does not forbid them."""

    model_config = ConfigDict(extra="ignore")

    jsonrpc: Literal["2.0"]
    id: RequestNumber | str = Field(
        0,
        description="absent: a notification, which gets no response body",
        json_schema_extra=_without_default,
    )
    method: str = Field(description="method, such as tools/call")
    params: dict[str, Any] | None = None


class McpResult(Body):
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


class McpAnswer(RootModel[McpResult | McpError | list[McpResult | McpError]]):
    """A list if the body was one, which the version 2025-03-26 has."""


class ProtectedResourceMetadata(Body):
    """By RFC 9728, section 2."""

    resource: str
    authorization_servers: list[str]
    scopes_supported: list[str] | None = None
    bearer_methods_supported: tuple[Literal["header"]] = ("header",)
    resource_name: str = "Nearhit"
