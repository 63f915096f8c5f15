"""JSON-RPC 2.0, as it travels; what stands in params and results the protocol's package knows."""

from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic.config import JsonDict

from gateway.schemas import Body
from index.model.document import METADATA_INTEGER_MAX

# As whole as every JSON reader keeps it: RFC 8259, section 6.
RequestNumber = Annotated[int, Field(ge=-METADATA_INTEGER_MAX, le=METADATA_INTEGER_MAX)]


def _without_default(schema: JsonDict) -> None:
    schema.pop("default")


class McpRequest(Body):
    jsonrpc: Literal["2.0"]
    id: RequestNumber | str = Field(
        0,
        description="if it is absent, no answer follows",
        json_schema_extra=_without_default,
    )
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
