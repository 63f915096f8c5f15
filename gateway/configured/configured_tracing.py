"""What traces requests and jobs, if the settings name a collector: of one of the extensions."""

from gateway.configured import of_one_extension
from gateway.monitoring.tracing import MakeTracing, Service
from gateway.settings.settings import Settings


def find(settings: Settings, service: Service) -> MakeTracing | None:
    """None if no collector is named.

    Raises `CommandError` unless one extension that is on sends spans, and if it refuses.
    """
    if settings.otlp_endpoint is None:
        return None
    check = of_one_extension.require(
        settings, lambda each: each.tracing, "send spans", "otlp_endpoint"
    )
    return check(settings, service)
