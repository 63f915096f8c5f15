"""The routes of subscriptions; see `gateway.api.routes.table`."""

from gateway.api import parameters
from gateway.http.route import ApiRoute
from gateway.subscriptions import event_endpoint, subscription_endpoints, subscription_schemas
from gateway.subscriptions.subscription_services import SubscriptionServices

ROUTES: tuple[ApiRoute[SubscriptionServices], ...] = (
    ApiRoute(
        "POST",
        "/v1/subscriptions",
        subscription_endpoints.create_subscription,
        needs="reader",
        summary="Subscribe to a search: events report its answer whenever it changes",
        body=subscription_schemas.SubscriptionBody,
        answer=subscription_schemas.SubscriptionAnswer,
        status=201,
    ),
    ApiRoute(
        "GET",
        "/v1/subscriptions",
        subscription_endpoints.list_subscriptions,
        needs="reader",
        summary="List the caller's subscriptions",
        answer=subscription_schemas.SubscriptionsAnswer,
        parameters={"cursor": parameters.LINE_CURSOR},
    ),
    ApiRoute(
        "GET",
        "/v1/subscriptions/{subscription_id}/events",
        event_endpoint.get_events,
        needs="reader",
        summary="Stream the events of a subscription; `Last-Event-ID` resumes after an event",
        answer=subscription_schemas.AnswerEventData,
        media_type="text/event-stream",
    ),
    ApiRoute(
        "GET",
        "/v1/subscriptions/{subscription_id}",
        subscription_endpoints.get_subscription,
        needs="reader",
        summary="Get a subscription",
        answer=subscription_schemas.SubscriptionAnswer,
    ),
    ApiRoute(
        "POST",
        "/v1/subscriptions/{subscription_id}/webhook/rotate",
        subscription_endpoints.rotate_webhook_secret,
        needs="reader",
        summary="Rotate the secret of a subscription's webhook; the old one signs too for a while",
        body=subscription_schemas.RotateSecretBody,
        is_body_optional=True,
        answer=subscription_schemas.WebhookSecretAnswer,
    ),
    ApiRoute(
        "DELETE",
        "/v1/subscriptions/{subscription_id}",
        subscription_endpoints.delete_subscription,
        needs="reader",
        summary="Delete a subscription; its streams end",
        status=204,
    ),
)
