"""Search plans: several searches in one call, of which later ones use what earlier ones found."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel

from gateway.extension import ApiRoute, Extension, Services, body_limit
from gateway.extensions.plans import plan_schemas, strategy_endpoints, strategy_schemas
from gateway.extensions.plans.plan_endpoint import search_plan
from gateway.extensions.plans.plan_schemas import PLAN_BYTES_MAX
from gateway.extensions.plans.plan_services import PlanServices
from gateway.extensions.plans.plan_tools import TOOLS
from gateway.extensions.plans.strategy_store import StrategyStore

_STRATEGY_BYTES_MAX = 262_144

_ROUTES: tuple[ApiRoute[PlanServices], ...] = (
    ApiRoute(
        "POST",
        "/v1/search/plan",
        search_plan,
        needs="reader",
        summary="Search in several steps, of which later ones use what earlier ones found",
        body=plan_schemas.SearchPlanBody,
        body_bytes_max=body_limit(PLAN_BYTES_MAX),
        answer=plan_schemas.SearchPlanAnswer,
        only_reads=True,
    ),
    ApiRoute(
        "GET",
        "/v1/strategies",
        strategy_endpoints.list_strategies,
        needs="reader",
        summary="List the tenant's strategies, which are stored search plans",
        answer=strategy_schemas.StrategiesAnswer,
    ),
    ApiRoute(
        "GET",
        "/v1/strategies/{name}",
        strategy_endpoints.get_strategy,
        needs="reader",
        summary="Get a strategy with its plan",
        answer=strategy_schemas.StrategyAnswer,
    ),
    ApiRoute(
        "PUT",
        "/v1/strategies/{name}",
        strategy_endpoints.put_strategy,
        needs="admin",
        summary="Store a search plan with parameters under a name",
        body=strategy_schemas.StrategyBody,
        body_bytes_max=body_limit(_STRATEGY_BYTES_MAX),
        answer=strategy_schemas.StrategyAnswer,
    ),
    ApiRoute(
        "DELETE",
        "/v1/strategies/{name}",
        strategy_endpoints.delete_strategy,
        needs="admin",
        summary="Delete a strategy",
        status=204,
    ),
)


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[PlanServices]:
    yield PlanServices(services.search, StrategyStore(services.stores.database))


EXTENSION = Extension(
    summary="several searches in one call, of which later ones use what earlier ones found",
    routes=_ROUTES,
    open=_open,
    mcp_tools=TOOLS,
)
