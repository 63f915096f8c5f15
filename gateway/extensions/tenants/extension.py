"""The operator sees tenants, admins decide about theirs; commands create and delete them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel

from gateway.extension import (
    ApiRoute,
    Extension,
    Services,
    body_limit,
    parameters,
)
from gateway.extensions.tenants import tenant_endpoints, tenant_schemas

_ROUTES: tuple[ApiRoute[Services], ...] = (
    ApiRoute(
        "GET",
        "/v1/tenants",
        tenant_endpoints.list_tenants,
        needs="operator",
        summary="List the tenants, what they store and what they cost",
        answer=tenant_schemas.TenantsAnswer,
        parameters={
            "contains": parameters.LINE,
            "cursor": parameters.LINE_CURSOR,
            "order": parameters.one_of("cost", "id"),
        },
    ),
    ApiRoute(
        "GET",
        "/v1/tenants/{tenant}",
        tenant_endpoints.get_tenant,
        needs="admin",
        summary="Get what a tenant stores: the operator of any tenant, an admin of its own",
        answer=tenant_schemas.TenantInventoryAnswer,
    ),
    ApiRoute(
        "DELETE",
        "/v1/tenants/{tenant}/cache",
        tenant_endpoints.clear_cache,
        needs="admin",
        summary="End all cached answers of a tenant, in every process",
        answer=tenant_schemas.CacheClearedAnswer,
    ),
    ApiRoute(
        "GET",
        "/v1/consistency",
        tenant_endpoints.get_consistency,
        needs="admin",
        summary="Get the most staleness that callers of the tenant may choose",
        answer=tenant_schemas.ConsistencyAnswer,
    ),
    ApiRoute(
        "PUT",
        "/v1/consistency",
        tenant_endpoints.put_consistency,
        needs="admin",
        summary="Set the most staleness that callers of the tenant may choose; 0 forbids it",
        body=tenant_schemas.ConsistencyBody,
        body_bytes_max=body_limit(1_024),
        answer=tenant_schemas.ConsistencyAnswer,
    ),
    ApiRoute(
        "GET",
        "/v1/shared-answers",
        tenant_endpoints.get_shared_answers,
        needs="admin",
        summary="Get which callers of the tenant share cached answers",
        answer=tenant_schemas.SharedAnswersBody,
    ),
    ApiRoute(
        "PUT",
        "/v1/shared-answers",
        tenant_endpoints.put_shared_answers,
        needs="admin",
        summary="Share answers among callers who see the same, or stop it",
        body=tenant_schemas.SharedAnswersBody,
        body_bytes_max=body_limit(1_024),
        answer=tenant_schemas.SharedAnswersBody,
    ),
    ApiRoute(
        "GET",
        "/v1/public-documents",
        tenant_endpoints.get_public_documents,
        needs="admin",
        summary="Get whether the tenant receives other tenants' public documents",
        answer=tenant_schemas.PublicDocumentsAnswer,
    ),
    ApiRoute(
        "PUT",
        "/v1/public-documents",
        tenant_endpoints.put_public_documents,
        needs="admin",
        summary="Receive other tenants' public documents, or stop it",
        body=tenant_schemas.PublicDocumentsBody,
        body_bytes_max=body_limit(1_024),
        answer=tenant_schemas.PublicDocumentsAnswer,
    ),
)


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[Services]:
    yield services


EXTENSION = Extension(
    summary="the operator sees and manages tenants, and admins decide about theirs",
    routes=_ROUTES,
    open=_open,
)
