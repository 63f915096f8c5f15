"""What traces requests and jobs, if the settings name a collector: of one of the extensions."""

from gateway.errors import CommandError
from gateway.installed_extensions import switched_on
from gateway.settings.settings import Settings
from gateway.tracing.tracing import MakeTracing, Service


def find(settings: Settings, service: Service) -> MakeTracing | None:
    """None if no collector is named.

    Raises `CommandError` unless one extension that is on sends spans, and if it refuses.
    """
    if settings.otlp_endpoint is None:
        return None
    extensions = switched_on(settings.extensions_off).values()
    checks = [each.tracing for each in extensions if each.tracing is not None]
    if len(checks) != 1:
        raise CommandError(
            "NEARHIT_OTLP_ENDPOINT needs one extension that sends spans; "
            f"{len(checks)} of those that are on do"
        )
    return checks[0](settings, service)
