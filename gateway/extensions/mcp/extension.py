"""The Model Context Protocol: agents' clients search and read by tools, over `/mcp`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel, Field

from gateway.extension import ApiRoute, Extension, Services, protected_resource
from gateway.extensions.mcp import mcp_schemas, mcp_services, metadata_endpoint
from gateway.extensions.mcp.endpoint import mcp
from gateway.extensions.mcp.mcp_services import McpServices

_ROUTES: tuple[ApiRoute[McpServices], ...] = (
    ApiRoute(
        "POST",
        "/mcp",
        mcp,
        needs="reader",
        summary="Model Context Protocol: tools that search and read, and answers to searches as "
        "resources that tell when they change",
        body=mcp_schemas.McpRequest,
        answer=mcp_schemas.McpAnswer,
        error=mcp_schemas.McpError,
        stream_type="text/event-stream",
        empty_status=202,
        checks_origin=True,
        is_resource=True,
    ),
    ApiRoute(
        "GET",
        protected_resource.WELL_KNOWN,
        metadata_endpoint.get_resource_metadata,
        needs="anyone",
        summary="Get what an OAuth client needs to log in for `/mcp`, as RFC 9728 defines it",
        answer=mcp_schemas.ProtectedResourceMetadata,
        is_optional=True,
    ),
    ApiRoute(
        "GET",
        protected_resource.WELL_KNOWN_OF_MCP,
        metadata_endpoint.get_mcp_metadata,
        needs="anyone",
        summary="Get the same, at the path that belongs to `/mcp`",
        answer=mcp_schemas.ProtectedResourceMetadata,
        is_optional=True,
    ),
)


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[McpServices]:
    built = mcp_services.build(services)
    services.warm_up.add("mcp", built.protocol.load)
    yield built


EXTENSION = Extension(
    summary="agents search and read by tools of the Model Context Protocol, at /mcp",
    routes=_ROUTES,
    open=_open,
    root={
        "mcp": (
            str,
            Field(default="/mcp", description="path for Model Context Protocol clients"),
        )
    },
)
