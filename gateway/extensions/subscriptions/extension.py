"""Subscriptions: gateways stream their events, and the worker sends those of webhooks."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import structlog

from gateway.extension import Extension, McpMethod, Services, repeat
from gateway.extensions.subscriptions import resource_updates, subscription_services
from gateway.extensions.subscriptions.routes import ROUTES
from gateway.extensions.subscriptions.subscription_metrics import SubscriptionMetrics
from gateway.extensions.subscriptions.subscription_services import SubscriptionServices
from gateway.extensions.subscriptions.subscription_settings import SubscriptionSettings

_CLEANUP_INTERVAL_S = 60.0
_DELETED_MAX = 1_000  # in one cleanup

log = structlog.get_logger()


@asynccontextmanager
async def _open(
    services: Services, settings: SubscriptionSettings
) -> AsyncIterator[SubscriptionServices]:
    built = subscription_services.build(services, settings)
    async with built.follower.running():
        yield built


async def _work(services: SubscriptionServices, stop: asyncio.Event) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(services.webhook_sender.run(stop))
        group.create_task(repeat(stop, _CLEANUP_INTERVAL_S, lambda: _delete_unused(services)))


async def _delete_unused(services: SubscriptionServices) -> None:
    unused_s = timedelta(days=services.settings.retention_days).total_seconds()
    deleted = await services.store.delete_unused(unused_s, limit=_DELETED_MAX)
    if deleted:
        log.info("subscriptions", state="deleted", rows=deleted)


EXTENSION = Extension(
    summary="callers are told when the answer to a search changes, by streams and webhooks",
    routes=ROUTES,
    open=_open,
    settings=SubscriptionSettings,
    work=_work,
    metrics=SubscriptionMetrics,
    mcp_methods={
        "subscriptions/listen": McpMethod(
            resource_updates.listen,
            hint="Listen to it with subscriptions/listen to be told when they change; then read it "
            "again.",
        )
    },
)
