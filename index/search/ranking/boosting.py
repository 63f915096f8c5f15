"""Boosts: what is added to a chunk's score, to rank by, for what is known of its document.

Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from index.model.query_parts.boost import DAY_S, POPULARITY_LEVELS, Boost, Importance, Recency
from index.postgres.session import Row
from index.search.tables.snapshot_reads import SnapshotReads

# Any fixed time will do. What counts is the difference of two documents, which no clock changes: so
# the order of an answer stays right for as long as its documents stay as they are.
EPOCH = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Boosts:
    """recency: since `EPOCH`, below 0 before it. importance: from -weight to weight.

    replaced: -weight or 0. popularity: 0 or more; None if the query does not rank by it.
    """

    recency: float = 0.0
    importance: float = 0.0
    replaced: float = 0.0
    popularity: float | None = None

    @property
    def total(self) -> float:
        return self.recency + self.importance + self.replaced + (self.popularity or 0.0)


def boosts(boost: Boost, row: Row, reads: SnapshotReads) -> Boosts:
    """row: the fields of the chunk's hit."""
    key = row["document_key"]
    return Boosts(
        0.0 if boost.recency is None else _recency(boost.recency, row["updated_at"]),
        0.0 if boost.importance is None else _importance(boost.importance, row["metadata"]),
        -boost.replaced if key in reads.replaced else 0.0,
        _popularity(boost.popularity, reads.levels.get(key, 0)) if boost.popularity else None,
    )


def _popularity(weight: float, level: int) -> float:
    """About the binary logarithm of one more than the openings: 1 for one, 2 for three."""
    return weight * (level / POPULARITY_LEVELS)


def _recency(recency: Recency, updated_at: datetime) -> float:
    days = (updated_at - EPOCH).total_seconds() / DAY_S
    return recency.weight * days / recency.half_life_days


def _importance(importance: Importance, metadata: Mapping[str, Any] | None) -> float:
    """0 for a document whose metadata holds no number under the key, or is too long to be read."""
    value = None if metadata is None else metadata.get(importance.key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return importance.weight * max(-1.0, min(value / importance.full, 1.0))
