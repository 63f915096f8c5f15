"""The origins of a source: the places from which `nearhit ingest` reads its documents."""

from collections.abc import Collection

from gateway.extensions._sources.source_store import require_nameable
from index.errors import SourceReserved
from index.postgres.database import Database
from index.postgres.session import Session

_FIRST = 1  # owns the documents that no origin has claimed


class SourceOrigins:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def register(self, tenant: str, source: str, origin: str, *, joins: bool) -> int:
        """The number of the origin in the source, which it has from its first reading on.

        joins: whether it may share the source with other origins and with callers.
        Raises `SourceReserved`, whose message says what to do.
        """
        async with self._database.transaction() as session:
            await session.rows("partitions.lock_tenant", tenant)  # one registration at a time
            rows = await session.rows("source_origins.all", tenant, source)
            numbers = {row["origin"]: int(row["origin_no"]) for row in rows}
            if origin in numbers:
                return numbers[origin]
            if not joins:
                _require_alone(source, origin, list(numbers))
            number = await _next_number(
                session, tenant, source, list(numbers.values()), joins=joins
            )
            await session.rows("source_origins.add", tenant, source, number, origin)
            return number

    async def claim(
        self, tenant: str, source: str, origin_no: int, document_ids: Collection[str]
    ) -> set[str]:
        """Claim documents before they are written; returns those that belong to others."""
        rows = await self._database.rows(
            "source_origins.claim", tenant, source, origin_no, list(document_ids)
        )
        return {row["document_id"] for row in rows}

    async def release(self, tenant: str, source: str, origin_no: int, document_id: str) -> None:
        await self._database.rows("source_origins.release", tenant, source, origin_no, document_id)

    async def documents(self, tenant: str, source: str, origin_no: int) -> list[str]:
        """The ids of the stored documents of one origin."""
        rows = await self._database.rows("source_origins.documents", tenant, source, origin_no)
        return [row["document_id"] for row in rows]


def _require_alone(source: str, origin: str, others: list[str]) -> None:
    if others:
        raise SourceReserved(
            source,
            f"the source {source} is read from {others[0]}, not from {origin}. Choose another name "
            f"with --source NAME. If it is the same folder in another place, give --origin "
            f"'{others[0]}'. To keep documents of both in one source, give --source {source}.",
        )


async def _next_number(
    session: Session, tenant: str, source: str, numbers: list[int], *, joins: bool
) -> int:
    if numbers:
        return max(numbers) + 1
    require_nameable(source)
    row = await session.row("sources.users", tenant, source)
    if row is None or row["is_read"] or not row["has_documents"]:
        if row is not None and row["is_read"] and not joins:
            raise SourceReserved(
                source,
                f"the worker reads the source {source} by itself. Choose another name with "
                f"--source NAME, or give --source {source} to read into it now.",
            )
        return _FIRST
    if not joins:
        raise SourceReserved(
            source,
            f"callers have written documents of the source {source}. Choose another name with "
            f"--source NAME, or give --source {source} to add to them.",
        )
    return _FIRST + 1
