"""What the administration of a tenant uses."""

from dataclasses import dataclass

from cache.redis.store import RedisStore
from cache.singleflight import Singleflight
from gateway.background.warm_up import WarmUp
from gateway.monitoring.metrics import Metrics
from gateway.recording.usage_meter import UsageMeter
from gateway.settings.settings import Settings
from gateway.stores import Stores


@dataclass(frozen=True, slots=True)
class AdminServices:
    """readiness: the probe of PostgreSQL that is under way."""

    settings: Settings
    metrics: Metrics
    store: RedisStore
    stores: Stores
    usage_meter: UsageMeter
    readiness: Singleflight[bool]
    warm_up: WarmUp


def build(
    settings: Settings,
    metrics: Metrics,
    stores: Stores,
    store: RedisStore,
    usage_meter: UsageMeter,
    warm_up: WarmUp,
) -> AdminServices:
    return AdminServices(
        settings=settings,
        metrics=metrics,
        store=store,
        stores=stores,
        usage_meter=usage_meter,
        readiness=Singleflight(),
        warm_up=warm_up,
    )
