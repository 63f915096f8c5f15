"""What all gateways together have counted."""

from collections import Counter
from collections.abc import Sequence

import httpx2
from prometheus_client.parser import text_string_to_metric_families


def together(urls: Sequence[str]) -> tuple[Counter[str], Counter[str]]:
    """Answers by tier, and what happened in the caches by event, since each was started last."""
    found: dict[str, Counter[str]] = {"nearhit_answers_total": Counter()}
    found["nearhit_cache_events_total"] = Counter()
    for url in urls:
        for family in text_string_to_metric_families(_told(url)):
            for sample in family.samples:
                if sample.name in found:
                    label = next(iter(sample.labels.values()))
                    found[sample.name][label] += int(sample.value)
    return found["nearhit_answers_total"], found["nearhit_cache_events_total"]


def _told(url: str) -> str:
    try:
        return httpx2.get(f"{url}/metrics", timeout=60).text
    except httpx2.TransportError:
        return ""  # a fault was going on when the soak ended
