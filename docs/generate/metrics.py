"""docs/reference/metrics.md: every metric with its labels."""

from collections.abc import Iterable
from typing import Any

from docs.generate.markdown import NOTE, code, join, table
from gateway.configured.installed_extensions import with_metrics
from gateway.monitoring.metrics import Metrics


def page() -> str:
    # The package offers no public way to the labels of a metric that has counted nothing yet.
    collectors: Iterable[Any] = with_metrics(Metrics()).registry.collectors
    rows = []
    for collector in collectors:
        (family,) = collector.describe()
        suffix = "_total" if family.type == "counter" else ""
        labels = ", ".join(code(label) for label in collector._labelnames)  # noqa: SLF001
        rows.append((code(family.name + suffix), family.type, labels, family.documentation))
    return join(
        "# Metrics",
        "`GET /metrics` answers in Prometheus's text format, or in OpenMetrics if the header\n"
        "`Accept` asks for it, and needs no key.\n"
        "With several worker processes it answers for all of them together.\n"
        "`nearhit worker` serves its metrics on `NEARHIT_WORKER_METRICS_PORT`, if that is set.",
        "Every time is in seconds. A histogram has the series `_bucket`, `_sum` and `_count`.\n"
        "The label `tenant` is `other` for all tenants but the first\n"
        "`NEARHIT_METRICS_TENANTS_MAX` of each process: [monitoring](../operations/monitoring.md).",
        NOTE.format(source="`gateway/monitoring`"),
        table(("metric", "type", "labels", "what"), sorted(rows)),
    )
