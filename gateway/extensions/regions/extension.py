"""Regions: gateways far from PostgreSQL answer by read leases, and search standbys near them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel

from gateway.extension import Extension, Metrics, Services
from gateway.extensions._regions import standbys
from gateway.extensions.regions import region_process
from gateway.extensions.regions.region_metrics import RegionMetrics, StandbyMetrics


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[None]:
    """Of a primary without regions the lag of its standbys is measured too."""
    metrics = StandbyMetrics(services.http.metrics)

    async def sample() -> None:
        metrics.lags(await standbys.statuses(services.stores.database))

    services.state_sampler.also.append(sample)
    yield


def _metrics(metrics: Metrics) -> tuple[StandbyMetrics, RegionMetrics]:
    return StandbyMetrics(metrics), RegionMetrics(metrics)


EXTENSION: Extension[None] = Extension(
    "gateways far from PostgreSQL answer by read leases, and search standbys near them",
    open=_open,
    check=region_process.check,
    metrics=_metrics,
    region=region_process.opened,
)
