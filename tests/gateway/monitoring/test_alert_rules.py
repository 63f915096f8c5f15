"""The alert rules of deploy/prometheus: they fire when they should, on metrics that exist."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.configured.installed_extensions import with_metrics
from gateway.monitoring.metrics import Metrics
from tests.gateway.monitoring.prometheus_programs import promtool
from tests.gateway.monitoring.test_metric_names import families
from tests.gateway.support.gateways import exposition
from tests.system_programs import needs

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "deploy" / "prometheus"
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((FOLDER / "alerts.yml").read_text("utf-8"))["groups"]
    for rule in group["rules"]
]
ALERTS = [rule for rule in RULES if "alert" in rule]
CASES: list[dict[str, Any]] = [
    case
    for test in yaml.safe_load((FOLDER / "alerts_test.yml").read_text("utf-8"))["tests"]
    for case in test["alert_rule_test"]
]


@pytest.mark.anyio
@needs("prometheus")
async def test_rules_are_valid_and_fire_when_they_should() -> None:
    await promtool("check", "rules", "alerts.yml", folder=FOLDER)

    told = await promtool("test", "rules", "alerts_test.yml", folder=FOLDER)

    assert "SUCCESS" in told


@pytest.mark.parametrize("alert", [rule["alert"] for rule in ALERTS])
def test_every_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not(alert: str) -> None:
    cases = [case["exp_alerts"] for case in CASES if case["alertname"] == alert]

    assert any(cases)
    assert not all(cases)


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: str(rule["alert"]))
def test_every_alert_leads_to_a_section_of_the_runbooks(rule: dict[str, Any]) -> None:
    page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
    text = (ROOT / "docs" / page).with_suffix(".md").read_text("utf-8")
    titles = re.findall(r"^## (.+)$", text, re.MULTILINE)

    assert rule["labels"]["severity"] in ("page", "ticket")
    assert rule["alert"] in titles
    assert anchor == rule["alert"].lower()


def test_every_section_of_the_runbooks_has_an_alert() -> None:
    text = (ROOT / "docs" / "operations" / "runbooks.md").read_text("utf-8")

    titles = set(re.findall(r"^## (.+)$", text, re.MULTILINE))

    assert titles == {rule["alert"] for rule in ALERTS}


def test_every_rule_reads_metrics_and_labels_that_exist() -> None:
    existing = families(with_metrics(Metrics()))
    recorded = {rule["record"] for rule in RULES if "record" in rule}
    read = 0
    for rule in RULES:
        for name, matchers in re.findall(r"\b(nearhit[_:][\w:]+)(?:\{([^}]*)\})?", rule["expr"]):
            if name in recorded:
                continue
            family = existing[re.sub(r"_(total|bucket|sum|count)$", "", name)]
            labels = set(re.findall(r"(\w+)=", matchers))
            assert labels <= {*family._labelnames, "le"}, rule  # noqa: SLF001  no public way
            read += 1
    assert read >= len(RULES)


def test_a_counter_that_an_alert_watches_begins_at_zero() -> None:
    text = exposition(with_metrics(Metrics()))[0].decode()

    for series in (
        'nearhit_cache_events_total{event="audit_other"}',
        'nearhit_cache_events_total{event="audit_leaked"}',
        'nearhit_cache_events_total{event="shard_audit_other"}',
        'nearhit_cache_events_total{event="unavailable"}',
        'nearhit_events_total{outcome="dead_lettered"}',
        'nearhit_embedding_failures_total{kind="query"}',
    ):
        assert f"{series} 0.0" in text
