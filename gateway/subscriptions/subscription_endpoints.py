"""A caller subscribes to a question, lists its subscriptions, and deletes them."""

from starlette.responses import Response

from gateway import problems, schemas
from gateway.auth.credentials import new_id
from gateway.http.request_context import RequestContext
from gateway.http.responses import json_response, read_response
from gateway.search.search_request import require_within_limits
from gateway.search.search_schemas import SearchBody
from gateway.subscriptions.subscription_schemas import (
    REFUSED_FIELDS,
    SUBSCRIPTION_ID,
    DeliverBody,
    SubscriptionAnswer,
    SubscriptionBody,
    SubscriptionsAnswer,
)
from gateway.subscriptions.subscription_services import SubscriptionServices
from index.subscriptions.subscription_store import NewSubscription, Subscription
from index.tenants.principals import Principal

_PAGE_MAX = 100


async def create_subscription(context: RequestContext[SubscriptionServices]) -> Response:
    services = context.services
    principal = (await context.authenticate()).principal
    body = context.parse_body(SubscriptionBody)
    require_watchable(body.search)
    require_within_limits(body.search, services.settings, "search.")
    subscription = await services.store.create(
        NewSubscription(
            subscription_id=new_id("sub"),
            tenant=principal.tenant,
            subject=principal.subject,
            key_id=principal.key_id,
            search=body.search.model_dump(mode="json", exclude_unset=True),
            reports_hits=body.deliver.hits == "changes",
            interval_ms=body.deliver.interval_ms,
        ),
        tenant_max=services.settings.tenant_subscriptions_max,
        subject_max=services.settings.subject_subscriptions_max,
    )
    response = json_response(to_answer(subscription), 201)
    response.headers["Location"] = f"/v1/subscriptions/{subscription.subscription_id}"
    return response


def require_watchable(search: SearchBody) -> None:
    """A 422 `Problem` if the search has a field that concerns one request alone."""
    for name in REFUSED_FIELDS:
        if name in search.model_fields_set:
            raise problems.invalid_field(f"search.{name}", "must be absent in a subscription")


async def list_subscriptions(context: RequestContext[SubscriptionServices]) -> Response:
    """List the subject's subscriptions, by identifier."""
    principal = (await context.authenticate()).principal
    cursor = context.request.query_params.get("cursor", "")
    rows = await context.services.store.page(
        principal.tenant,
        principal.subject,
        after=schemas.parse_value("cursor", schemas.LINE, cursor),
        limit=_PAGE_MAX + 1,
    )
    page = rows[:_PAGE_MAX]
    return read_response(
        SubscriptionsAnswer(
            subscriptions=tuple(map(to_answer, page)),
            cursor=page[-1].subscription_id if len(rows) > len(page) else None,
        )
    )


async def get_subscription(context: RequestContext[SubscriptionServices]) -> Response:
    principal = (await context.authenticate()).principal
    return read_response(to_answer(await find(context, principal)))


async def delete_subscription(context: RequestContext[SubscriptionServices]) -> Response:
    principal = (await context.authenticate()).principal
    subscription_id = _subscription_id(context)
    if not await context.services.store.delete(
        principal.tenant, principal.subject, subscription_id
    ):
        raise _no_such_subscription()
    return Response(status_code=204)


async def find(context: RequestContext[SubscriptionServices], principal: Principal) -> Subscription:
    """The subscription of the path; a 404 `Problem` if it is not one of the subject's."""
    subscription = await context.services.store.get(
        principal.tenant, principal.subject, _subscription_id(context)
    )
    if subscription is None:
        raise _no_such_subscription()
    return subscription


def to_answer(subscription: Subscription) -> SubscriptionAnswer:
    return SubscriptionAnswer(
        id=subscription.subscription_id,
        search=dict(subscription.search),
        deliver=DeliverBody(
            hits="changes" if subscription.reports_hits else "none",
            interval_ms=subscription.interval_ms,
        ),
        created_at=subscription.created_at,
        number=subscription.number,
        revision=subscription.revision,
        reported_at=subscription.reported_at,
    )


def _subscription_id(context: RequestContext[SubscriptionServices]) -> str:
    value = context.request.path_params["subscription_id"]
    return schemas.parse_value("subscription_id", SUBSCRIPTION_ID, value)


def _no_such_subscription() -> problems.Problem:
    return problems.not_found("subscription_id", "The subscription does not exist.")
