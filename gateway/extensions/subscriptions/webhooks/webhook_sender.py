"""Sends the events of subscriptions to their webhooks, in one worker at a time.

A worker leads while it holds a lock on a connection of its own. If the connection is lost while the
worker goes on for a moment, two workers may send the same event: a receiver tells by its id.
"""

import asyncio
from contextlib import suppress

import structlog

from common import background_tasks
from common.errors import Saturated
from gateway.extensions.subscriptions.webhooks.webhook_delivery import (
    DeliveryServices,
    WebhookDelivery,
)
from index.errors import IndexStoreError
from index.postgres.database import Database
from index.postgres.session import Session

# Starting values, not measured.
_POLL_S = 2.0  # for new webhooks, and for the lead
_POLL_S_MAX = 15.0

log = structlog.get_logger()


class WebhookSender:
    def __init__(
        self, database: Database, services: DeliveryServices, *, poll_s: float = _POLL_S
    ) -> None:
        self._database = database
        self._services = services
        self._poll_s = poll_s

    async def run(self, stop: asyncio.Event) -> None:
        """Send until `stop` is set, whenever this process leads and there is a webhook."""
        while not stop.is_set():
            try:
                if await self._services.store.active_ids():
                    async with self._database.direct_session() as session:
                        await self._lead(session, stop)
            except (IndexStoreError, Saturated, TimeoutError) as error:
                log.warning("webhooks", state="unavailable", detail=str(error))
            await _pause(stop, self._poll_s)

    async def _lead(self, session: Session, stop: asyncio.Event) -> None:
        """Send while the session holds the lock; each look at the lock shows that it is alive.

        Returns when there are no webhooks.
        """
        sending: dict[str, asyncio.Task[None]] = {}
        try:
            while not stop.is_set():
                async with asyncio.timeout(_POLL_S_MAX):
                    active = await self._services.store.active_ids()
                    if await session.value("webhooks.try_lead"):
                        await self._start_new(sending, active)
                if not active and not sending:
                    return
                await _pause(stop, self._poll_s)
        finally:
            await background_tasks.end(*sending.values())

    async def _start_new(self, sending: dict[str, "asyncio.Task[None]"], active: set[str]) -> None:
        for subscription_id, task in list(sending.items()):
            if task.done():
                del sending[subscription_id]
        new = active - sending.keys()
        for webhook in await self._services.store.active(new) if new else ():
            delivery = WebhookDelivery(self._services, webhook)
            sending[webhook.subscription.subscription_id] = asyncio.create_task(delivery.run())


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)
