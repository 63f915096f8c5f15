"""The values schema of the chart: the settings that it takes, as values or as secrets."""

import json
from pathlib import Path
from typing import Any

from gateway.configured.extension_settings import fields
from gateway.settings.setting_sources import secret_names, variable

SCHEMA = Path(__file__).parents[2] / "deploy" / "helm" / "nearhit" / "values.schema.json"
# What the chart sets itself, from values of its own, or what only servers of Nearhit's own need.
SET_BY_CHART = {"data_dir", "host", "port", "shutdown_s", "worker_metrics_port", "workers"}


def schema() -> str:
    """The chart's schema with the names of all settings; everything else stays as it is."""
    text: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    known = fields()
    secrets = set(secret_names(known))
    names = known.keys() - secrets - SET_BY_CHART
    text["$defs"]["settings"]["propertyNames"]["enum"] = _variables(names)
    text["$defs"]["secrets"]["propertyNames"]["enum"] = _variables(secrets)
    return json.dumps(text, indent=2, ensure_ascii=False) + "\n"


def _variables(names: set[str]) -> list[str]:
    return sorted(map(variable, names))
