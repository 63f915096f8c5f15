"""Records questions with low-confidence answers and stores them every second.

The asker is not recorded. A process that is killed loses the questions of its last FLUSH_S seconds.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice

from pydantic import BaseModel

from common.shares.turns import map_in_steps
from gateway.extension import FlushBuffer, new_id, split_answer
from gateway.extensions.curation.low_confidence_store import LowConfidenceItem, LowConfidenceStore

FLUSH_S = 1.0
QUESTIONS_MAX = 1_000  # pending questions; further ones are dropped
BYTES_MAX = 16_777_216  # bytes of their answers; both are starting values, not measured
_HITS_MAX = 5  # stored of each answer


class _Hit(BaseModel):
    chunk_id: int
    document_id: str
    score: float
    tenant: str | None = None


class _Answer(BaseModel):
    hits: list[_Hit]


@dataclass(slots=True)
class _PendingQuestion:
    """body: the first answer since the last flush."""

    question: str
    body: bytes
    count: int = 1


class LowConfidenceLog:
    """items_max: maximum stored items per tenant. every_s: time between flushes.

    collect: as in `FlushBuffer`.
    """

    def __init__(
        self,
        store: LowConfidenceStore,
        *,
        items_max: int,
        every_s: float = FLUSH_S,
        collect: Callable[[], None] = lambda: None,
    ) -> None:
        self._items = store
        self._items_max = items_max
        self.pending: FlushBuffer[tuple[str, str], _PendingQuestion] = FlushBuffer(
            "curation",
            self._store,
            _merge,
            every_s=every_s,
            items_max=QUESTIONS_MAX,
            size_of=lambda question: len(question.body),
            size_max=BYTES_MAX,
            collect=collect,
        )

    def add(self, tenant: str, question: str, body: bytes, count: int = 1) -> None:
        """Record that this answer was given to the question, so often."""
        if not self._items_max:
            return
        key = (tenant, question.casefold())
        self.pending.add(tenant, key, _PendingQuestion(question, body, count))

    async def _store(self, pending: Mapping[tuple[str, str], _PendingQuestion]) -> None:
        items = await map_in_steps(_to_item, pending.items())
        await self._items.add(items, items_max=self._items_max)


def _merge(earlier: _PendingQuestion, later: _PendingQuestion) -> _PendingQuestion:
    earlier.count += later.count
    return earlier


def _to_item(item: tuple[tuple[str, str], _PendingQuestion]) -> LowConfidenceItem:
    (tenant, _), pending = item
    parts = map(_Answer.model_validate_json, islice(split_answer(pending.body), _HITS_MAX))
    hits = [hit.model_dump(exclude_none=True) for part in parts for hit in part.hits]
    return LowConfidenceItem(tenant, new_id("cur"), pending.question, hits, pending.count)
