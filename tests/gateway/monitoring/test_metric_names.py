"""Names follow Prometheus's conventions, and pages name metrics that exist."""

import re
from typing import Any

import pytest

from docs.generate import metrics as reference
from docs.generate.pages import committed
from gateway.configured.installed_extensions import with_metrics
from gateway.extensions.budgets.usage_metrics import UsageMetrics
from gateway.monitoring.metrics import Metrics
from tests.gateway.monitoring.prometheus_programs import promtool
from tests.gateway.support.gateways import exposition
from tests.system_programs import needs

PAGES = [page for page in committed() if "benchmarks" not in page.parts]
_NAMED = re.compile(r"`(nearhit_[a-z_]+)(?:\{[^`]*\})?`")
_SUFFIX = re.compile(r"_(total|bucket|sum|count)$")
# Roles and databases of PostgreSQL, and channels of messages.
# Roles of the database, and what the adapter of a cluster computes from our metrics.
NO_METRICS = {"nearhit_search", "nearhit_shards", "nearhit_requests_in_flight"}


def families(metrics: Metrics) -> dict[str, Any]:
    """Each collector by the name of its family."""
    collectors: list[Any] = list(metrics.registry.collectors)
    return {collector.describe()[0].name: collector for collector in collectors}


def counted_once(metrics: Metrics) -> None:
    """Give each family a series."""
    for collector in families(metrics).values():
        names = collector._labelnames  # noqa: SLF001  the package has no public way
        child = collector.labels(*("x" for _ in names)) if names else collector
        for deed in ("set", "inc", "observe"):
            if hasattr(child, deed):
                getattr(child, deed)(1)
                break


@pytest.mark.anyio
@needs("prometheus")
async def test_every_name_and_help_text_follows_prometheus_conventions() -> None:
    metrics = with_metrics(Metrics())
    counted_once(metrics)

    text, media_type = exposition(metrics)

    assert media_type.startswith("text/plain")
    assert len(re.findall(rb"^# TYPE nearhit_", text, re.MULTILINE)) == len(families(metrics))
    assert await promtool("check", "metrics", text=text) == ""


def test_every_metric_that_a_page_names_exists() -> None:
    existing = families(with_metrics(Metrics())).keys()
    named = {
        (page.name, name) for page in PAGES for name in _NAMED.findall(page.read_text("utf-8"))
    }

    unknown = {
        (page, name)
        for page, name in named
        if _SUFFIX.sub("", name) not in existing and name not in NO_METRICS
    }
    assert not unknown
    assert len(named) > 20


def test_every_metric_is_in_the_reference_and_on_no_list_of_its_own() -> None:
    listed = re.findall(r"^\| `(\w+)`", reference.page(), re.MULTILINE)

    rows = {_SUFFIX.sub("", name) for name in listed}

    assert rows == families(with_metrics(Metrics())).keys()


def test_tenants_beyond_the_limit_share_one_label() -> None:
    metrics = Metrics(tenants_max=2)
    usage = UsageMetrics(metrics)
    for tenant in ("acme", "beta", "gamma", "delta", "acme"):
        usage.tokens(tenant, "search", 10, 0.5)

    text = exposition(metrics)[0].decode()

    tokens = dict(
        re.findall(r'usage_tokens_total\{operation="search",tenant="(\w+)"\} (\S+)', text)
    )
    assert tokens == {"acme": "20.0", "beta": "10.0", "other": "20.0"}


@pytest.mark.anyio
async def test_no_tenant_has_a_label_unless_the_operator_asks_for_it() -> None:
    metrics = Metrics()
    UsageMetrics(metrics).tokens("acme", "search", 10, 0.5)
    metrics.search.computed("acme", hits=3, best_score=0.7, is_degraded=False)

    text = exposition(metrics)[0]

    assert b"acme" not in text
    assert b'nearhit_usage_tokens_total{operation="search",tenant="other"} 10.0' in text
