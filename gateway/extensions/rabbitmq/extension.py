"""RabbitMQ: the worker applies the events in which other systems report changes of documents."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.extension import Extension, Services
from gateway.extensions.rabbitmq.event_handler import EventHandler
from gateway.extensions.rabbitmq.event_version_store import EventVersionStore
from gateway.extensions.rabbitmq.rabbitmq_metrics import RabbitmqMetrics
from gateway.extensions.rabbitmq.rabbitmq_services import RabbitmqServices
from gateway.extensions.rabbitmq.rabbitmq_settings import RabbitmqSettings


@asynccontextmanager
async def _open(services: Services, settings: RabbitmqSettings) -> AsyncIterator[RabbitmqServices]:
    handler = EventHandler(
        services.documents.writer,
        EventVersionStore(services.stores.database),
        services.settings.language,
        may_publish=settings.may_publish,
    )
    metrics = RabbitmqMetrics(services.http.metrics)
    yield RabbitmqServices(settings, services.settings, handler, metrics)


async def _work(services: RabbitmqServices, stop: asyncio.Event) -> None:
    if services.settings.url is not None:
        from gateway.extensions.rabbitmq import rabbitmq_consumer  # needs an extra

        await rabbitmq_consumer.consumer(services).run(stop)


EXTENSION = Extension(
    summary="documents follow the events of RabbitMQ",
    routes=(),
    open=_open,
    settings=RabbitmqSettings,
    work=_work,
    metrics=RabbitmqMetrics,
)
