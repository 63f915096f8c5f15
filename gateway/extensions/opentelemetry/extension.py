"""Spans are sent to the collector that the operator names, by OpenTelemetry."""

from importlib.util import find_spec

from gateway.extension import CommandError, Extension, MakeTracing, Service, Settings, Tracing

_MODULES = ("opentelemetry", "opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")


def _check(settings: Settings, service: Service) -> MakeTracing:
    """Raises `CommandError` if OpenTelemetry is not installed; importing it takes a while."""
    if not all(map(_is_installed, _MODULES)):
        raise CommandError(
            "NEARHIT_OTLP_ENDPOINT needs the extra `otel`: pip install '.[otel]' in a checkout"
        )

    def make() -> Tracing:
        from gateway.extensions.opentelemetry.opentelemetry_tracing import OpenTelemetryTracing

        assert settings.otlp_endpoint is not None, "nothing is traced without one"
        return OpenTelemetryTracing(
            settings.otlp_endpoint,
            service,
            share=settings.trace_share,
            comments_statements=settings.pooler_url is None,
        )

    return make


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of a package around it
        return False


EXTENSION: Extension[None] = Extension(
    "sampled requests and jobs are traced, and their spans sent to a collector",
    tracing=_check,
)
