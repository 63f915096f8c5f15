"""The request and response bodies of subscriptions, and the data of their events."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field, TypeAdapter

from gateway.extension import Body, HitAnswer, SearchBody, with_example
from index.model.document import Line

INTERVAL_MS_MAX = 86_400_000
_DAY_S = 86_400
SUBSCRIPTION_ID: TypeAdapter[str] = TypeAdapter(Line)
# Fields of a search that a subscription has no use for: they would call a language model at each
# change, describe how fresh one answer must be, or add what is no part of the hits.
REFUSED_FIELDS = (
    *("history", "gate", "rerank", "candidates", "context", "explain"),
    *("consistency", "max_staleness_ms", "semantic", "vector", "typing"),
)


class WebhookBody(Body):
    url: Line = Field(description="an https URL; messages are sent to public addresses alone")


class DeliverBody(Body):
    """What the subscriber is told, and how often."""

    hits: Literal["none", "changes"] = Field(
        "none", description="`changes`: events say which hits came, changed and went"
    )
    interval_ms: int = Field(
        1_000,
        ge=100,
        le=INTERVAL_MS_MAX,
        description="minimum time between two events; changes in between are reported together",
    )


class DeliverWithWebhookBody(DeliverBody):
    webhook: WebhookBody | None = Field(
        None, description="where a worker sends each event, as Standard Webhooks has it"
    )


class SubscriptionBody(Body):
    model_config = with_example(search={"query": "annual leave"})

    search: SearchBody = Field(
        description="the search whose answer is watched, without the fields that concern one "
        f"request alone: {', '.join(f'`{name}`' for name in REFUSED_FIELDS)}"
    )
    deliver: DeliverWithWebhookBody = DeliverWithWebhookBody()


class DeadLetter(Body):
    """An event that was given up after the last attempt; the next event reports it too."""

    number: int = Field(description="number of the event")
    given_up_at: datetime = Field(description="when the last attempt failed")
    error: str = Field(description="why it failed")


class WebhookAnswer(Body):
    url: str = Field(
        description="whole when the subscription is created, later only its origin, because the "
        "rest often is a credential"
    )
    secret: str | None = Field(
        None, description="verifies the signatures; shown once, when the subscription is created"
    )
    attempts: int = Field(description="failed attempts to deliver the event of now")
    next_attempt_at: datetime | None = Field(
        description="when the next event is sent after a failure; null: none failed"
    )
    last_error: str | None
    end_reason: str | None = Field(
        description="why nothing more is sent: `revoked`, `expired`, `public_not_received` if the "
        "search names `public` and the tenant stopped receiving, `gone` after an answer with 410, "
        "or `invalid` if this version no longer reads the search; null: it is active"
    )
    dead_letters: tuple[DeadLetter, ...] = Field(description="newest first")


class RotateSecretBody(Body):
    overlap_s: int = Field(
        _DAY_S,
        ge=0,
        le=90 * _DAY_S,
        description="how long the earlier secrets sign messages too; 0 ends these at once",
    )


class WebhookSecretAnswer(Body):
    secret: str = Field(description="verifies the signatures from now on; shown once")
    previous_until: datetime = Field(
        description="until when messages have signatures by earlier secrets too"
    )


class SubscriptionAnswer(Body):
    id: str
    search: dict[str, Any] = Field(
        description="the search, as the subscriber sent it", examples=[{"query": "annual leave"}]
    )
    deliver: DeliverBody
    created_at: datetime
    number: int = Field(description="of the last event; 0 before the first one")
    revision: int | None = Field(description="up to which the last event's answer was correct")
    reported_at: datetime | None = Field(description="the time of the last event")
    webhook: WebhookAnswer | None = Field(description="state of the webhook; null: none")


class SubscriptionsAnswer(Body):
    subscriptions: tuple[SubscriptionAnswer, ...] = Field(description="the caller's subscriptions")
    cursor: str | None = Field(description="the `cursor` of the next page; null on the last page")


class RemovedHit(Body):
    chunk_id: int
    document_id: str


class HitChanges(Body):
    """Applied to the hits that the receiver has, these give the hits of the answer of now."""

    chunk_ids: tuple[int, ...] = Field(description="of all hits of the answer, best first")
    added: tuple[HitAnswer, ...] = Field(description="hits that the answer did not have")
    updated: tuple[HitAnswer, ...] = Field(description="hits of which a field has changed")
    removed: tuple[RemovedHit, ...] = Field(description="hits that the answer no longer has")


class AnswerEventData(Body):
    """The data of the event `answer`."""

    subscription: str = Field(description="identifier of the subscription", examples=["9f2c41"])
    number: int = Field(description="of the event; numbers only rise")
    since: int | None = Field(
        description="the event that the changes are counted from; null: the receiver has nothing, "
        "and `added` has all hits"
    )
    revision: int = Field(description="the revision of the tenant up to which the answer is right")
    low_confidence: bool = Field(
        description="true if no hit reaches the minimum score; else absent"
    )
    hits: HitChanges | None = Field(None, description="absent unless `deliver.hits` is `changes`")
