"""`subscriptions/listen`: agents' clients hear when an answer that they read as a resource changes.

Nothing is stored: a client whose stream has ended listens again, and reads.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from itertools import islice
from typing import Any

from starlette.responses import Response

from common.errors import Saturated
from gateway.extension import (
    Event,
    EventSender,
    EventStream,
    RequestContext,
    SearchBody,
    problems,
    require_within_limits,
    utc_now,
)
from gateway.extensions._mcp.resource_addresses import search_of
from gateway.extensions.subscriptions.event_endpoint import KEEP_ALIVE_S
from gateway.extensions.subscriptions.subscription_services import SubscriptionServices
from gateway.extensions.subscriptions.subscription_store import Subscription
from gateway.extensions.subscriptions.subscription_watcher import (
    AnswerEvent,
    SubscriptionEnded,
    SubscriptionWatcher,
)
from index.errors import IndexStoreError
from index.tenants.principals import Principal

URIS_MAX = 16  # of one stream; starting values, not measured
_INTERVAL_MS = 1_000
_SUBSCRIPTION_META = "io.modelcontextprotocol/subscriptionId"


async def listen(
    context: RequestContext[SubscriptionServices], request: Mapping[str, Any]
) -> Response:
    """A stream of `subscriptions/listen`: an update of a resource for each new answer.

    Addresses that name no search are left out of what the first message honours.
    """
    principal = (await context.authenticate()).principal
    notifications = request.get("params", {}).get("notifications")
    requested = notifications if isinstance(notifications, dict) else {}
    uris = requested.get("resourceSubscriptions")
    watchers = _watchers(context, principal, uris if isinstance(uris, list) else ())
    follower = context.services.follower
    most = context.services.settings.subject_max
    if follower.unstored(principal) + len(watchers) > most:
        raise problems.rate_limited("resources that this subject listens to", 1)
    send = partial(_send_updates, context.services, principal, watchers, request["id"])
    return EventStream(send, is_long_lived=True)


def _watchers(
    context: RequestContext[SubscriptionServices], principal: Principal, uris: Sequence[Any]
) -> dict[str, SubscriptionWatcher]:
    watchers: dict[str, SubscriptionWatcher] = {}
    for uri in islice(dict.fromkeys(uri for uri in uris if isinstance(uri, str)), URIS_MAX):
        try:
            body = search_of(uri)
            require_within_limits(body)
        except problems.Problem:
            continue
        subscription = _unstored(principal, body)
        services = context.services.watchers
        watchers[uri] = SubscriptionWatcher(services, subscription, principal, None)
    return watchers


def _unstored(principal: Principal, body: SearchBody) -> Subscription:
    return Subscription(
        subscription_id="",
        tenant=principal.tenant,
        subject=principal.subject,
        key_id=principal.key_id,
        search=body.model_dump(mode="json", exclude_unset=True),
        reports_hits=False,
        interval_ms=_INTERVAL_MS,
        created_at=utc_now(),
        number=0,
        revision=None,
        reported_at=None,
    )


async def _send_updates(
    services: SubscriptionServices,
    principal: Principal,
    watchers: Mapping[str, SubscriptionWatcher],
    request_id: int | str,
    send: EventSender,
) -> None:
    """Send until the caller loses its rights, which ends the stream with the request's result.

    Streams that began meanwhile may have left no room for some addresses: these are not honoured.
    """
    follower = services.follower
    room = services.settings.subject_max - follower.unstored(principal)
    honoured = dict(islice(watchers.items(), max(room, 0)))
    with ExitStack() as watching:
        for watcher in honoured.values():
            watching.enter_context(follower.watching(watcher))
        await _send_honoured(services, principal, honoured, request_id, send)


async def _send_honoured(
    services: SubscriptionServices,
    principal: Principal,
    watchers: Mapping[str, SubscriptionWatcher],
    request_id: int | str,
    send: EventSender,
) -> None:
    meta = {_SUBSCRIPTION_META: request_id}
    honoured = {"resourceSubscriptions": list(watchers)} if watchers else {}
    acknowledged = {"notifications": honoured, "_meta": meta}
    await send(_notification("notifications/subscriptions/acknowledged", acknowledged))
    services.metrics.streams(1)
    try:
        async with asyncio.TaskGroup() as group:
            for uri, watcher in watchers.items():
                group.create_task(_watch(services, watcher, {"uri": uri, "_meta": meta}, send))
            confirm = services.watchers.authenticator.confirm
            group.create_task(keep_alive(send, partial(confirm, principal)))
    except* SubscriptionEnded:
        result = {"resultType": "complete", "_meta": meta}
        await send(Event("message", {"jsonrpc": "2.0", "id": request_id, "result": result}))
        services.metrics.sent("ended")
    finally:
        services.metrics.streams(-1)


async def _watch(
    services: SubscriptionServices,
    watcher: SubscriptionWatcher,
    update: Mapping[str, Any],
    send: EventSender,
) -> None:
    """Raises `SubscriptionEnded`."""
    sent: AnswerEvent | None = None

    async def make_event() -> Event | None:
        nonlocal sent
        sent = await watcher.next_event()
        return None if sent is None else _notification("notifications/resources/updated", update)

    while True:
        await send.send_made(make_event)
        if sent is not None:
            watcher.record_received(sent)
            services.metrics.sent("answer")
            await asyncio.sleep(_INTERVAL_MS / 1000)
        while not await watcher.wait(KEEP_ALIVE_S):
            pass


async def keep_alive(
    send: EventSender, confirm: Callable[[], Awaitable[object]], every_s: float = KEEP_ALIVE_S
) -> None:
    """Raises `SubscriptionEnded`, also for a stream that honours no address and has no watcher.

    confirm: raises a 401 `Problem` once the caller has lost its rights.
    """
    while True:
        await asyncio.sleep(every_s)
        with suppress(IndexStoreError, Saturated):
            try:
                await confirm()
            except problems.Problem as problem:
                if problem.status == 401:
                    raise SubscriptionEnded("revoked") from None
        await send.keep_alive()


def _notification(method: str, params: Mapping[str, Any]) -> Event:
    return Event("message", {"jsonrpc": "2.0", "method": method, "params": params})
