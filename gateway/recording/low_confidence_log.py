"""Answers that were not sure: their questions are noted as they are given, and soon kept.

Who asked is not noted. A process that is killed loses what it noted within FLUSH_S.
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
QUESTIONS_MAX = 1_000  # that wait to be kept; of more than that, those that come later are lost
BYTES_MAX = 16_777_216  # of their answers, which wait with them; starting values, not measured
_HITS_MAX = 5

# How the body of an answer ends that is not sure: nothing that a document says stands there.
UNSURE = b'"low_confidence":true}'

log = structlog.get_logger()


@dataclass(slots=True)
class _Noted:
    """body: of the first answer since questions were last kept."""

    question: str
    body: bytes
    count: int = 0


class LowConfidenceLog:
    """items_max: that are kept of a tenant."""

    def __init__(
        self, curation: LowConfidenceStore, *, items_max: int, every_s: float = FLUSH_S
    ) -> None:
        self._curation = curation
        self._items_max = items_max
        self._every_s = every_s
        self._noted: dict[tuple[str, str], _Noted] = {}
        self._bytes = 0
        self._flushing: asyncio.Task[None] | None = None
        self._over = asyncio.Event()

    def add(self, tenant: str, question: str, body: bytes) -> None:
        """This answer was given to the question."""
        key = (tenant, question.casefold())
        noted = self._noted.get(key)
        if noted is None:
            if len(self._noted) >= QUESTIONS_MAX or self._bytes + len(body) > BYTES_MAX:
                return
            self._bytes += len(body)
            noted = self._noted[key] = _Noted(question, body)
        noted.count += 1
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush_later())

    async def drain_background(self) -> None:
        """Once all is kept that can be."""
        self._over.set()
        if self._flushing is not None:
            await self._flushing
        await self.flush()

    async def flush(self) -> None:
        """Keep what was noted; what can't be kept now is lost."""
        noted, self._noted, self._bytes = self._noted, {}, 0
        doubts = [_doubt(tenant, one) for (tenant, _), one in noted.items()]
        if not doubts:
            return
        try:
            await self._curation.add(doubts, items_max=self._items_max)
        except DatabaseUnavailable as away:
            log.warning("curation", state="lost", questions=len(doubts), detail=str(away))

    async def _flush_later(self) -> None:
        while self._noted:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), self._every_s)
            await self.flush()


def _doubt(tenant: str, noted: _Noted) -> LowConfidenceItem:
    hits = [
        {"chunk_id": hit["chunk_id"], "document_id": hit["document_id"], "score": hit["score"]}
        for hit in orjson.loads(noted.body)["hits"][:_HITS_MAX]
    ]
    return LowConfidenceItem(tenant, new_id("cur"), noted.question, hits, noted.count)
