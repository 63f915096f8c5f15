"""How a tenant's searches were answered, for an admin."""

from collections import Counter, defaultdict
from datetime import UTC, datetime, time, timedelta
from typing import cast, get_args

from starlette.responses import Response

from gateway.extension import RequestContext, json_response, problems, utc_now
from gateway.extensions.activity.activity_services import ActivityServices
from gateway.extensions.activity.search_statistics_store import KEPT_DAYS, OutcomeCount, Step
from gateway.extensions.activity.statistics_schemas import (
    AuditsAnswer,
    LatencyAnswer,
    PeriodAnswer,
    SearchStatisticsAnswer,
)

_DAYS_MAX = KEPT_DAYS
_HOURLY_DAYS_MAX = 7
_DEFAULT_DAYS = 7


async def get_search_statistics(context: RequestContext[ActivityServices]) -> Response:
    """By hour or day; `from` and `to` default to the last seven days."""
    tenant = (await context.authenticate()).principal.tenant
    services, query = context.services, context.request.query_params
    today = utc_now().date()
    last = context.day_parameter("to", today)
    first = context.day_parameter("from", last - timedelta(days=_DEFAULT_DAYS - 1))
    step = query.get("step", "day")
    if step not in get_args(Step):
        raise problems.invalid_field("step", f"must be one of {', '.join(get_args(Step))}")
    days_max = _DAYS_MAX if step == "day" else _HOURLY_DAYS_MAX
    if not 0 <= (last - first).days < days_max:
        raise problems.invalid_field("to", f"must be within {days_max} days from `from`")
    begin = datetime.combine(first, time(), UTC)
    end = datetime.combine(last, time(), UTC) + timedelta(days=1)
    await services.statistics.pending.flush()
    store = services.statistics_store
    outcomes = await store.outcomes(tenant, begin, end, cast("Step", step))
    audits = Counter[str]()
    for row in outcomes:
        audits[row.outcome] += row.answers
    return json_response(
        SearchStatisticsAnswer(
            periods=_periods(outcomes),
            latencies=tuple(
                LatencyAnswer(tier=row.tier, latency_ms_max=row.latency_ms_max, answers=row.answers)
                for row in await store.latencies(tenant, begin, end)
            ),
            audits=AuditsAnswer(equal=audits["audit_equal"], other=audits["audit_other"]),
            kept_days=KEPT_DAYS,
        )
    )


def _periods(outcomes: list[OutcomeCount]) -> tuple[PeriodAnswer, ...]:
    """In the order of time, then of tiers."""
    counts: defaultdict[tuple[datetime, str], Counter[str]] = defaultdict(Counter)
    for row in outcomes:
        if not row.outcome.startswith("audit_"):
            counts[row.start, row.tier][row.outcome] += row.answers
    return tuple(
        PeriodAnswer(
            start=start,
            tier=tier,
            confident=by_outcome["confident"],
            low_confidence=by_outcome["low_confidence"],
            empty=by_outcome["empty"],
        )
        for (start, tier), by_outcome in counts.items()
    )
