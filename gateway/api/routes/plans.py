"""The routes of search plans and strategies; see `gateway.api.routes.table`."""

from gateway.http.route import ApiRoute, body_limit
from gateway.search.plans import plan_schemas, strategy_endpoints, strategy_schemas
from gateway.search.plans.plan_endpoint import search_plan
from gateway.search.search_services import SearchServices
from gateway.settings.groups.limits import PLAN_STEPS_MAX, SEARCH_BYTES_MAX

_STRATEGY_BYTES_MAX = 262_144

ROUTES: tuple[ApiRoute[SearchServices], ...] = (
    ApiRoute(
        "POST",
        "/v1/search/plan",
        search_plan,
        needs="reader",
        summary="Search in several steps, of which later ones use what earlier ones found",
        body=plan_schemas.SearchPlanBody,
        body_bytes_max=body_limit(PLAN_STEPS_MAX * SEARCH_BYTES_MAX),
        answer=plan_schemas.SearchPlanAnswer,
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
