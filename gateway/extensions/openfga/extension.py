"""OpenFGA: the worker follows its relation tuples, and answers say how new their rights are."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.extension import Extension, Services
from gateway.extensions.openfga.openfga_metrics import OpenfgaMetrics
from gateway.extensions.openfga.openfga_services import OpenfgaServices
from gateway.extensions.openfga.openfga_settings import OpenfgaSettings
from gateway.extensions.openfga.rights_as_of import RightsAsOf
from gateway.extensions.openfga.tuple_store import TupleStore


@asynccontextmanager
async def _open(services: Services, settings: OpenfgaSettings) -> AsyncIterator[OpenfgaServices]:
    tuples = TupleStore(services.stores.database)
    metrics = OpenfgaMetrics(services.http.metrics)
    headers = services.http.rights_as_of
    rights_as_of = RightsAsOf(tuples, settings.tenants(), headers, metrics.lag)
    async with rights_as_of.running():
        yield OpenfgaServices(
            settings,
            services.stores.database,
            tuples,
            services.documents.writer,
            metrics,
            rights_as_of,
        )


async def _work(services: OpenfgaServices, stop: asyncio.Event) -> None:
    if services.settings.tenants():
        from gateway.extensions.openfga import store_watcher  # few deployments need its imports

        await store_watcher.watch_stores(services, stop)


EXTENSION = Extension(
    summary="memberships and readers follow the relation tuples of OpenFGA",
    routes=(),
    open=_open,
    settings=OpenfgaSettings,
    work=_work,
    metrics=OpenfgaMetrics,
)
