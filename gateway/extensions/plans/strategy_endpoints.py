"""An admin stores strategies; every caller of the tenant lists, reads and runs them."""

from typing import Any

import orjson
from pydantic import TypeAdapter
from starlette.responses import Response

from gateway.extension import RequestContext, json_response, problems, read_response, schemas
from gateway.extensions.plans.plan_services import PlanServices
from gateway.extensions.plans.strategy_plan import require_valid_strategy
from gateway.extensions.plans.strategy_schemas import (
    ParameterAnswer,
    StrategiesAnswer,
    StrategyAnswer,
    StrategyBody,
    StrategySummary,
)
from gateway.extensions.plans.strategy_store import (
    STRATEGIES_MAX,
    StoredStrategy,
    StrategyStore,
)

_PARAMETERS: TypeAdapter[dict[str, ParameterAnswer]] = TypeAdapter(dict[str, ParameterAnswer])


async def put_strategy(context: RequestContext[PlanServices]) -> Response:
    """Store a strategy, or another version of it; it counts from the next call on."""
    tenant = (await context.authenticate()).principal.tenant
    name = _name(context)
    strategy = await context.parse_body(StrategyBody)
    await context.threads.run(require_valid_strategy, strategy)  # with hundreds of values
    stored = await context.services.strategies.put(
        tenant, name, strategy.model_dump(mode="json", exclude_unset=True)
    )
    if stored is None:
        raise problems.conflict(
            "name", f"The tenant has {STRATEGIES_MAX} strategies already. Delete one first."
        )
    return json_response(_answer(stored))


async def get_strategy(context: RequestContext[PlanServices]) -> Response:
    tenant = (await context.authenticate()).principal.tenant
    name = _name(context)
    stored = await context.services.strategies.read(tenant, name)
    if stored is None:
        raise _no_such_strategy()
    return read_response(_answer(stored))


async def list_strategies(context: RequestContext[PlanServices]) -> Response:
    tenant = (await context.authenticate()).principal.tenant
    return read_response(await summaries(context.services.strategies, tenant))


async def summaries(strategies: StrategyStore, tenant: str) -> StrategiesAnswer:
    return StrategiesAnswer(strategies=tuple(map(_summary, await strategies.all(tenant))))


async def delete_strategy(context: RequestContext[PlanServices]) -> Response:
    tenant = (await context.authenticate()).principal.tenant
    if not await context.services.strategies.remove(tenant, _name(context)):
        raise _no_such_strategy()
    return Response(status_code=204)


async def read_strategy(strategies: StrategyStore, tenant: str, name: str) -> StrategyBody:
    """The strategy that a caller wants to run; a 422 `Problem` if there is none of that name."""
    stored = await strategies.read(tenant, name)
    if stored is None:
        raise problems.invalid_field("strategy", "The tenant has no strategy of this name.")
    return schemas.parse(StrategyBody, orjson.dumps(stored.strategy))


def _answer(stored: StoredStrategy) -> StrategyAnswer:
    return StrategyAnswer(**_fields(stored), plan=dict(stored.strategy["plan"]))


def _summary(stored: StoredStrategy) -> StrategySummary:
    return StrategySummary(**_fields(stored))


def _fields(stored: StoredStrategy) -> dict[str, Any]:
    """Those of the summary."""
    parameters = orjson.dumps(stored.strategy.get("parameters", {}))
    return {
        "name": stored.name,
        "description": stored.strategy.get("description", ""),
        "parameters": _PARAMETERS.validate_json(parameters),
        "updated_at": stored.updated_at,
    }


def _name(context: RequestContext[PlanServices]) -> str:
    return schemas.parse_value("name", schemas.GATE, context.request.path_params["name"])


def _no_such_strategy() -> problems.Problem:
    return problems.not_found("name", "The strategy does not exist.")
