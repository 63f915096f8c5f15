"""Verifies the audit log's hash chain: that each row is unaltered and none is missing.

A log truncated together with its head, or rewritten from some row on, is consistent in itself: only
a head stored elsewhere reveals it.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from index.postgres.database import Database
from index.postgres.session import Row, Session

LINKS_MAX = 5_000  # rows a statement


@dataclass(frozen=True, slots=True)
class AuditHead:
    """The last row of a tenant's log; 0 and an empty hash if it has none."""

    tenant: str
    number: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class Verified:
    """The result for one log. fault: the first inconsistency; None if there is none."""

    head: AuditHead
    fault: str | None


async def verify(
    database: Database,
    tenant: str | None = None,
    earlier_heads: Sequence[AuditHead] = (),
    *,
    links_max: int = LINKS_MAX,
) -> AsyncIterator[Verified]:
    """Verify each log, or this tenant's, in one snapshot; writers are not blocked.

    earlier_heads: heads that must still be in their logs.
    """
    async with database.snapshot() as session:
        rows = await session.rows("audit_log.heads", tenant)
        for row in rows:
            head = AuditHead(row["tenant"], row["number"] or 0, row["hash"] or b"")
            fault = await _fault(session, row, links_max)
            for earlier_head in earlier_heads:
                if fault is None and earlier_head.tenant == head.tenant:
                    fault = await _lost(session, row, earlier_head)
            yield Verified(head, fault)
        tenants_with_log = {row["tenant"] for row in rows}
        for earlier_head in earlier_heads:
            if earlier_head.tenant not in tenants_with_log and tenant in (
                None,
                earlier_head.tenant,
            ):
                yield Verified(AuditHead(earlier_head.tenant, 0, b""), "the whole log is missing")


async def _fault(session: Session, head: Row, links_max: int) -> str | None:
    if head["number"] is None:
        return f"the rows from {head['first']} on have no head: it is missing"
    number, last_hash = head["pruned_number"], head["pruned_hash"]
    if head["first"] is not None and head["first"] <= number:
        return f"row {head['first']} is there, though rows up to {number} were pruned"
    while True:
        links = await session.row("audit_log.links", head["tenant"], number, last_hash, links_max)
        assert links is not None, "it adds up, and so has a row"
        if links["last"] is None:
            break
        gap_end, altered_row = links["after_gap"], links["mismatched"]
        if gap_end is not None and (
            altered_row is None or gap_end <= altered_row
        ):  # a gap breaks the chain of the row after it
            return _missing(links["missing"], gap_end - 1)
        if altered_row is not None:
            return f"row {altered_row} is not what was written"
        number, last_hash = links["last"], links["hash"]
    if number < head["number"]:
        return _missing(number + 1, head["number"])
    if number > head["number"]:
        return f"row {head['number'] + 1} was not written by Nearhit: the log ends before it"
    if last_hash != head["hash"]:
        return f"row {number} is not the one that the head names"
    return None


async def _lost(session: Session, head: Row, earlier_head: AuditHead) -> str | None:
    if earlier_head.number > head["number"]:
        return (
            f"row {earlier_head.number} of the kept head is missing: "
            f"the log ends at {head['number']}"
        )
    if earlier_head.number < head["pruned_number"]:
        return f"row {earlier_head.number} of the kept head was pruned: keep a later one"
    if earlier_head.number == head["pruned_number"]:
        stored_hash = head["pruned_hash"]
    else:
        stored_hash = await session.value(
            "audit_log.hash", earlier_head.tenant, earlier_head.number
        )
    return (
        None
        if stored_hash == earlier_head.hash
        else f"row {earlier_head.number} is not the one of the kept head"
    )


def _missing(first: int, last: int) -> str:
    return f"row {first} is missing" if first == last else f"rows {first} to {last} are missing"
