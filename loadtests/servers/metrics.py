"""What a gateway counts, read from its `/metrics`."""

import httpx2
from prometheus_client.parser import text_string_to_metric_families


def read(url: str, name: str, **labels: str) -> float:
    """The sample of that name and those labels, 0 if nothing was counted yet."""
    text = httpx2.get(f"{url}/metrics", timeout=60).text
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name == name and sample.labels == labels:
                return sample.value
    return 0.0


def event(url: str, name: str) -> float:
    """How often that happened in the cache."""
    return read(url, "nearhit_cache_events_total", event=name)
