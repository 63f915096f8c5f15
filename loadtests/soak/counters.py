"""What all gateways together have counted."""

from collections import Counter
from collections.abc import Sequence

import httpx2
from prometheus_client.parser import text_string_to_metric_families


def together(urls: Sequence[str]) -> tuple[Counter[str], Counter[str]]:
    """Answers by tier, and what happened in the caches by event."""
    found: dict[str, Counter[str]] = {"nearhit_answers_total": Counter()}
    found["nearhit_cache_events_total"] = Counter()
    for url in urls:
        text = httpx2.get(f"{url}/metrics", timeout=60).text
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                if sample.name in found:
                    label = next(iter(sample.labels.values()))
                    found[sample.name][label] += int(sample.value)
    return found["nearhit_answers_total"], found["nearhit_cache_events_total"]
