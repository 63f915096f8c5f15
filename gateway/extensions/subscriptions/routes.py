"""The routes of subscriptions."""

from gateway.extension import ApiRoute, Parameter, schemas
from gateway.extensions.subscriptions import (
    event_endpoint,
    subscription_endpoints,
    subscription_schemas,
)
from gateway.extensions.subscriptions.subscription_services import SubscriptionServices

_IN_PATH = {
    "subscription_id": Parameter(
        subscription_schemas.SUBSCRIPTION_ID.json_schema()
        | {"description": "identifier of the subscription"}
    )
}

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
        parameters={"cursor": Parameter(schemas.LINE.json_schema())},
    ),
    ApiRoute(
        "GET",
        "/v1/subscriptions/{subscription_id}/events",
        event_endpoint.get_events,
        needs="reader",
        summary="Stream the events of a subscription; `Last-Event-ID` resumes after an event",
        answer=subscription_schemas.AnswerEventData,
        media_type="text/event-stream",
        path_parameters=_IN_PATH,
    ),
    ApiRoute(
        "GET",
        "/v1/subscriptions/{subscription_id}",
        subscription_endpoints.get_subscription,
        needs="reader",
        summary="Get a subscription",
        answer=subscription_schemas.SubscriptionAnswer,
        path_parameters=_IN_PATH,
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
        path_parameters=_IN_PATH,
    ),
    ApiRoute(
        "DELETE",
        "/v1/subscriptions/{subscription_id}",
        subscription_endpoints.delete_subscription,
        needs="reader",
        summary="Delete a subscription; its streams end",
        status=204,
        path_parameters=_IN_PATH,
    ),
)
