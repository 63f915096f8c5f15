"""docs/reference/metrics.md: every metric with its labels."""

from collections.abc import Iterable
from typing import Any

from docs.generate.markdown import NOTE, code, join, table
from gateway.metrics import Metrics


def page() -> str:
    # The package offers no public way to the labels of a metric that has counted nothing yet.
    collectors: Iterable[Any] = Metrics()._registry._collector_to_names  # noqa: SLF001
    rows = []
    for collector in collectors:
        (family,) = collector.describe()
        suffix = "_total" if family.type == "counter" else ""
        labels = ", ".join(code(label) for label in collector._labelnames)  # noqa: SLF001
        rows.append((code(family.name + suffix), family.type, labels, family.documentation))
    return join(
        "# Metrics",
        "`GET /metrics` answers in Prometheus's text format and needs no key.\n"
        "With several worker processes it answers for all of them together.",
        "Every time is in seconds. A histogram has the series `_bucket`, `_sum` and `_count`.",
        NOTE.format(source="`gateway/metrics.py`"),
        table(("metric", "type", "labels", "what"), sorted(rows)),
    )
