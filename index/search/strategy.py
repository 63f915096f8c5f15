"""How to look through what a scope may see: which passes, each over what.

An exact pass compares every visible chunk; `nearest` reads only what the indexes of a large shelf
lead to. A narrow scope in a large table is where such an index finds too little in too much time,
so the choice is made here, from an estimate of what is visible, and never left to the planner.

Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from index.text import lexical

Way: TypeAlias = Literal["exact", "nearest"]

_EXPECTED = 4  # times the candidates wanted: a starting value for how many chunks to pre-select


@dataclass(frozen=True, slots=True)
class StrategyLimits:
    """Where one way gets quicker than another.

    crossover_chunks: visible; with more, the indexes of a shelf are the quicker way.
    """

    crossover_chunks: int


# Measured with `make bench-index`; see docs/benchmarks/index.md.
MEASURED = StrategyLimits(crossover_chunks=20_000)


@dataclass(frozen=True, slots=True)
class PartitionSize:
    """How many chunks there are: the tenant's, and those that every tenant may read."""

    tenant_chunks: int
    public_chunks: int

    def is_small(self, limits: StrategyLimits, *, others: bool) -> bool:
        """Whether there is too little to choose between ways."""
        chunks = self.tenant_chunks + (self.public_chunks if others else 0)
        return chunks <= limits.crossover_chunks


@dataclass(frozen=True, slots=True)
class VisibilityEstimate:
    """What there is to see, in chunks.

    own_share, others_share: the visible part of the tenant's chunks, and of the public ones of
                             other tenants; estimates, 0 to 1.
    shelf: where the tenant's chunks stand. width: of the vectors in that shelf's index, None while
           it has none.
    others_shelves: those with an index and many public chunks of other tenants, with its width.
    others_elsewhere: whether there are any on another shelf than these.
    history, revisions: of the database, of the tenant and of what is public, when this was so.
    """

    size: PartitionSize
    own_share: float
    others_share: float
    shelf: int
    width: int | None
    others_shelves: Mapping[int, int]
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

    own: it looks through the tenant's documents. others: through other tenants' public ones, but
    for those on `left_out` shelves. shelf: the one that `nearest` looks through.
    """

    way: Way
    own: bool
    others: bool
    shelf: int = 0
    visible: float = 0
    left_out: tuple[int, ...] = ()


def exact(*, others: bool) -> SearchPass:
    """One pass, in which nothing visible can be missed."""
    return SearchPass("exact", own=True, others=others)


def choose(
    survey: VisibilityEstimate, limits: StrategyLimits, *, others: bool, width: int | None
) -> list[SearchPass]:
    """The passes whose legs together are the search's. width: of the query's vector, if it has one.

    A shelf whose index holds vectors of another width is looked through as if it had none.
    """
    indexed = width is not None and survey.width == width
    own_nearest = indexed and survey.own_visible > limits.crossover_chunks
    others_nearest = (
        tuple(shelf for shelf, held in survey.others_shelves.items() if held == width)
        if others and survey.others_visible > limits.crossover_chunks
        else ()
    )
    if own_nearest and not survey.size.public_chunks:
        others = False
    others_left = others and (
        not others_nearest
        or survey.others_elsewhere
        or len(others_nearest) < len(survey.others_shelves)
    )
    passes = [
        SearchPass("nearest", own=False, others=True, shelf=shelf, visible=survey.others_visible)
        for shelf in others_nearest
    ]
    if own_nearest:
        passes.append(
            SearchPass(
                "nearest", own=True, others=False, shelf=survey.shelf, visible=survey.own_visible
            )
        )
    if not own_nearest or others_left:
        passes.append(
            SearchPass("exact", own=not own_nearest, others=others_left, left_out=others_nearest)
        )
    return passes


def rarest_terms(chances: Mapping[int, float], visible: float, candidates: int) -> list[int]:
    """The rarest terms that some multiple of `candidates` visible chunks should hold one of.

    chances: of each of a query's terms to stand in a text of the language at large.
    """
    chosen: list[int] = []
    expected = 0.0
    for term, chance in sorted(chances.items(), key=lambda term: (term[1], term[0])):
        if expected >= _EXPECTED * candidates:
            break
        chosen.append(term)
        expected += chance * visible
    return chosen


def sufficient_terms(weights: Mapping[int, float], floor: float) -> list[int]:
    """The fewest terms one of which every chunk that scores above `floor` holds.

    weights: what each of a query's terms adds to a score. A chunk that holds none of them gets at
    most k1 + 1 times the weights of the rest.

    Source: the essential lists of Turtle, Flood, Query Evaluation: Strategies and Optimizations,
    1995.
    """
    terms = sorted(weights.items(), key=lambda term: (-term[1], term[0]))
    rest = 0.0
    for place in range(len(terms), 0, -1):
        rest += (lexical.K1 + 1) * terms[place - 1][1]
        if rest >= floor:
            return [term for term, _ in terms[:place]]
    return []
