"""Counters of gateways, read from their `/metrics`."""

from collections import Counter
from collections.abc import Iterable, Iterator

import httpx2
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

_TIMEOUT_S = 60
_EVENTS = "nearhit_cache_events_total"
_STATEMENTS = "nearhit_sql_statement_duration_seconds_count"


def read(url: str, name: str, **labels: str) -> float:
    """The value of one metric with these labels; 0 if nothing was counted yet."""
    for sample in _samples(httpx2.get(f"{url}/metrics", timeout=_TIMEOUT_S).text):
        if sample.name == name and sample.labels == labels:
            return sample.value
    return 0.0


def cache_event(url: str, name: str) -> float:
    """How often the event has happened in the gateway's cache."""
    return read(url, _EVENTS, event=name)


def sums_by_label(urls: Iterable[str], name: str) -> Counter[str]:
    """The sums over all gateways, by the value of the metric's first label.

    A gateway that does not answer counts as 0.
    """
    sums: Counter[str] = Counter()
    for url in urls:
        for sample in _samples(_text(url)):
            if sample.name == name:
                sums[next(iter(sample.labels.values()))] += int(sample.value)
    return sums


def statements(urls: Iterable[str]) -> Counter[str]:
    """How often each SQL statement has run, by name."""
    return sums_by_label(urls, _STATEMENTS)


def _samples(text: str) -> Iterator[Sample]:
    for family in text_string_to_metric_families(text):
        yield from family.samples


def _text(url: str) -> str:
    try:
        return httpx2.get(f"{url}/metrics", timeout=_TIMEOUT_S).text
    except httpx2.TransportError:
        return ""
