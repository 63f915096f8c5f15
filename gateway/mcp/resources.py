"""Answers to searches as resources: a client reads one, and listens to hear when it changes.

The address of such a resource is the search itself, so nothing is stored: a client whose stream has
ended listens again, and reads.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from itertools import islice
from typing import Any
from urllib.parse import parse_qs

import orjson
from starlette.responses import Response

from common.errors import Saturated
from gateway import problems, schemas
from gateway.auth.authenticator import utc_now
from gateway.auth.freshness import revision_header
from gateway.http.event_stream import Event, EventSender, EventStream
from gateway.http.request_context import RequestContext
from gateway.http.responses import cache_headers
from gateway.mcp import results
from gateway.mcp.mcp_services import McpServices
from gateway.mcp.search_arguments import SearchArguments
from gateway.mcp.tools import Headers
from gateway.search.pipeline import search_as_caller
from gateway.search.response_headers import cache_status
from gateway.search.schemas.search_schemas import SearchBody
from gateway.search.search_request import require_within_limits
from gateway.subscriptions.event_endpoint import KEEP_ALIVE_S
from gateway.subscriptions.subscription_watcher import (
    AnswerEvent,
    SubscriptionEnded,
    SubscriptionWatcher,
)
from index.errors import IndexStoreError
from index.subscriptions.subscription_store import Subscription
from index.tenants.principals import Principal

URI_TEMPLATE = "nearhit://search{?query,top_k,source*}"
URIS_MAX = 16  # of one stream; starting values, not measured
_INTERVAL_MS = 1_000
_SUBSCRIPTION_META = "io.modelcontextprotocol/subscriptionId"


def search_of(uri: str) -> SearchBody:
    """The search that the address names. A 422 `Problem` if it names none."""
    address, _, query_string = uri.partition("?")
    if address != "nearhit://search":
        raise problems.invalid_field("uri", f"must be like {URI_TEMPLATE}")
    fields = parse_qs(query_string)
    (query,) = fields.pop("query", [""])[:1]
    arguments: dict[str, Any] = {"query": query}
    if top_k := fields.pop("top_k", []):
        if not top_k[0].isdecimal():
            raise problems.invalid_field("top_k", "must be a number")
        arguments["top_k"] = int(top_k[0])
    if sources := fields.pop("source", []):
        arguments["sources"] = sources
    if fields:
        raise problems.invalid_field("uri", f"must be like {URI_TEMPLATE}")
    parsed = schemas.parse(SearchArguments, orjson.dumps(arguments))
    return schemas.parse(SearchBody, parsed.body())


async def read(
    context: RequestContext[McpServices], params: Mapping[str, Any]
) -> tuple[bytes, Headers]:
    """The contents of the resource: the hits that the caller gets now, as the tool returns them."""
    uri = str(params.get("uri"))
    body = search_of(uri)
    require_within_limits(body, context.services.settings)
    answered = await search_as_caller(context, context.services.search, body)
    answer, tenant = answered.answer, answered.request.scope.tenant
    tokens_max = context.services.settings.mcp_tokens_max
    text = results.search(orjson.loads(answer.body), tenant=tenant, tokens_max=tokens_max)
    contents = [{"uri": uri, "mimeType": "application/json", "text": text.decode()}]
    headers = [
        *cache_headers(context.http.settings, (b"cache-status", cache_status(answer))),
        (b"nearhit-revision", revision_header(answer.valid_until, tenant)),
        (b"nearhit-consistency", answered.consistency),
    ]
    fields = {"contents": contents, "ttlMs": 0, "cacheScope": "private"}
    return orjson.dumps(fields)[1:-1], headers


async def listen(context: RequestContext[McpServices], request: Mapping[str, Any]) -> Response:
    """A stream of `subscriptions/listen`: an update of a resource for each new answer.

    Addresses that name no search are left out of what the first message honours.
    """
    principal = (await context.authenticate()).principal
    notifications = request.get("params", {}).get("notifications")
    requested = notifications if isinstance(notifications, dict) else {}
    uris = requested.get("resourceSubscriptions")
    watchers = _watchers(context, principal, uris if isinstance(uris, list) else ())
    follower = context.services.subscriptions.follower
    most = context.services.settings.subject_subscriptions_max
    if follower.unstored(principal) + len(watchers) > most:
        raise problems.rate_limited("resources that this subject listens to", 1)
    send = partial(_send_updates, context.services, principal, watchers, request["id"])
    return EventStream(send, is_long_lived=True)


def _watchers(
    context: RequestContext[McpServices], principal: Principal, uris: Sequence[Any]
) -> dict[str, SubscriptionWatcher]:
    watchers: dict[str, SubscriptionWatcher] = {}
    for uri in uris:
        if not isinstance(uri, str) or len(watchers) >= URIS_MAX:
            continue
        try:
            body = search_of(uri)
            require_within_limits(body, context.services.settings)
        except problems.Problem:
            continue
        subscription = _unstored(principal, body)
        services = context.services.subscriptions.watchers
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
    services: McpServices,
    principal: Principal,
    watchers: Mapping[str, SubscriptionWatcher],
    request_id: int | str,
    send: EventSender,
) -> None:
    """Send until the caller loses its rights, which ends the stream with the request's result.

    Streams that began meanwhile may have left no room for some addresses: these are not honoured.
    """
    follower = services.subscriptions.follower
    room = services.settings.subject_subscriptions_max - follower.unstored(principal)
    honoured = dict(islice(watchers.items(), max(room, 0)))
    with ExitStack() as watching:
        for watcher in honoured.values():
            watching.enter_context(follower.watching(watcher))
        await _send_honoured(services, principal, honoured, request_id, send)


async def _send_honoured(
    services: McpServices,
    principal: Principal,
    watchers: Mapping[str, SubscriptionWatcher],
    request_id: int | str,
    send: EventSender,
) -> None:
    meta = {_SUBSCRIPTION_META: request_id}
    honoured = {"resourceSubscriptions": list(watchers)} if watchers else {}
    acknowledged = {"notifications": honoured, "_meta": meta}
    await send(_notification("notifications/subscriptions/acknowledged", acknowledged))
    services.subscriptions.metrics.streams(1)
    try:
        async with asyncio.TaskGroup() as group:
            for uri, watcher in watchers.items():
                group.create_task(_watch(services, watcher, {"uri": uri, "_meta": meta}, send))
            confirm = services.subscriptions.watchers.authenticator.confirm
            group.create_task(keep_alive(send, partial(confirm, principal)))
    except* SubscriptionEnded:
        result = {"resultType": "complete", "_meta": meta}
        await send(Event("message", {"jsonrpc": "2.0", "id": request_id, "result": result}))
        services.subscriptions.metrics.sent("ended")
    finally:
        services.subscriptions.metrics.streams(-1)


async def _watch(
    services: McpServices,
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
            services.subscriptions.metrics.sent("answer")
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
