"""Delivers the events of one subscription to its webhook.

Each attempt reports the answer of that moment, with the rights of that moment: nothing is queued.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog

from common.errors import Saturated
from gateway.auth.authenticator import utc_now
from gateway.monitoring.subscription_metrics import SubscriptionMetrics
from gateway.problems import Problem
from gateway.subscriptions import webhook_message
from gateway.subscriptions.answer_events import parse_event_id
from gateway.subscriptions.subscription_watcher import (
    EndReason,
    SubscriptionEnded,
    SubscriptionWatcher,
    WatcherServices,
)
from gateway.subscriptions.webhook_message import WebhookMessage
from index.errors import IndexStoreError
from index.subscriptions.webhook_store import ActiveWebhook, WebhookStore
from index.tenants.principals import PrincipalStore
from ingest.web.addresses import AddressPolicy
from ingest.web.client import WebClient
from ingest.web.errors import Unfetchable
from ingest.web.host_rates import HostRates
from ingest.web.resolver import Resolver

# Starting values, not measured.
_REQUEST_S_MAX = 15.0
_THREADS_MAX = 16
_TENANT_REQUESTS_MAX = 4  # at once, so that a slow host of one tenant leaves threads to others
_WAIT_S = 60.0

log = structlog.get_logger()


class WebhookGone(Exception):
    """The receiver has said that it wants no more messages."""


class WebhookClient:
    """Sends messages in threads of its own, to allowed addresses alone."""

    def __init__(self, policy: AddressPolicy) -> None:
        self._client = WebClient(
            Resolver(policy),
            HostRates(time.monotonic),
            interval_s=0,
            request_s_max=_REQUEST_S_MAX,
        )
        self._threads = ThreadPoolExecutor(_THREADS_MAX, "webhooks")  # which start when needed
        self._requests: defaultdict[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(_TENANT_REQUESTS_MAX)
        )

    async def send(
        self, webhook: ActiveWebhook, secrets: Sequence[str], message: WebhookMessage
    ) -> str | None:
        """Send the message once; None, or why it was not taken. Raises `WebhookGone`."""
        headers = message.headers(secrets, utc_now())
        post, loop = self._client.post, asyncio.get_running_loop()
        async with self._requests[webhook.subscription.tenant]:
            try:
                status = await loop.run_in_executor(
                    self._threads, post, webhook.url, message.body, headers
                )
            except Unfetchable as error:
                return str(error)
        if status == 410:
            raise WebhookGone
        return None if 200 <= status < 300 else f"the receiver answers {status}"


@dataclass(frozen=True, slots=True)
class DeliveryServices:
    """pauses_s: after each failed attempt; after the last one an event is given up."""

    client: WebhookClient
    store: WebhookStore
    principals: PrincipalStore
    watchers: WatcherServices
    metrics: SubscriptionMetrics
    pauses_s: Sequence[float]

    def pause_s(self, attempts: int) -> float | None:
        """The time until the next attempt; None if there is no more."""
        return self.pauses_s[attempts - 1] if attempts <= len(self.pauses_s) else None


class WebhookDelivery:
    """The events of one subscription to its webhook."""

    def __init__(self, services: DeliveryServices, webhook: ActiveWebhook) -> None:
        self._services = services
        self._webhook = webhook
        self._subscription = webhook.subscription
        self._where = (self._subscription.tenant, self._subscription.subscription_id)

    async def run(self) -> None:
        """Send until the subscription or the webhook ends. A failed run is started again."""
        try:
            await self._run()
        except (IndexStoreError, Saturated) as error:
            log.warning("webhooks", state="unavailable", detail=str(error))
        except Problem as problem:  # the stored search is none of this version
            await self._services.store.end(*self._where, "invalid", problem.detail)

    async def _run(self) -> None:
        webhook, subscription = self._webhook, self._subscription
        assert subscription.key_id is not None, "the endpoint requires a key"
        principal = await self._services.principals.holder_now(
            subscription.tenant, subscription.key_id
        )
        if principal is None:
            await self._send_end("revoked")
            return
        watcher = SubscriptionWatcher(
            self._services.watchers, subscription, principal, parse_event_id(webhook.event_id)
        )
        try:
            with self._services.watchers.follower.watching(watcher):
                await self._send_answers(watcher)
        except SubscriptionEnded as ended:
            if ended.reason != "deleted":
                await self._send_end(ended.reason)
        except WebhookGone:
            await self._services.store.end(*self._where, "gone")

    async def _send_answers(self, watcher: SubscriptionWatcher) -> None:
        attempts = self._webhook.attempts
        if self._webhook.next_attempt_at is not None:
            due = self._webhook.next_attempt_at - datetime.now(UTC)
            await asyncio.sleep(max(0.0, due.total_seconds()))
        while True:
            event = await watcher.next_event()
            if event is not None:
                message = webhook_message.message(
                    watcher.subscription_id, str(event.number), "answer", event.fields, utc_now()
                )
                error = await self._send(message)
                if error is None:
                    attempts = 0
                    await self._services.store.record_delivered(*self._where, event.event_id)
                    self._services.metrics.delivery("delivered")
                    self._services.metrics.sent("answer")
                    await asyncio.sleep(self._subscription.interval_ms / 1000)
                else:
                    watcher.take_back()
                    attempts = await self._failed(attempts + 1, event.number, error)
                    if attempts:
                        continue  # with the event of now
            while not await watcher.wait(_WAIT_S):
                pass

    async def _send(self, message: WebhookMessage) -> str | None:
        """Send the message with the secrets of now, which may be rotated at any time."""
        secrets = await self._services.store.secrets(*self._where)
        if not secrets:  # the subscription is deleted
            raise WebhookGone
        return await self._services.client.send(self._webhook, secrets, message)

    async def _failed(self, attempts: int, number: int, error: str) -> int:
        """Wait for the next attempt; how many have failed, 0 if the event is given up."""
        pause_s = self._services.pause_s(attempts)
        if pause_s is None:
            self._services.metrics.delivery("given_up")
            await self._services.store.give_up(*self._where, number, error)
            return 0
        self._services.metrics.delivery("failed")
        await self._services.store.record_failed(
            *self._where, attempts=attempts, pause_s=pause_s, error=error
        )
        await asyncio.sleep(pause_s)
        return attempts

    async def _send_end(self, reason: EndReason) -> None:
        """Tell the receiver that nothing more comes, and let the webhook end."""
        data = {"subscription": self._subscription.subscription_id, "reason": reason}
        message = webhook_message.message(
            self._subscription.subscription_id, "ended", "ended", data, utc_now()
        )
        attempts, error = 0, None
        with suppress(WebhookGone):
            while True:
                error = await self._send(message)
                attempts += 1
                pause_s = self._services.pause_s(attempts)
                if error is None or pause_s is None:
                    break
                self._services.metrics.delivery("failed")
                await asyncio.sleep(pause_s)
        self._services.metrics.delivery("delivered" if error is None else "given_up")
        self._services.metrics.sent("ended")
        await self._services.store.end(*self._where, reason, error)
