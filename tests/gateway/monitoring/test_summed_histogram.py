"""What is added once a second is what each observation alone would have made."""

import random

import pytest
from prometheus_client import CollectorRegistry, Histogram

from gateway.monitoring.summed_histogram import SummedHistogram

pytestmark = pytest.mark.anyio

BOUNDS = (0.001, 0.01, 0.1)
LABELS = ("route", "status", "tier")


def samples(histogram: Histogram) -> dict[tuple[str, str], object]:
    return {
        (sample.name, str(sorted(sample.labels.items()))): pytest.approx(sample.value)
        for family in histogram.collect()
        for sample in family.samples
    }


async def test_sums_equal_single_observations() -> None:
    def new() -> Histogram:
        return Histogram("d", "d", LABELS, buckets=BOUNDS, registry=CollectorRegistry())

    singly, summed = new(), new()
    durations = SummedHistogram(summed, BOUNDS)
    drawn = random.Random(1)  # noqa: S311  no secret
    seconds = [*BOUNDS, 0.0, 5.0, *(drawn.expovariate(100) for _ in range(200))]
    for number, each in enumerate(seconds):
        labels = ("/v1/search", 200, ("memory", "miss")[number % 2])
        singly.labels(*labels).observe(each)
        durations.observe(labels, each)
        if number % 50 == 0:
            durations.flush()

    durations.flush()
    durations.flush()  # adds nothing twice

    assert samples(summed) == samples(singly)
