"""The tenant that a path names, and who may name it."""

from gateway.extension import RequestContext, problems, schemas


def named_tenant(context: RequestContext[object]) -> str:
    """The tenant in the path, for a call that only the operator may make."""
    return schemas.parse_value("tenant", schemas.TENANT, context.request.path_params["tenant"])


async def own_tenant(context: RequestContext[object]) -> str:
    """The tenant in the path. For an admin, tenants other than its own do not exist."""
    tenant = named_tenant(context)
    if not context.is_operator and (await context.authenticate()).principal.tenant != tenant:
        raise problems.not_found("tenant", "The tenant does not exist.")
    return tenant
