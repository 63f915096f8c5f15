"""Openings of documents by subjects, and which of them count in a tenant."""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from datetime import date
from typing import NamedTuple

from index.audit import audit_log
from index.documents import outbox
from index.documents.outbox import CommitResult
from index.errors import TenantMissing
from index.postgres.database import Database
from index.tenants.principals import CountedOpenings

_CHANGE_DOCUMENTS_MAX = 10_000  # named by one change


class Opening(NamedTuple):
    """opener: a digest of the subject that differs by day and document."""

    tenant: str
    document_key: int
    day: date
    opener: bytes


def opening(tenant: str, subject: str, document_key: int, day: date) -> Opening:
    parts = (tenant, subject, str(document_key), day.isoformat())
    digest = hashlib.blake2b("\x1f".join(parts).encode(), digest_size=16).digest()
    return Opening(tenant, document_key, day, digest)


class PopularityStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, openings: Iterable[Opening]) -> None:
        """Store openings that are not stored yet, of tenants that count them."""
        rows = sorted(openings)
        columns = [[row[place] for row in rows] for place in range(len(Opening._fields))]
        await self._database.rows("popularity.add_openings", *columns)

    async def counted(self, tenant: str) -> CountedOpenings:
        """Which openings count. Raises `TenantMissing`."""
        row = await self._database.row("popularity.counted", tenant)
        if row is None:
            raise TenantMissing(tenant)
        counted: CountedOpenings = row["counted_openings"]
        return counted

    async def put_counted(self, tenant: str, counted: CountedOpenings) -> CommitResult | None:
        """Set which openings count; for `nothing` also delete what is stored.

        The result is None if no document was popular. Raises `TenantMissing`.
        """
        result = None
        async with self._database.transaction() as session:
            await session.row("popularity.lock", tenant)
            if await session.row("popularity.put_counted", tenant, counted) is None:
                raise TenantMissing(tenant)
            if counted == "nothing":
                await session.rows("popularity.delete_all_openings", tenant)
                rows = await session.rows("popularity.forget_all", tenant)
                for keys in _parts([row["document_key"] for row in rows]):
                    result = await outbox.mark_popularity(session, tenant, keys)
            await audit_log.append(session, tenant, "popularity.put", tenant, counts=counted)
        return result


def _parts(keys: Sequence[int]) -> Collection[Sequence[int]]:
    return [
        keys[start : start + _CHANGE_DOCUMENTS_MAX]
        for start in range(0, len(keys), _CHANGE_DOCUMENTS_MAX)
    ]
