"""The options of the benchmark of growth: the sizes that each section measures."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from loadtests.bench.frame import Run, option


def _sizes(text: str) -> Sequence[int]:
    """Numbers with commas between them, smallest first."""
    return sorted(int(number) for number in text.split(","))


@dataclass(frozen=True, slots=True)
class GrowthOptions:
    """seconds: of each probe."""

    chunks: Sequence[int] = option(
        (1_000, 10_000, 100_000, 1_000_000),
        "chunks of a tenant, such as 1000,10000",
        quick=(1_000, 5_000),
        parse=_sizes,
    )
    tenants: Sequence[int] = option(
        (1, 10, 100, 1_000, 10_000), "tenants", quick=(1, 10, 100), parse=_sizes
    )
    entries: Sequence[int] = option(
        (100, 1_000, 10_000, 100_000), "live answers", quick=(100, 1_000), parse=_sizes
    )
    writers: Sequence[int] = option((0, 1, 2, 4, 8), "writers", quick=(0, 2), parse=_sizes)
    shards: Sequence[int] = option(
        (1_000, 10_000, 30_000, 100_000),
        "chunks of a tenant in memory",
        quick=(1_000, 10_000),
        parse=_sizes,
    )
    seconds: float = option(10.0, "seconds of each probe", quick=2.0)


GrowthRun: TypeAlias = Run[GrowthOptions]
