"""What the administration of a tenant uses."""

from dataclasses import dataclass

from cache.redis.store import RedisStore
from cache.singleflight import Singleflight
from gateway.monitoring.metrics import Metrics
from gateway.recording.search_statistics import SearchStatistics
from gateway.recording.usage_meter import UsageMeter
from gateway.settings.settings import Settings
from gateway.stores import Stores
from gateway.warm_up import WarmUp
from index.audit.audit_log import AuditLog
from index.audit.audit_schedule import AuditSchedule
from index.jobs.job_queue import JobQueue
from index.tenants.keys import KeyStore
from index.tenants.quota_store import QuotaStore
from index.tenants.search_statistics import SearchStatisticsStore
from index.tenants.tenant_store import TenantStore
from index.tenants.usage import UsageStore


@dataclass(frozen=True, slots=True)
class AdminServices:
    """readiness: the probe of PostgreSQL that is under way."""

    settings: Settings
    metrics: Metrics
    store: RedisStore
    tenants: TenantStore
    keys: KeyStore
    jobs: JobQueue
    usage: UsageStore
    usage_meter: UsageMeter
    search_statistics: SearchStatistics
    search_statistics_store: SearchStatisticsStore
    quotas: QuotaStore
    audits: AuditSchedule
    audit_log: AuditLog
    readiness: Singleflight[bool]
    warm_up: WarmUp


def build(
    settings: Settings,
    metrics: Metrics,
    stores: Stores,
    store: RedisStore,
    usage_meter: UsageMeter,
    search_statistics: SearchStatistics,
    warm_up: WarmUp,
) -> AdminServices:
    return AdminServices(
        settings=settings,
        metrics=metrics,
        store=store,
        tenants=stores.tenants,
        keys=stores.keys,
        jobs=stores.jobs,
        usage=stores.usage,
        usage_meter=usage_meter,
        search_statistics=search_statistics,
        search_statistics_store=stores.search_statistics,
        quotas=stores.quotas,
        audits=stores.audits,
        audit_log=stores.audit_log,
        readiness=Singleflight(),
        warm_up=warm_up,
    )
