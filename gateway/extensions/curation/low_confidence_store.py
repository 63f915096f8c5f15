"""Questions with answers of low confidence, until a curator resolves or dismisses them."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

import orjson

from index.audit import audit_log
from index.postgres.database import Database

State: TypeAlias = Literal["open", "resolved", "dismissed"]
COUNT_MAX = 2**62  # greater than any real count


@dataclass(frozen=True, slots=True)
class LowConfidenceItem:
    """A question, how often it was asked, and the best hits of the last time."""

    tenant: str
    item_id: str
    question: str
    hits: Sequence[dict[str, Any]]
    count: int

    @property
    def digest(self) -> bytes:
        return hashlib.blake2b(self.question.casefold().encode(), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class CurationRecord:
    """A stored item. document_id: of the document that resolved it."""

    item_id: str
    question: str
    hits: Sequence[dict[str, Any]]
    count: int
    state: State
    document_id: str | None
    first_at: datetime
    last_at: datetime


class LowConfidenceStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, items: Sequence[LowConfidenceItem], *, items_max: int) -> None:
        """Add items of different questions; skips deleted tenants. items_max: of a tenant."""
        async with self._database.transaction() as session:
            await session.rows(
                "curation.add",
                [item.tenant for item in items],
                [item.digest for item in items],
                [item.item_id for item in items],
                [item.question for item in items],
                [orjson.dumps(item.hits).decode() for item in items],
                [item.count for item in items],
            )
            tenants = sorted({item.tenant for item in items})
            await session.rows("curation.prune", tenants, items_max)

    async def page(
        self, tenant: str, state: State, *, after: tuple[int, str] | None, limit: int
    ) -> list[CurationRecord]:
        """A page of items, most often asked first; after: count and id of the last one before."""
        count, item_id = after or (COUNT_MAX, "")
        rows = await self._database.rows("curation.page", tenant, state, count, item_id, limit)
        return [CurationRecord(**row) for row in rows]

    async def get(self, tenant: str, item_id: str) -> CurationRecord | None:
        row = await self._database.row("curation.get", tenant, item_id)
        return None if row is None else CurationRecord(**row)

    async def resolve(
        self, tenant: str, item_id: str, state: State, document_id: str | None = None
    ) -> CurationRecord | None:
        """Set the state of an open item; None if there is no such open item."""
        async with self._database.transaction() as session:
            row = await session.row("curation.settle", tenant, item_id, state, document_id)
            if row is None:
                return None
            await audit_log.append(
                session, tenant, f"curation.{state}", item_id, document=document_id
            )
            return CurationRecord(**row)
