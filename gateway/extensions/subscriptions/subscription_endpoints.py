"""A caller subscribes to a question, lists its subscriptions, and deletes them."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import timedelta
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.responses import Response

from gateway.extension import (
    RequestContext,
    SearchBody,
    json_response,
    maker_of,
    new_id,
    problems,
    read_response,
    require_within_limits,
    schemas,
    utc_now,
)
from gateway.extensions._web import urls
from gateway.extensions.subscriptions.subscription_schemas import (
    REFUSED_FIELDS,
    SUBSCRIPTION_ID,
    DeadLetter,
    DeliverBody,
    RotateSecretBody,
    SubscriptionAnswer,
    SubscriptionBody,
    SubscriptionsAnswer,
    WebhookAnswer,
    WebhookSecretAnswer,
)
from gateway.extensions.subscriptions.subscription_services import SubscriptionServices
from gateway.extensions.subscriptions.subscription_store import (
    NewSubscription,
    NewWebhook,
    Subscription,
)
from gateway.extensions.subscriptions.webhooks import webhook_message
from gateway.extensions.subscriptions.webhooks.webhook_store import PREVIOUS_SECRETS_MAX, Webhook
from index.tenants.principals import Principal

_PAGE_MAX = 100


async def create_subscription(context: RequestContext[SubscriptionServices]) -> Response:
    services = context.services
    principal = (await context.authenticate()).principal
    body = await context.parse_body(SubscriptionBody)
    require_watchable(body.search)
    require_within_limits(body.search, "search.")
    search = services.watchers.search
    request = search.request_of(principal, body.search)
    search.require_answerable(request, "search.")
    webhook = _new_webhook(services, principal, body)
    subscription = await services.store.create(
        NewSubscription(
            subscription_id=new_id("sub"),
            tenant=principal.tenant,
            subject=principal.subject,
            key_id=principal.key_id,
            search=body.search.model_dump(mode="json", exclude_unset=True),
            reports_hits=body.deliver.hits == "changes",
            interval_ms=body.deliver.interval_ms,
            webhook=webhook,
        ),
        tenant_max=services.settings.tenant_max,
        subject_max=services.settings.subject_max,
    )
    answer = await _answer(services, subscription)
    if answer.webhook is not None and webhook is not None:
        shown = answer.webhook.model_copy(update={"url": webhook.url, "secret": webhook.secret})
        answer = answer.model_copy(update={"webhook": shown})
    response = json_response(answer, 201)
    response.headers["Location"] = f"/v1/subscriptions/{subscription.subscription_id}"
    return response


def require_watchable(search: SearchBody) -> None:
    """A 422 `Problem` if the search has a field that concerns one request alone."""
    if (name := search.first_used(REFUSED_FIELDS)) is not None:
        raise problems.invalid_field(f"search.{name}", "must be absent in a subscription")


def _new_webhook(
    services: SubscriptionServices, principal: Principal, body: SubscriptionBody
) -> NewWebhook | None:
    """The webhook of the body, with a new secret; a 422 `Problem` if its URL is refused."""
    if body.deliver.webhook is None:
        return None
    field = "deliver.webhook.url"
    if principal.key_id is None:
        raise problems.invalid_field(field, "needs a key: a web token cannot be checked later")
    try:
        url = urls.normalise(body.deliver.webhook.url)
    except ValueError as error:
        raise problems.invalid_field(field, str(error)) from None
    parts, policy = urlsplit(url), services.webhook_policy.of_messages_to(url)
    if not (policy.allows_public or policy.networks):
        raise problems.invalid_field(field, "must be an https URL")
    with suppress(ValueError):
        if not policy.allows(ip_address(parts.hostname or "")):
            kind = (
                "a public address" if policy.allows_public else "https, or the operator's network"
            )
            raise problems.invalid_field(field, f"must have {kind}")
    return NewWebhook(url, webhook_message.new_secret())


async def list_subscriptions(context: RequestContext[SubscriptionServices]) -> Response:
    """List the caller's subscriptions, by identifier."""
    principal = (await context.authenticate()).principal
    cursor = context.request.query_params.get("cursor", "")
    rows = await context.services.store.page(
        maker_of(principal),
        after=schemas.parse_value("cursor", schemas.LINE, cursor),
        limit=_PAGE_MAX + 1,
    )
    page = rows[:_PAGE_MAX]
    return read_response(
        SubscriptionsAnswer(
            subscriptions=await _answers(context.services, principal.tenant, page),
            cursor=page[-1].subscription_id if len(rows) > len(page) else None,
        )
    )


