"""What the operator sees of a process."""

from pydantic import Field, NonNegativeInt
from pydantic_settings import BaseSettings

from gateway.settings.groups.servers import Port


class MonitoringSettings(BaseSettings):
    """Monitoring."""

    metrics_tenants_max: NonNegativeInt = Field(
        0,
        le=1_000,
        description="tenants with a label of their own in the metrics of a process, the first that "
        "it meets; all others share the label `other`. 0: no tenant's name is in the metrics",
    )
    worker_metrics_port: Port | None = Field(
        None,
        description="port on `NEARHIT_HOST` where `nearhit worker` serves its metrics; unset: "
        "nowhere",
    )
    otlp_endpoint: str | None = Field(
        None,
        pattern=r"^https?://[^\s]+$",
        description="URL of a collector that takes traces by OTLP over HTTP, without `/v1/traces`; "
        "needs the extra `otel`. Unset: nothing is traced",
    )
    trace_share: float = Field(
        0.01,
        ge=0,
        le=1,
        description="share of the requests and jobs that are traced; a request with `traceparent` "
        "says itself whether it is",
    )
