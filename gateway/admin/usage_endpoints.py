"""What a tenant uses, what it may use, and how far behind its index is."""

from datetime import date

from starlette.responses import Response

from gateway import problems, schemas
from gateway.admin.usage_schemas import (
    BudgetBody,
    DayAnswer,
    SourceStatusBody,
    StatusAnswer,
    UsageAnswer,
)
from gateway.auth.authenticator import utc_now
from gateway.http.request_context import RequestContext, json_response
from index.tenants.usage import IngestStatus

_DAYS_MAX = 366


async def get_usage(exchange: RequestContext) -> Response:
    """By day and operation; `from` and `to` are days, this month if absent."""
    admitted = await exchange.authenticate()
    tenant, services = admitted.principal.tenant, exchange.services
    today = utc_now().date()
    first, last = _day(exchange, "from", today.replace(day=1)), _day(exchange, "to", today)
    if not 0 <= (last - first).days < _DAYS_MAX:
        raise problems.invalid_field("to", f"must be within {_DAYS_MAX} days from `from`")
    await services.usage_meter.flush()
    month = await services.usage.month(tenant, today.replace(day=1))
    days = await services.usage.days(tenant, first, last)
    limit = services.settings.budget_month if month.budget is None else month.budget
    return json_response(
        UsageAnswer(
            days=tuple(
                DayAnswer(
                    day=each.day,
                    operation=each.operation,
                    tokens=each.tokens,
                    money=round(each.money, 6),
                    embedded=each.embedded,
                    reused=each.reused,
                )
                for each in days
            ),
            money_month=round(month.money, 6),
            budget_month=limit,
        )
    )


async def put_budget(exchange: RequestContext) -> Response:
    """What waited for money is tried again."""
    tenant = schemas.parse_value("tenant", schemas.TENANT, exchange.request.path_params["tenant"])
    body = exchange.parse_body(BudgetBody)
    if not await exchange.services.usage.put_budget(tenant, body.budget_month):
        raise problems.not_found("tenant", "There is no such tenant.")
    exchange.services.usage_meter.drop_cached(tenant)
    await exchange.services.jobs.run_now(tenant)
    return Response(status_code=204)


async def get_status(exchange: RequestContext) -> Response:
    admitted = await exchange.authenticate()
    await exchange.services.usage_meter.flush()
    sources = await exchange.services.usage.status(admitted.principal.tenant)
    audited = await exchange.services.audits.last(admitted.principal.tenant)
    waits = [each.oldest_waiting_s for each in sources if each.oldest_waiting_s is not None]
    return json_response(
        StatusAnswer(
            waiting=sum(each.waiting for each in sources),
            running=sum(each.running for each in sources),
            failed=sum(each.failed for each in sources),
            oldest_waiting_s=_rounded(max(waits, default=None)),
            lag_s=round(max((each.lag_s for each in sources), default=0.0), 3),
            embedded=sum(each.embedded for each in sources),
            reused=sum(each.reused for each in sources),
            audited_at=None if audited is None else audited.last_run_at,
            flaws={} if audited is None else dict(audited.problems),
            sources=tuple(_source(each) for each in sources if each.source),
        )
    )


def _source(status: IngestStatus) -> SourceStatusBody:
    return SourceStatusBody(
        source=status.source,
        waiting=status.waiting,
        running=status.running,
        failed=status.failed,
        oldest_waiting_s=_rounded(status.oldest_waiting_s),
        lag_s=round(status.lag_s, 3),
        embedded=status.embedded,
        reused=status.reused,
    )


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


def _day(exchange: RequestContext, name: str, default: date) -> date:
    told = exchange.request.query_params.get(name)
    if told is None:
        return default
    try:
        return date.fromisoformat(told)
    except ValueError:
        raise problems.invalid_field(name, "must be a day: YYYY-MM-DD") from None