async def get_subscription(context: RequestContext[SubscriptionServices]) -> Response:
    principal = (await context.authenticate()).principal
    return read_response(await _answer(context.services, await find(context, principal)))


async def rotate_webhook_secret(context: RequestContext[SubscriptionServices]) -> Response:
    """Give the webhook a new secret; for `overlap_s` the earlier ones sign messages too."""
    principal = (await context.authenticate()).principal
    body = schemas.parse(RotateSecretBody, context.body or b"{}")
    subscription = await find(context, principal)
    secret = webhook_message.new_secret()
    until = utc_now() + timedelta(seconds=body.overlap_s)
    is_done = await context.services.webhooks.rotate_secret(
        subscription.tenant, subscription.subscription_id, secret, until
    )
    if is_done is None:
        raise problems.not_found("subscription_id", "The subscription has no webhook.")
    if not is_done:
        raise problems.conflict(
            "overlap_s",
            f"{PREVIOUS_SECRETS_MAX} earlier secrets still sign messages: wait until one ends, or "
            "end them with 0",
        )
    return json_response(WebhookSecretAnswer(secret=secret, previous_until=until))


async def delete_subscription(context: RequestContext[SubscriptionServices]) -> Response:
    principal = (await context.authenticate()).principal
    if not await context.services.store.delete(maker_of(principal), _subscription_id(context)):
        raise _no_such_subscription()
    return Response(status_code=204)


async def find(context: RequestContext[SubscriptionServices], principal: Principal) -> Subscription:
    """The subscription of the path; a 404 `Problem` if it is not one of the caller's."""
    subscription = await context.services.store.get(maker_of(principal), _subscription_id(context))
    if subscription is None:
        raise _no_such_subscription()
    return subscription


async def _answer(services: SubscriptionServices, subscription: Subscription) -> SubscriptionAnswer:
    (answer,) = await _answers(services, subscription.tenant, [subscription])
    return answer


async def _answers(
    services: SubscriptionServices, tenant: str, subscriptions: Sequence[Subscription]
) -> tuple[SubscriptionAnswer, ...]:
    """With their webhooks."""
    ids = [subscription.subscription_id for subscription in subscriptions]
    webhooks = await services.webhooks.of_subscriptions(tenant, ids)
    return tuple(
        _to_answer(subscription, webhooks.get(subscription.subscription_id))
        for subscription in subscriptions
    )


def _to_answer(subscription: Subscription, webhook: Webhook | None) -> SubscriptionAnswer:
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
        webhook=None if webhook is None else _webhook(webhook),
    )


def _webhook(webhook: Webhook) -> WebhookAnswer:
    fields = asdict(webhook)
    letters = [DeadLetter.model_validate(letter, strict=False) for letter in webhook.dead_letters]
    url = _masked(webhook.url)
    return WebhookAnswer(**{**fields, "url": url, "dead_letters": tuple(letters)})


def _masked(url: str) -> str:
    """The URL's origin: what follows it often is a credential."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}/…"


def _subscription_id(context: RequestContext[SubscriptionServices]) -> str:
    value = context.request.path_params["subscription_id"]
    return schemas.parse_value("subscription_id", SUBSCRIPTION_ID, value)


def _no_such_subscription() -> problems.Problem:
    return problems.not_found("subscription_id", "The subscription does not exist.")
