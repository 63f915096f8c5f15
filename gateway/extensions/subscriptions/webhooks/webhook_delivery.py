"""Delivers the events of one subscription to its webhook.

Each attempt reports the answer of that moment, with the rights of that moment: nothing is queued.
A message is made and signed after its thread has connected to the receiver, and written at once.
So neither other messages nor a slow receiver put time between the rights, or the secrets, and the
message.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

import structlog

from common.errors import Saturated
from common.shares.threads import FairThreads
from gateway.extension import problems, utc_now
from gateway.extensions._web.addresses import AddressPolicy
from gateway.extensions._web.client import OutgoingMessage, WebClient
from gateway.extensions._web.errors import Unfetchable
from gateway.extensions._web.host_rates import HostRates
from gateway.extensions._web.resolver import Resolver
from gateway.extensions.subscriptions.answer_events import parse_event_id
from gateway.extensions.subscriptions.subscription_metrics import SubscriptionMetrics
from gateway.extensions.subscriptions.subscription_watcher import (
    AnswerEvent,
    EndReason,
    SubscriptionEnded,
    SubscriptionWatcher,
    WatcherServices,
)
from gateway.extensions.subscriptions.webhooks import webhook_message
from gateway.extensions.subscriptions.webhooks.webhook_message import WebhookMessage
from gateway.extensions.subscriptions.webhooks.webhook_store import ActiveWebhook, WebhookStore
from index.errors import IndexStoreError
from index.tenants.principals import PrincipalStore

# Starting values, not measured.
_REQUEST_S_MAX = 15.0
_MAKE_S_MAX = 5.0  # for a message, while its receiver waits for it
_THREADS_MAX = 16
_TENANT_THREADS_MAX = 4  # so that a slow host of one tenant leaves threads to others
_WAITING_MAX = 100_000  # messages of one tenant; each subscription has one at most
_THREAD_WAIT_S_MAX = 3_600.0
_WAIT_S = 60.0

log = structlog.get_logger()

MakeMessage: TypeAlias = Callable[[], Awaitable[OutgoingMessage | None]]


class WebhookGone(Exception):
    """The receiver has said that it wants no more messages."""


class WebhookClient:
    """Sends messages in threads of its own, to allowed addresses alone."""

    def __init__(self, policy: AddressPolicy) -> None:
        self._policy = policy
        self._rates = HostRates(time.monotonic)
        self._threads = FairThreads(
            _THREADS_MAX,
            name="webhooks",
            waiting_max=_WAITING_MAX,
            wait_s_max=_THREAD_WAIT_S_MAX,
            tenant_threads_max=_TENANT_THREADS_MAX,
        )

    async def send(self, webhook: ActiveWebhook, make_message: MakeMessage) -> str | None:
        """Send one message; None, or why it was not taken. Raises `WebhookGone` and `Saturated`.

        make_message: called once the receiver is connected, for what is sent then, and signed; if
            it returns None, or takes too long, nothing is sent. What it raises, this raises.
        """
        loop, tenant = asyncio.get_running_loop(), webhook.subscription.tenant
        client = WebClient(
            Resolver(self._policy.of_messages_to(webhook.url), tenant=tenant),
            self._rates,
            interval_s=0,
            request_s_max=_REQUEST_S_MAX + _MAKE_S_MAX,
        )
        making: list[Future[OutgoingMessage | None]] = []

        def make_in_loop() -> OutgoingMessage | None:
            making.append(asyncio.run_coroutine_threadsafe(make(), loop))
            return making[0].result()

        async def make() -> OutgoingMessage | None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_MAKE_S_MAX):
                    return await make_message()
            return None

        try:
            status = await self._threads.run(tenant, client.post, webhook.url, make_in_loop)
        except Unfetchable as error:
            return str(error)
        finally:
            for future in making:
                future.cancel()  # if this was cancelled: the thread then sends nothing
        if status == 410:
            raise WebhookGone
        is_taken = status is None or 200 <= status < 300
        return None if is_taken else f"the receiver answers {status}"


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
        except problems.Problem as problem:  # the stored search is none of this version
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
            while event is not None:
                sent, error = await self._send_answer(watcher)
                if error is not None:
                    number = event.number if sent is None else sent.number
                    attempts = await self._failed(attempts + 1, number, error)
                    if not attempts:
                        break
                elif sent is not None:
                    attempts = 0
                    watcher.record_received(sent)
                    await self._delivered(sent)
                    break
                event = await watcher.next_event()  # it has changed, or was not made in time
            while not await watcher.wait(_WAIT_S):
                pass

    async def _send_answer(
        self, watcher: SubscriptionWatcher
    ) -> tuple[AnswerEvent | None, str | None]:
        """Send what is to report once the receiver is connected: that, and why it was not taken."""
        sent: AnswerEvent | None = None

        async def make_message() -> OutgoingMessage | None:
            nonlocal sent
            secrets = await self._secrets()
            sent = await watcher.next_event()
            if sent is None:
                return None
            watcher.record_read(sent)
            number, fields = str(sent.number), sent.fields
            message = webhook_message.message(
                watcher.subscription_id, number, "answer", fields, utc_now()
            )
            return _signed(message, secrets)

        error = await self._services.client.send(self._webhook, make_message)
        return sent, error

    async def _secrets(self) -> list[str]:
        """Those of now: one that has leaked may end while a message waits to be sent."""
        secrets = await self._services.store.secrets(*self._where)
        if not secrets:  # the subscription is deleted
            raise WebhookGone
        return secrets

    async def _delivered(self, event: AnswerEvent) -> None:
        """Record it, and let the least time between two events pass."""
        await self._services.store.record_delivered(*self._where, event.event_id)
        self._services.metrics.delivery("delivered")
        self._services.metrics.sent("answer")
        await asyncio.sleep(self._subscription.interval_ms / 1000)

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

        async def make_message() -> OutgoingMessage:
            return _signed(message, await self._secrets())

        attempts, error = 0, None
        with suppress(WebhookGone):
            while True:
                error = await self._services.client.send(self._webhook, make_message)
                attempts += 1
                pause_s = self._services.pause_s(attempts)
                if error is None or pause_s is None:
                    break
                self._services.metrics.delivery("failed")
                await asyncio.sleep(pause_s)
        self._services.metrics.delivery("delivered" if error is None else "given_up")
        self._services.metrics.sent("ended")
        await self._services.store.end(*self._where, reason, error)


def _signed(message: WebhookMessage, secrets: Sequence[str]) -> OutgoingMessage:
    return OutgoingMessage(message.body, message.headers(secrets, utc_now()))
