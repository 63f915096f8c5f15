"""Webhooks in PostgreSQL: where events of subscriptions are sent, and what became of them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from gateway.extensions.subscriptions.subscription_store import Subscription
from index.audit import audit_log
from index.postgres.database import Database

DEAD_LETTERS_KEPT = 20  # of a subscription
PREVIOUS_SECRETS_MAX = 3  # of a webhook: each is a signature in the header of a message
_SUBSCRIPTION_FIELDS = [each.name for each in fields(Subscription)]


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook as its subscriber sees it.

    attempts: at the event of now that failed. end_reason: None while the webhook is active.
    """

    url: str
    attempts: int
    next_attempt_at: datetime | None
    last_error: str | None
    end_reason: str | None
    dead_letters: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ActiveWebhook:
    """What a worker needs to send. event_id: of the last event that was delivered; may be empty."""

    subscription: Subscription
    url: str
    event_id: str
    attempts: int
    next_attempt_at: datetime | None


class WebhookStore:
    """Methods raise `DatabaseUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_subscriptions(
        self, tenant: str, subscription_ids: Collection[str]
    ) -> dict[str, Webhook]:
        rows = await self._database.rows(
            "webhooks.of_subscriptions", tenant, list(subscription_ids), DEAD_LETTERS_KEPT
        )
        return {
            row["subscription_id"]: Webhook(
                **{name: value for name, value in row.items() if name != "subscription_id"}
            )
            for row in rows
        }

    async def active_ids(self) -> set[str]:
        rows = await self._database.rows("webhooks.active")
        return {row["subscription_id"] for row in rows}

    async def active(self, subscription_ids: Collection[str]) -> list[ActiveWebhook]:
        rows = await self._database.rows("webhooks.get_active", list(subscription_ids))
        return [
            ActiveWebhook(
                Subscription(**{name: row[name] for name in _SUBSCRIPTION_FIELDS}),
                *(row[name] for name in ("url", "event_id")),
                *(row[name] for name in ("attempts", "next_attempt_at")),
            )
            for row in rows
        ]

    async def secrets(self, tenant: str, subscription_id: str) -> list[str]:
        """The secrets that sign a message of now, the current one first; none without a webhook."""
        rows = await self._database.rows("webhooks.secrets", tenant, subscription_id)
        return [row["secret"] for row in rows]

    async def rotate_secret(
        self, tenant: str, subscription_id: str, secret: str, until: datetime
    ) -> bool | None:
        """Make this the current secret; all earlier ones end at `until` or before.

        None without a webhook; False if more than `PREVIOUS_SECRETS_MAX` would last.
        """
        arguments = (tenant, subscription_id, secret, until, PREVIOUS_SECRETS_MAX)
        async with self._database.transaction() as session:
            row = await session.row("webhooks.rotate_secret", *arguments)
            if row is None:
                return None
            if row["is_done"]:
                await audit_log.append(
                    session, tenant, "subscription.rotate_secret", subscription_id, until=until
                )
            return bool(row["is_done"])

    async def record_delivered(self, tenant: str, subscription_id: str, event_id: str) -> None:
        await self._database.rows("webhooks.record_delivered", tenant, subscription_id, event_id)

    async def record_failed(
        self, tenant: str, subscription_id: str, *, attempts: int, pause_s: float, error: str
    ) -> None:
        arguments = (tenant, subscription_id, attempts, pause_s, error)
        await self._database.rows("webhooks.record_failed", *arguments)

    async def give_up(self, tenant: str, subscription_id: str, number: int, error: str) -> None:
        """Make the event a dead letter; the next event begins with no attempts."""
        arguments = (tenant, subscription_id, number, error, DEAD_LETTERS_KEPT)
        await self._database.rows("webhooks.give_up", *arguments)

    async def end(
        self, tenant: str, subscription_id: str, reason: str, error: str | None = None
    ) -> None:
        await self._database.rows("webhooks.end", tenant, subscription_id, reason, error)
