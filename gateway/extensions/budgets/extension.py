"""The operator sets budgets and quotas of tenants; their admins see them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel

from gateway.extension import ApiRoute, Extension, Services, body_limit
from gateway.extensions.budgets.budget_endpoints import (
    get_budget,
    get_quotas,
    put_budget,
    put_quotas,
)
from gateway.extensions.budgets.budget_schemas import BudgetBody, QuotasBody
from gateway.extensions.budgets.usage_meter import open_usage_meter
from gateway.extensions.budgets.usage_metrics import UsageMetrics

_ROUTES: tuple[ApiRoute[Services], ...] = (
    ApiRoute(
        "GET",
        "/v1/tenants/{tenant}/budget",
        get_budget,
        needs="admin",
        summary="Get a tenant's monthly budget: the operator of any tenant, an admin of its own",
        answer=BudgetBody,
    ),
    ApiRoute(
        "PUT",
        "/v1/tenants/{tenant}/budget",
        put_budget,
        needs="operator",
        summary="Set a tenant's monthly budget",
        body=BudgetBody,
        body_bytes_max=body_limit(1_024),
        status=204,
    ),
    ApiRoute(
        "GET",
        "/v1/tenants/{tenant}/quotas",
        get_quotas,
        needs="admin",
        summary="Get a tenant's quotas: the operator of any tenant, an admin of its own",
        answer=QuotasBody,
    ),
    ApiRoute(
        "PUT",
        "/v1/tenants/{tenant}/quotas",
        put_quotas,
        needs="operator",
        summary="Set the most documents, chunks, bytes and sources that a tenant may store",
        body=QuotasBody,
        body_bytes_max=body_limit(1_024),
        status=204,
    ),
)


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[Services]:
    yield services


EXTENSION = Extension(
    summary="meters what tenants use of models; the operator sets their budgets and quotas",
    routes=_ROUTES,
    open=_open,
    metrics=UsageMetrics,
    usage_meter=open_usage_meter,
)
