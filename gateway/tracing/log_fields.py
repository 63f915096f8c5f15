"""The ids of the current trace and span in log lines."""

from collections.abc import MutableMapping
from typing import Any

from gateway.tracing.tracing import current_ids


def add_trace_ids(
    _logger: Any, _method: str, line: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """A processor of structlog; see `gateway.monitoring.logs`."""
    trace_id, span_id = current_ids()
    if trace_id and "trace_id" not in line:
        line["trace_id"], line["span_id"] = trace_id, span_id
    return line
