"""The choice of a search's passes: which way to search, and over which chunks.

An exact pass compares every visible chunk; `nearest` reads only what the indexes of a large
partition lead to. Under a narrow scope in a large table such an index finds too few chunks in too
much time. So this module chooses from an estimate of the visible chunks, and never leaves it to the
planner.

Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from index.text import lexical

Way: TypeAlias = Literal["exact", "nearest"]

_EXPECTED = 4  # pre-selected chunks for each candidate requested; a starting value, not measured


@dataclass(frozen=True, slots=True)
class StrategyLimits:
    """The sizes at which one way becomes faster than another.

    crossover_chunks: with more visible chunks than this, the indexes of a partition are faster.
    """

    crossover_chunks: int


# Measured with `make bench-index`; see docs/benchmarks/index.md.
MEASURED = StrategyLimits(crossover_chunks=20_000)


@dataclass(frozen=True, slots=True)
class PartitionSize:
    """The number of the tenant's chunks, and of those that every tenant may read."""

    tenant_chunks: int
    public_chunks: int

    def is_small(self, limits: StrategyLimits, *, others: bool) -> bool:
        """Whether an exact pass is always the faster way."""
        chunks = self.tenant_chunks + (self.public_chunks if others else 0)
        return chunks <= limits.crossover_chunks


@dataclass(frozen=True, slots=True)
class VisibilityEstimate:
    """An estimate of what a scope may see, in chunks.

    own_share, others_share: the visible share of the tenant's chunks, and of other tenants' public
                             chunks; estimates, 0 to 1.
    partition_no: of the partition that holds the tenant's chunks.
    width: dimensions of the vectors in its index; None without an index.
    others_partitions: indexed partitions with many public chunks of others, and their widths.
    others_elsewhere: whether other partitions hold public chunks of other tenants.
    history, revisions: of the database, and of the tenant and the public partition, at that time.
    """

    size: PartitionSize
    own_share: float
    others_share: float
    partition_no: int
    width: int | None
    others_partitions: Mapping[int, int]
    others_elsewhere: bool
    history: str
    revisions: tuple[int, int]

    @property
    def own_visible(self) -> float:
        return self.own_share * self.size.tenant_chunks

    @property
    def others_visible(self) -> float:
        return self.others_share * self.size.public_chunks


@dataclass(frozen=True, slots=True)
class SearchPass:
    """One statement's part of a search.

    own: it searches the tenant's documents. others: it searches other tenants' public documents,
    except those on `left_out` partitions. partition: the one that `nearest` searches.
    """

    way: Way
    own: bool
    others: bool
    partition_no: int = 0
    visible: float = 0
    left_out: tuple[int, ...] = ()


def exact(*, others: bool) -> SearchPass:
    """One pass that misses no visible chunk."""
    return SearchPass("exact", own=True, others=others)


def choose(
    estimate: VisibilityEstimate, limits: StrategyLimits, *, others: bool, width: int | None
) -> list[SearchPass]:
    """The passes whose legs together are the search's. width: of the query's vector, if it has one.

    A partition whose index holds vectors of another width is searched as if it had none.
    """
    indexed = width is not None and estimate.width == width
    own_nearest = indexed and estimate.own_visible > limits.crossover_chunks
    others_nearest = (
        tuple(
            partition_no
            for partition_no, index_width in estimate.others_partitions.items()
            if index_width == width
        )
        if others and estimate.others_visible > limits.crossover_chunks
        else ()
    )
    if own_nearest and not estimate.size.public_chunks:
        others = False
    others_left = others and (
        not others_nearest
        or estimate.others_elsewhere
        or len(others_nearest) < len(estimate.others_partitions)
    )
    passes = [
        SearchPass(
            "nearest",
            own=False,
            others=True,
            partition_no=partition_no,
            visible=estimate.others_visible,
        )
        for partition_no in others_nearest
    ]
    if own_nearest:
        passes.append(
            SearchPass(
                "nearest",
                own=True,
                others=False,
                partition_no=estimate.partition_no,
                visible=estimate.own_visible,
            )
        )
    if not own_nearest or others_left:
        passes.append(
            SearchPass("exact", own=not own_nearest, others=others_left, left_out=others_nearest)
        )
    return passes


def rarest_terms(chances: Mapping[int, float], visible: float, candidates: int) -> list[int]:
    """The fewest rare terms of which enough visible chunks are expected to hold at least one.

    Enough is a fixed multiple of `candidates`.
    chances: each query term's chance to occur in a text of the language at large.
    """
    terms: list[int] = []
    expected = 0.0
    for term, chance in sorted(chances.items(), key=lambda term: (term[1], term[0])):
        if expected >= _EXPECTED * candidates:
            break
        terms.append(term)
        expected += chance * visible
    return terms


def sufficient_terms(weights: Mapping[int, float], floor: float) -> list[int]:
    """The fewest terms such that every chunk that scores above `floor` holds one of them.

    weights: what each query term adds to a score. A chunk that holds none of the returned terms
    scores at most k1 + 1 times the sum of the other weights.

    Source: the essential lists of Turtle, Flood, Query Evaluation: Strategies and Optimizations,
    1995.
    """
    terms = sorted(weights.items(), key=lambda term: (-term[1], term[0]))
    score_max = 0.0
    for count in range(len(terms), 0, -1):
        score_max += (lexical.K1 + 1) * terms[count - 1][1]
        if score_max >= floor:
            return [term for term, _ in terms[:count]]
    return []
