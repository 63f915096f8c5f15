"""`GET /v1/subscriptions/{subscription_id}/events`: the events of a subscription, as a stream."""

import asyncio
import time
from functools import partial

from starlette.responses import Response

from gateway.extension import Event, EventSender, EventStream, RequestContext, problems
from gateway.extensions.subscriptions.answer_events import parse_event_id
from gateway.extensions.subscriptions.subscription_endpoints import find
from gateway.extensions.subscriptions.subscription_services import SubscriptionServices
from gateway.extensions.subscriptions.subscription_watcher import (
    AnswerEvent,
    SubscriptionEnded,
    SubscriptionWatcher,
)

STREAMS_MAX = 8  # of one subscription in one worker; starting values, not measured
KEEP_ALIVE_S = 15.0


async def get_events(context: RequestContext[SubscriptionServices]) -> Response:
    """Stream events to the caller, each computed with the caller's rights at that moment."""
    services = context.services
    principal = (await context.authenticate()).principal
    subscription = await find(context, principal)
    if services.follower.receivers(subscription.subscription_id) >= STREAMS_MAX:
        raise problems.rate_limited("streams of this subscription", 1)
    await services.store.record_use([subscription.subscription_id])
    last_event = parse_event_id(context.request.headers.get("last-event-id", ""))
    watcher = SubscriptionWatcher(services.watchers, subscription, principal, last_event)
    stream = partial(send_events, services, watcher, subscription.interval_ms / 1000)
    return EventStream(stream, is_long_lived=True)


async def send_events(
    services: SubscriptionServices,
    watcher: SubscriptionWatcher,
    interval_s: float,
    send: EventSender,
) -> None:
    """Send an event whenever the answer differs from the one that was sent last, until the end."""
    services.metrics.streams(1)
    try:
        with services.follower.watching(watcher):
            await _send_answers(services, watcher, interval_s, send)
    except SubscriptionEnded as ended:
        fields = {"subscription": watcher.subscription_id, "reason": ended.reason}
        await send(Event("ended", fields))
        services.metrics.sent("ended")
    finally:
        services.metrics.streams(-1)


async def _send_answers(
    services: SubscriptionServices,
    watcher: SubscriptionWatcher,
    interval_s: float,
    send: EventSender,
) -> None:
    """Raises `SubscriptionEnded`."""
    await send.keep_alive()  # the client sees that it is connected
    while True:
        sent: AnswerEvent | None = None

        async def make_event() -> Event | None:
            nonlocal sent
            sent = await watcher.next_event()
            if sent is None:
                return None
            watcher.record_read(sent)
            return Event("answer", sent.fields, sent.event_id)

        await send.send_made(make_event)
        if sent is not None:
            watcher.record_received(sent)
            services.metrics.sent("answer")
            services.metrics.delayed(time.monotonic() - sent.since_s)
            await _pause(interval_s, send)
        while not await watcher.wait(KEEP_ALIVE_S):
            await send.keep_alive()


async def _pause(seconds: float, send: EventSender) -> None:
    """Let the least time between two events pass."""
    while seconds > KEEP_ALIVE_S:
        await asyncio.sleep(KEEP_ALIVE_S)
        await send.keep_alive()
        seconds -= KEEP_ALIVE_S
    await asyncio.sleep(seconds)
