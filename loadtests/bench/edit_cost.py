"""One edit of a tenant's first document over HTTP, and what it takes of its gateway."""

import time
from typing import NamedTuple

from loadtests.servers import metrics, processes
from loadtests.servers.service import Service
from loadtests.workload.tenant_client import TenantClient

_DRAINS_S = "nearhit_cache_drain_duration_seconds_sum"


class EditCost(NamedTuple):
    """put_ms: of the request. drain_ms: as the gateway times it. dropped: answers.

    processor_ms: of the gateway, in steps of ten milliseconds, so only means are meaningful.
    """

    put_ms: float
    drain_ms: float
    processor_ms: float
    dropped: float


def edit(gateway: Service, tenant: TenantClient, text: str) -> EditCost:
    drained_s = metrics.read(gateway.url, _DRAINS_S)
    dropped = metrics.cache_event(gateway.url, "dropped")
    processor_s, started_s = processes.processor_s(gateway.pid), time.perf_counter()
    tenant.edit_first(text)
    put_s = time.perf_counter() - started_s
    return EditCost(
        put_ms=put_s * 1000,
        processor_ms=(processes.processor_s(gateway.pid) - processor_s) * 1000,
        drain_ms=(metrics.read(gateway.url, _DRAINS_S) - drained_s) * 1000,
        dropped=metrics.cache_event(gateway.url, "dropped") - dropped,
    )
