"""Subscriptions in PostgreSQL, with the events that reported their answers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from datetime import datetime
from typing import Any

from index.audit import audit_log
from index.errors import TenantFull, TenantMissing
from index.model.scope import Maker
from index.postgres.database import Database

CHANNEL = "nearhit_subscriptions"  # as in migrations/0001_schema.sql
EVENTS_KEPT = 64  # of a subscription; a client that has seen none of them hears the whole answer


@dataclass(frozen=True, slots=True)
class NewSubscription:
    """search: the body of the search, as JSON has it. key_id: None for a web token."""

    subscription_id: str
    tenant: str
    subject: str
    key_id: str | None
    search: Mapping[str, Any]
    reports_hits: bool
    interval_ms: int
    webhook: "NewWebhook | None" = None


@dataclass(frozen=True, slots=True)
class NewWebhook:
    """secret: that signs the messages."""

    url: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Subscription:
    """A stored subscription.

    interval_ms: the least time between two events that one receiver gets.
    number, revision, reported_at: of the last event; 0 and None before the first one.
    """

    subscription_id: str
    tenant: str
    subject: str
    key_id: str | None
    search: Mapping[str, Any]
    reports_hits: bool
    interval_ms: int
    created_at: datetime
    number: int
    revision: int | None
    reported_at: datetime | None


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """What an event reported. hits: of each its chunk, its document and its digest."""

    digest: bytes
    hits: Sequence[tuple[int, str, str]]


@dataclass(frozen=True, slots=True)
class EventRecord:
    """number: of the event that reports the answer; None if an event of a later revision exists."""

    number: int | None


class SubscriptionStore:
    """Methods raise `DatabaseUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self, new: NewSubscription, *, tenant_max: int, subject_max: int
    ) -> Subscription:
        """Raises `TenantFull` at one of the limits, and `TenantMissing`."""
        async with self._database.transaction() as session:
            if await session.row("subscriptions.lock_tenant", new.tenant) is None:
                raise TenantMissing(new.tenant)
            counts = await session.row("subscriptions.counts", new.tenant, new.subject)
            assert counts is not None
            if counts["subject_count"] >= subject_max:
                raise TenantFull(new.subject, subject_max, "subscriptions")
            if counts["tenant_count"] >= tenant_max:
                raise TenantFull(new.tenant, tenant_max, "subscriptions")
            row = await session.row(
                "subscriptions.create",
                new.subscription_id,
                new.tenant,
                new.subject,
                new.key_id,
                new.search,
                new.reports_hits,
                new.interval_ms,
            )
            assert row is not None
            if new.webhook is not None:
                where = (new.tenant, new.subscription_id)
                await session.rows("webhooks.create", *where, new.webhook.url, new.webhook.secret)
            await audit_log.append(session, new.tenant, "subscription.create", new.subscription_id)
            return Subscription(**row)

    async def get(self, maker: Maker, subscription_id: str) -> Subscription | None:
        row = await self._database.row("subscriptions.get", *astuple(maker), subscription_id)
        return None if row is None else Subscription(**row)

    async def page(self, maker: Maker, *, after: str, limit: int) -> list[Subscription]:
        """The maker's subscriptions, by identifier."""
        rows = await self._database.rows("subscriptions.page", *astuple(maker), after, limit)
        return [Subscription(**row) for row in rows]

    async def delete(self, maker: Maker, subscription_id: str) -> bool:
        """Delete the subscription; False if the maker has none of this identifier."""
        async with self._database.transaction() as session:
            row = await session.row("subscriptions.delete", *astuple(maker), subscription_id)
            if row is not None:
                await audit_log.append(
                    session, maker.tenant, "subscription.delete", subscription_id
                )
            return row is not None

    async def delete_unused(self, unused_s: float, *, limit: int) -> int:
        """Delete subscriptions that nobody has used for so long; how many."""
        return len(await self._database.rows("subscriptions.delete_unused", unused_s, limit))

    async def record_use(self, subscription_ids: Collection[str]) -> None:
        await self._database.rows("subscriptions.record_use", list(subscription_ids))

    async def existing(self, subscription_ids: Collection[str]) -> set[str]:
        rows = await self._database.rows("subscriptions.existing", list(subscription_ids))
        return {row["subscription_id"] for row in rows}

    async def event(self, tenant: str, subscription_id: str, number: int) -> StoredEvent | None:
        """What an event reported; None if it is no longer stored."""
        row = await self._database.row("subscriptions.event", tenant, subscription_id, number)
        if row is None:
            return None
        hits = tuple(
            (chunk_id, document_id, digest) for chunk_id, document_id, digest in row["hits"]
        )
        return StoredEvent(row["digest"], hits)

    async def record_event(
        self,
        tenant: str,
        subscription_id: str,
        event: StoredEvent,
        *,
        after: int,
        history: str,
        revision: int,
        public_revision: int | None,
    ) -> EventRecord | None:
        """Number the event that reports an answer, in one statement; None without a subscription.

        after: the number of the last event that the receiver has, or 0. Events are numbered in the
        order of the revisions at which their answers are correct.
        """
        row = await self._database.row(
            "subscriptions.record_event",
            tenant,
            subscription_id,
            event.digest,
            history,
            revision,
            public_revision,
            event.hits,
            EVENTS_KEPT,
            after,
        )
        assert row is not None
        return EventRecord(row["number"]) if row["is_there"] else None
