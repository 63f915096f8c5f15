"""Records questions with low-confidence answers and stores them every second.

The asker is not recorded. A process that is killed loses the questions of its last FLUSH_S seconds.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass

import orjson
import structlog

from gateway.auth.credentials import new_id
from index.errors import DatabaseUnavailable
from index.tenants.curation import LowConfidenceItem, LowConfidenceStore

FLUSH_S = 1.0
QUESTIONS_MAX = 1_000  # pending questions; further ones are dropped
BYTES_MAX = 16_777_216  # of their answers; starting values, not measured
_HITS_MAX = 5

# The end of a low-confidence answer's body, which contains no text of a document.
UNSURE = b'"low_confidence":true}'

log = structlog.get_logger()


@dataclass(slots=True)
class _PendingQuestion:
    """body: the first answer since the last flush."""

    question: str
    body: bytes
    count: int = 0


class LowConfidenceLog:
    """items_max: maximum stored items per tenant."""

    def __init__(
        self, curation: LowConfidenceStore, *, items_max: int, every_s: float = FLUSH_S
    ) -> None:
        self._curation = curation
        self._items_max = items_max
        self._every_s = every_s
        self._pending: dict[tuple[str, str], _PendingQuestion] = {}
        self._bytes = 0
        self._flushing: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()

    def add(self, tenant: str, question: str, body: bytes) -> None:
        """Record that this answer was given to the question."""
        key = (tenant, question.casefold())
        item = self._pending.get(key)
        if item is None:
            if len(self._pending) >= QUESTIONS_MAX or self._bytes + len(body) > BYTES_MAX:
                return
            self._bytes += len(body)
            item = self._pending[key] = _PendingQuestion(question, body)
        item.count += 1
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush_later())

    async def drain_background(self) -> None:
        """Stop the background flush and store the pending questions."""
        self._stop.set()
        if self._flushing is not None:
            await self._flushing
        await self.flush()

    async def flush(self) -> None:
        """Store the pending questions; they are lost if the database is unavailable."""
        pending, self._pending, self._bytes = self._pending, {}, 0
        items = [_to_item(tenant, question) for (tenant, _), question in pending.items()]
        if not items:
            return
        try:
            await self._curation.add(items, items_max=self._items_max)
        except DatabaseUnavailable as error:
            log.warning("curation", state="lost", questions=len(items), detail=str(error))

    async def _flush_later(self) -> None:
        while self._pending:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), self._every_s)
            await self.flush()


def _to_item(tenant: str, pending: _PendingQuestion) -> LowConfidenceItem:
    hits = [
        {"chunk_id": hit["chunk_id"], "document_id": hit["document_id"], "score": hit["score"]}
        for hit in orjson.loads(pending.body)["hits"][:_HITS_MAX]
    ]
    return LowConfidenceItem(tenant, new_id("cur"), pending.question, hits, pending.count)
