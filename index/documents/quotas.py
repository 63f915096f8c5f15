"""Compares what a tenant stores with its quotas, in the transaction that stores more."""

from index.errors import QuotaExceeded
from index.model.quota import Quotas, StoredAmounts, excess
from index.postgres.session import Row, Session


def amounts_of(row: Row) -> StoredAmounts:
    """Without sources, which no row counts."""
    return StoredAmounts(row["documents"], row["chunks"], row["stored_bytes"])


def quotas_of(row: Row) -> Quotas:
    """The tenant's own."""
    return Quotas(row["documents_max"], row["chunks_max"], row["bytes_max"], row["sources_max"])


def require_planned_room(row: Row, growth: StoredAmounts, defaults: Quotas) -> None:
    """Raises `QuotaExceeded`. row: of the tenant, without the growth."""
    exceeded = excess(amounts_of(row) + growth, growth, quotas_of(row).or_defaults(defaults))
    if exceeded is not None:
        raise QuotaExceeded(exceeded)


async def require_room(
    session: Session, tenant: str, row: Row, growth: StoredAmounts, defaults: Quotas
) -> None:
    """Raises `QuotaExceeded`. row: of the tenant, locked; it contains the growth already."""
    quotas, total = quotas_of(row).or_defaults(defaults), amounts_of(row)
    if growth.sources and quotas.sources is not None:
        counted = await session.value("quotas.count_sources", tenant, quotas.sources)
        total += StoredAmounts(sources=counted)
    if (exceeded := excess(total, growth, quotas)) is not None:
        raise QuotaExceeded(exceeded)


async def add_source(session: Session, tenant: str, defaults: Quotas) -> None:
    """Compare the tenant's sources, one of which is new; locks its row. Raises `QuotaExceeded`."""
    row = await session.row("quotas.lock", tenant)
    if row is not None:
        await require_room(session, tenant, row, StoredAmounts(sources=1), defaults)


async def add_bytes(session: Session, tenant: str, size_bytes: int, defaults: Quotas) -> None:
    """Count the bytes of a file; negative: of a removed one. Raises `QuotaExceeded`."""
    row = await session.row("quotas.add_bytes", tenant, size_bytes)
    if row is not None:
        await require_room(session, tenant, row, StoredAmounts(bytes=size_bytes), defaults)
