"""What subscriptions use, in a process of its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from gateway.extensions.subscriptions.extension import EXTENSION
from gateway.extensions.subscriptions.subscription_services import SubscriptionServices
from gateway.extensions.subscriptions.subscription_settings import SubscriptionSettings
from gateway.monitoring.metrics import Metrics
from gateway.services import Services, open_services
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder


@asynccontextmanager
async def own_services(
    settings: Settings, embedder: Embedder, metrics: Metrics | None = None, **fields: Any
) -> AsyncIterator[tuple[Services, SubscriptionServices]]:
    """fields: of the settings of subscriptions."""
    async with (
        open_services(settings, metrics or Metrics(), embedder) as services,
        EXTENSION.open(services, SubscriptionSettings(**fields)) as own,
    ):
        yield services, own
