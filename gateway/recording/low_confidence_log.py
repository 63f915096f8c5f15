"""Answers that were not sure: their questions are noted as they are given, and soon kept.

Who asked is not noted. A process that is killed loses what it noted within FLUSH_S.
"""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

import orjson

from gateway.auth.credentials import new_id
from gateway.background_flush import FlushBuffer
from index.tenants.curation import LowConfidenceItem, LowConfidenceStore

FLUSH_S = 1.0
QUESTIONS_MAX = 1_000  # that wait to be kept; of more than that, those that come later are lost
BYTES_MAX = 16_777_216  # of their answers, which wait with them; starting values, not measured
_HITS_MAX = 5

# How the body of an answer ends that is not sure: nothing that a document says stands there.
UNSURE = b'"low_confidence":true}'


@dataclass(slots=True)
class _Noted:
    """body: of the first answer since questions were last stored."""

    question: str
    body: bytes
    count: int = 1


class LowConfidenceLog:
    """items_max: that are kept of a tenant."""

    def __init__(
        self, curation: LowConfidenceStore, *, items_max: int, every_s: float = FLUSH_S
    ) -> None:
        self._curation = curation
        self._items_max = items_max
        self._noted: FlushBuffer[tuple[str, str], _Noted] = FlushBuffer(
            "curation",
            self._store,
            _merged,
            every_s=every_s,
            items_max=QUESTIONS_MAX,
            size_of=lambda noted: len(noted.body),
            size_max=BYTES_MAX,
        )

    def add(self, tenant: str, question: str, body: bytes) -> None:
        """This answer was given to the question."""
        self._noted.add((tenant, question.casefold()), _Noted(question, body))

    async def flush(self) -> None:
        """Store what was noted. Raises `DatabaseUnavailable`; the questions stay for the next."""
        await self._noted.flush()

    def background_flush(self) -> AbstractAsyncContextManager[None]:
        """Store what is noted again and again, and the rest at the end."""
        return self._noted.background_flush()

    async def _store(self, noted: Mapping[tuple[str, str], _Noted]) -> None:
        doubts = [_doubt(tenant, one) for (tenant, _), one in noted.items()]
        await self._curation.add(doubts, items_max=self._items_max)


def _merged(earlier: _Noted, later: _Noted) -> _Noted:
    earlier.count += later.count
    return earlier


def _doubt(tenant: str, noted: _Noted) -> LowConfidenceItem:
    hits = [
        {"chunk_id": hit["chunk_id"], "document_id": hit["document_id"], "score": hit["score"]}
        for hit in orjson.loads(noted.body)["hits"][:_HITS_MAX]
    ]
    return LowConfidenceItem(tenant, new_id("cur"), noted.question, hits, noted.count)
