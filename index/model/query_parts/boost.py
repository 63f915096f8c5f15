"""What a search ranks by beside relevance: how new, important and popular a document is."""

from dataclasses import dataclass

DAY_S = 86_400
POPULARITY_LEVELS = 4  # per doubling of openings: the steps by which a popularity changes


@dataclass(frozen=True, slots=True)
class Recency:
    """A document that changed a half-life later ranks as if its score were `weight` higher."""

    half_life_days: float
    weight: float


@dataclass(frozen=True, slots=True)
class Importance:
    """The number of a document's metadata under `key`; from `full` on it adds all of `weight`."""

    key: str
    full: float
    weight: float


@dataclass(frozen=True, slots=True)
class Boost:
    """At least one of the four.

    replaced: what is subtracted from documents that a visible one replaces.
    popularity: what each doubling of a document's openings adds; see `POPULARITY_LEVELS`.
    """

    recency: Recency | None = None
    importance: Importance | None = None
    replaced: float = 0.0
    popularity: float = 0.0
