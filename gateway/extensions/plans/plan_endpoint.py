"""`POST /v1/search/plan`: steps that use one another's hits, in one call, at one revision."""

from dataclasses import dataclass
from functools import partial

from starlette.responses import Response

from cache.lookup import ServedAnswer
from gateway.extension import (
    AuthenticatedRequest,
    RequestContext,
    freshness_of,
    problems,
    record_served,
    strictest,
)
from gateway.extensions._batches.answers_headers import answers_headers
from gateway.extensions._batches.held_answers import HeldAnswers
from gateway.extensions.plans.plan_answer import encode_plan_answer
from gateway.extensions.plans.plan_check import require_valid_plan
from gateway.extensions.plans.plan_run import AnsweredSteps, PlanRun
from gateway.extensions.plans.plan_schemas import PlanBody, SearchPlanBody
from gateway.extensions.plans.plan_services import PlanServices
from gateway.extensions.plans.strategy_endpoints import read_strategy
from gateway.extensions.plans.strategy_plan import parse_plan, rendered_plan


@dataclass(frozen=True, slots=True)
class AnsweredPlan:
    """The finished steps, and the answers to their searches."""

    plan: PlanBody
    steps: AnsweredSteps
    searches: list[ServedAnswer]
    admitted: AuthenticatedRequest


async def search_plan(context: RequestContext[PlanServices]) -> Response:
    answered = await run_plan(context, await context.parse_body(SearchPlanBody))
    tenant, threads = answered.admitted.principal.tenant, context.services.search.builder.threads
    body = await threads.run(tenant, encode_plan_answer, answered.plan, answered.steps)
    timing = (b"server-timing", _server_timing(context, answered.steps))
    response = Response(body, media_type="application/json")
    response.raw_headers += [
        (b"cache-control", b"no-store"),
        *answers_headers(context, answered.searches, answered.admitted, timing),
    ]
    return response


async def run_plan(
    context: RequestContext[PlanServices], requested: SearchPlanBody
) -> AnsweredPlan:
    """The answers to the plan, or to the strategy's; a 422 `Problem` if it is not valid."""
    services, trace = context.services.search, context.trace
    plan, admitted = await _admit(context, requested)
    await context.spend(len(plan.searches) - 1)
    trace.mark("revision")
    time_ms = plan.budget.time_ms
    ends_s = None if time_ms is None else trace.started_s + time_ms / 1000
    plan_run = PlanRun(services, admitted.principal, plan, HeldAnswers(context.slot))
    steps = await plan_run.run(admitted.revisions, ends_s)
    searches = []
    for step in steps.values():
        if step.request is not None and step.served is not None:
            record_served(services, step.request, step.served)
            searches.append(step.served)
    trace.mark("search")
    return AnsweredPlan(plan, steps, searches, admitted)


async def _admit(
    context: RequestContext[PlanServices], requested: SearchPlanBody
) -> tuple[PlanBody, AuthenticatedRequest]:
    """The valid plan that is requested, and the caller as of now."""
    if requested.strategy is None:
        if requested.steps is None:
            raise problems.invalid_field("steps", "must be set, or a strategy")
        if requested.parameters is not None:
            raise problems.invalid_field("parameters", "are for a strategy")
        plan = PlanBody(steps=requested.steps, output=requested.output, budget=requested.budget)
        require_valid_plan(plan)
        context.trace.mark("parse")
        freshness = strictest(
            freshness_of(search, context.min_revision, f"steps.{number}.")
            for number, search in plan.searches.items()
        )
        return plan, await context.authenticate(freshness=freshness)
    for name in ("steps", "output"):
        if getattr(requested, name) is not None:
            raise problems.invalid_field(name, "must be absent: the strategy has its own")
    context.trace.mark("parse")
    admitted = await context.authenticate()
    strategy = await read_strategy(
        context.services.strategies, admitted.principal.tenant, requested.strategy
    )
    rendered = rendered_plan(strategy, requested.parameters or {})
    (plan,) = await context.threads.map(partial(parse_plan, strategy), [rendered])
    return plan.model_copy(update={"budget": plan.budget.narrowed(requested.budget)}), admitted


def _server_timing(context: RequestContext[PlanServices], steps: AnsweredSteps) -> bytes:
    """The phases of the request, and the time and the cache tier of each step."""
    parts = [context.trace.server_timing()]
    for name, step in steps.items():
        tier = "" if step.served is None else f";desc={step.served.tier}"
        parts.append(f"step.{name};dur={step.seconds * 1000:.2f}{tier}")
    return ", ".join(parts).encode()
