"""Boosts: what is added to a chunk's score, to rank by, for its document's time and importance.

Pure.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from index.model.boost import DAY_S, Boost, Importance, Recency
from index.postgres.session import Row

# Any fixed time will do. What counts is the difference of two documents, which no clock changes: so
# the order of an answer stays right for as long as its documents stay as they are.
EPOCH = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Boosts:
    """recency: since `EPOCH`, below 0 before it. importance: from -weight to weight.

    replaced: -weight or 0.
    """

    recency: float = 0.0
    importance: float = 0.0
    replaced: float = 0.0

    @property
    def total(self) -> float:
        return self.recency + self.importance + self.replaced


def boosts(boost: Boost, row: Row, replaced: Collection[int]) -> Boosts:
    """row: the fields of the chunk's hit. replaced: keys of the documents that others replace."""
    return Boosts(
        0.0 if boost.recency is None else _recency(boost.recency, row["updated_at"]),
        0.0 if boost.importance is None else _importance(boost.importance, row["metadata"]),
        -boost.replaced if row["document_key"] in replaced else 0.0,
    )


def _recency(recency: Recency, updated_at: datetime) -> float:
    days = (updated_at - EPOCH).total_seconds() / DAY_S
    return recency.weight * days / recency.half_life_days


def _importance(importance: Importance, metadata: Mapping[str, Any]) -> float:
    """0 for a document whose metadata holds no number under the key."""
    value = metadata.get(importance.key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return importance.weight * max(-1.0, min(value / importance.full, 1.0))
