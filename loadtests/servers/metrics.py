"""Counters of gateways, read from their `/metrics`."""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

import httpx2
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

_TIMEOUT_S = 60
_EVENTS = "nearhit_cache_events_total"
_STATEMENTS = "nearhit_sql_statement_duration_seconds_count"


def read(url: str, name: str, **labels: str) -> float:
    """The value of one metric with these labels; 0 if nothing was counted yet.

    Raises `LookupError` if the gateway has no metric of this name with these labels.
    """
    samples = _samples(url, name)
    if any(sample.labels.keys() != labels.keys() for sample in samples):
        raise LookupError(f"{name} has other labels than {', '.join(labels) or 'none'}")
    return next((sample.value for sample in samples if sample.labels == labels), 0.0)


def cache_event(url: str, name: str) -> float:
    """How often the event has happened in the gateway's cache."""
    return read(url, _EVENTS, event=name)


def sums_by_label(urls: Iterable[str], name: str) -> Counter[str]:
    """The sums over all gateways, by the value of the metric's first label.

    A gateway that does not answer counts as 0. Raises `LookupError` as `read` does.
    """
    sums: Counter[str] = Counter()
    for url in urls:
        with suppress(httpx2.TransportError):
            for sample in _samples(url, name):
                sums[next(iter(sample.labels.values()))] += int(sample.value)
    return sums


def statements(urls: Iterable[str]) -> Counter[str]:
    """How often each SQL statement has run, by name."""
    return sums_by_label(urls, _STATEMENTS)


def _samples(url: str, name: str) -> list[Sample]:
    """A metric of which nothing was counted yet is described, and has no samples."""
    text = httpx2.get(f"{url}/metrics", timeout=_TIMEOUT_S).text
    families = list(text_string_to_metric_families(text))
    if not any(name.startswith(family.name) for family in families):
        raise LookupError(f"{url} has no metric {name}")
    return [sample for family in families for sample in family.samples if sample.name == name]
