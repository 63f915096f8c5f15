"""What the operator sees of all processes, and of the searches of all tenants."""

from dataclasses import asdict
from datetime import timedelta
from typing import cast, get_args

from starlette.responses import Response

from gateway.extension import RequestContext, json_response, problems, utc_now
from gateway.extensions.activity.activity_services import ActivityServices
from gateway.extensions.activity.operation_schemas import (
    LatenciesAnswer,
    PeriodLatencyAnswer,
    ProcessAnswer,
    ProcessesAnswer,
)
from gateway.extensions.activity.search_statistics_store import Step

_SILENT_S_MAX = 60.0  # of a process that runs: it speaks four times
_SPANS = {"hour": timedelta(hours=23), "day": timedelta(days=29)}


async def list_processes(context: RequestContext[ActivityServices]) -> Response:
    known = await context.services.stores.processes.known()
    return json_response(
        ProcessesAnswer(
            processes=tuple(
                ProcessAnswer(is_alive=each.seen_s_ago <= _SILENT_S_MAX, **asdict(each))
                for each in known
            )
        )
    )


async def get_latencies(context: RequestContext[ActivityServices]) -> Response:
    """Of the last 24 hours by hour, or of the last 30 days."""
    services, step = context.services, context.request.query_params.get("step", "hour")
    if step not in _SPANS:
        raise problems.invalid_field("step", f"must be one of {', '.join(get_args(Step))}")
    begin = (utc_now() - _SPANS[step]).replace(minute=0, second=0, microsecond=0)
    if step == "day":
        begin = begin.replace(hour=0)
    await services.statistics.pending.flush()
    counts = await services.statistics_store.latencies_of_all(begin, cast("Step", step))
    return json_response(
        LatenciesAnswer(latencies=tuple(PeriodLatencyAnswer(**asdict(each)) for each in counts))
    )
