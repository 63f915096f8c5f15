"""`GET /.well-known/oauth-protected-resource`: where a client logs in for `/mcp`."""

from starlette.responses import Response

from gateway.extension import RequestContext, problems, protected_resource
from gateway.extensions.mcp.mcp_schemas import ProtectedResourceMetadata
from gateway.extensions.mcp.mcp_services import McpServices


async def get_resource_metadata(context: RequestContext[McpServices]) -> Response:
    """At the path of the whole host, where clients look second."""
    return _metadata(context)


async def get_mcp_metadata(context: RequestContext[McpServices]) -> Response:
    return _metadata(context)


def _metadata(context: RequestContext[McpServices]) -> Response:
    """A 404 `Problem` if the operator has not configured the resource's URL."""
    resource = protected_resource.build(context.services.settings)
    if resource is None:
        detail = "Clients cannot log in here: the operator sets NEARHIT_MCP_RESOURCE_URL."
        raise problems.not_found("path", detail)
    metadata = ProtectedResourceMetadata(
        resource=resource.url,
        authorization_servers=[resource.issuer],
        scopes_supported=list(resource.scopes) or None,
    )
    return Response(metadata.model_dump_json(exclude_none=True), media_type="application/json")
