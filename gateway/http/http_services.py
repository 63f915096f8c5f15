"""What serves every request before and after its handler, in one worker."""

import math
import time
from dataclasses import dataclass

from cache.rate_limit import RateLimit, RateLimiter
from cache.redis.store import RedisStore
from common.shares.budget import FairBudget
from common.shares.threads import FairThreads
from gateway.auth.authenticator import Authenticator, digest_of
from gateway.http.admission import AdmissionControl
from gateway.http.deadlines import Deadlines
from gateway.http.failures import FailureLimiter
from gateway.http.known_heads import KnownHeads
from gateway.http.request.address import ClientAddresses
from gateway.http.telemetry import RequestRecorder
from gateway.monitoring.logs import RequestLog
from gateway.monitoring.metrics import Metrics
from gateway.monitoring.tracing import Tracing
from gateway.recording.read_log import DenialRecorder
from gateway.settings.settings import Settings
from index.documents.visible_documents import VisibleDocuments

_TENANT_PART = 4  # one tenant has a quarter at most; a starting value, not measured


@dataclass(frozen=True, slots=True)
class HttpServices:
    """operator_digest: of the operator's key; None if the operator has none.

    threads: parse long bodies. denials, tracing: None if none are recorded, or traced.
    """

    settings: Settings
    metrics: Metrics
    deadlines: Deadlines
    operator_digest: bytes | None
    authenticator: Authenticator
    admission: AdmissionControl
    addresses: ClientAddresses
    failures: FailureLimiter
    denials: DenialRecorder | None
    recorder: RequestRecorder
    known_heads: KnownHeads
    rights_as_of: dict[str, tuple[bytes, bytes]]
    threads: FairThreads
    visible_documents: VisibleDocuments
    tracing: Tracing | None = None


def build(
    settings: Settings,
    metrics: Metrics,
    authenticator: Authenticator,
    store: RedisStore,
    denials: DenialRecorder | None,
    threads: FairThreads,
    visible_documents: VisibleDocuments,
    tracing: Tracing | None,
) -> HttpServices:
    deadlines = Deadlines()
    admission = AdmissionControl(
        _rate_limiters(settings, store),
        requests=FairBudget(
            total_max=settings.concurrent_requests_max,
            tenant_max=max(1, settings.concurrent_requests_max // _TENANT_PART),
        ),
        streams=FairBudget(
            total_max=settings.connections_max * 3 // 4,
            tenant_max=settings.connections_max // _TENANT_PART,
        ),
        body_bytes=FairBudget(
            total_max=settings.body_memory_bytes,
            tenant_max=settings.body_memory_bytes // _TENANT_PART,
        ),
    )
    rights_as_of: dict[str, tuple[bytes, bytes]] = {}  # by tenant; filled by who knows it
    is_logged = settings.log_level in ("debug", "info")
    recorder = RequestRecorder(
        metrics, RequestLog(settings.log_format) if is_logged else None, tracing
    )
    return HttpServices(
        settings=settings,
        metrics=metrics,
        deadlines=deadlines,
        operator_digest=None
        if settings.admin_key is None
        else digest_of(settings.admin_key.get_secret_value().encode()),
        authenticator=authenticator,
        admission=admission,
        addresses=ClientAddresses(settings.trusted_proxies, settings.trusted_proxy_header),
        failures=FailureLimiter(settings.address_failures_per_s, time.monotonic),
        denials=denials,
        recorder=recorder,
        known_heads=KnownHeads(
            authenticator,
            admission,
            deadlines,
            recorder,
            rights_as_of,
            is_traced=tracing is not None,
        ),
        rights_as_of=rights_as_of,
        threads=threads,
        visible_documents=visible_documents,
        tracing=tracing,
    )


def _rate_limiters(settings: Settings, store: RedisStore) -> dict[str, RateLimiter]:
    """By counter name; a rate of 0 is no limit. A bucket holds the tokens of two seconds."""
    rates = {"key": settings.key_requests_per_s, "tenant": settings.tenant_requests_per_s}
    return {
        name: RateLimiter(store, RateLimit(per_s, math.ceil(2 * per_s)), time.monotonic)
        for name, per_s in rates.items()
        if per_s
    }
