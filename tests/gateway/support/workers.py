"""The services of a worker, in the event loop of the test."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.configured import configured_parts, extension_settings
from gateway.configured.installed_extensions import contributions, opened, switched_on
from gateway.monitoring.metrics import Metrics
from gateway.services import Brought, Services, open_services
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder


@asynccontextmanager
async def worker_services(
    settings: Settings, *embedders: Embedder, metrics: Metrics | None = None
) -> AsyncIterator[Services]:
    """With the jobs of extensions; it does what is queued when the test says so."""
    extensions = switched_on(settings.extensions_off)
    own = extension_settings.read(settings.extensions_off)
    working = {name: each for name, each in extensions.items() if each.is_at_work}
    brought = Brought(
        open_usage_meter=configured_parts.usage_meter(settings),
        contributions=contributions(extensions, own),
    )
    async with (
        open_services(settings, metrics or Metrics(), *embedders, brought=brought) as services,
        opened(working, services, own),
    ):
        yield services
