"""Serves the metrics of a worker, which has no HTTP API, on a port of their own."""

from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from prometheus_client import start_http_server

from common.command_errors import CommandError
from gateway.monitoring.metric_registry import MetricRegistry

log = structlog.get_logger()


@contextmanager
def serving(registry: MetricRegistry, host: str, port: int | None) -> Iterator[None]:
    """Serve `/metrics` during the block; nothing without a port. Raises `CommandError`."""
    if port is None:
        yield
        return
    try:
        server, thread = start_http_server(port, host, registry.collected)
    except OSError as error:
        raise CommandError(
            f"NEARHIT_WORKER_METRICS_PORT: can't listen on {host}:{port} ({error.strerror})"
        ) from None
    log.info("metrics", state="serving", port=server.server_port)
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
