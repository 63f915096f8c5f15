"""Verifies the audit log's hash chain: that each row is unaltered and none is missing.

A long log is verified in parts: a part begins at the row that the one before has reached, or at one
that was kept elsewhere.
A log truncated together with its head, or rewritten from some row on, is consistent in itself: only
a head stored elsewhere reveals it.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from index.postgres.database import Database
from index.postgres.session import Row, Session

LINKS_MAX = 5_000  # rows a statement
PART_ROWS_MAX = LINKS_MAX  # in one request


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


@dataclass(frozen=True, slots=True)
class VerifiedPart:
    """head: of the whole log. reached: the row up to which the chain holds. fault: what follows."""

    reached: AuditHead
    head: AuditHead
    fault: str | None


async def verify_part(
    database: Database,
    tenant: str,
    after: AuditHead | None = None,
    *,
    rows_max: int = PART_ROWS_MAX,
    links_max: int = LINKS_MAX,
) -> VerifiedPart | None:
    """Verify some rows after this one, or the first ones, in one snapshot; None if there is no log.

    after: one that must still be in the log; one that was pruned counts as none.
    """
    async with database.snapshot() as session:
        row = await session.row("audit_log.heads", tenant)
        if row is None:
            return None
        start = _start(row)
        if after is not None and after.number > start.number:
            fault = await _lost(session, row, after)
            if fault is not None:
                return VerifiedPart(start, _head(row), fault)
            start = after
        reached, fault = await _verified(session, row, start, links_max, rows_max)
        return VerifiedPart(reached, _head(row), fault)


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
            head = _head(row)
            _, fault = await _verified(session, row, _start(row), links_max)
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


def _head(row: Row) -> AuditHead:
    return AuditHead(row["tenant"], row["number"] or 0, row["hash"] or b"")


def _start(row: Row) -> AuditHead:
    """What the first row follows: the last one that was pruned."""
    return AuditHead(row["tenant"], row["pruned_number"] or 0, row["pruned_hash"] or b"")


async def _verified(
    session: Session, head: Row, reached: AuditHead, links_max: int, rows_max: int | None = None
) -> tuple[AuditHead, str | None]:
    """The last row up to which the chain holds, and the fault after it.

    reached: the row that the first one follows. rows_max: after which it may stop; None for never.
    """
    if head["number"] is None:
        return reached, f"the rows from {head['first']} on have no head: it is missing"
    pruned = head["pruned_number"]
    if head["first"] is not None and head["first"] <= pruned:
        return reached, f"row {head['first']} is there, though rows up to {pruned} were pruned"
    end = head["number"] if rows_max is None else reached.number + rows_max
    while True:
        link = (head["tenant"], reached.number, reached.hash)
        links = await session.row("audit_log.links", *link, links_max)
        assert links is not None, "it adds up, and so has a row"
        if links["last"] is None:
            fault = _fault_at_end(reached, head)
            return (reached if reached.number < head["number"] else _head(head)), fault
        broken = _broken(links)
        if broken is not None:
            return AuditHead(head["tenant"], links["whole"], links["whole_hash"]), broken
        reached = AuditHead(head["tenant"], links["last"], links["hash"])
        if end <= reached.number < head["number"]:
            return reached, None


def _broken(links: Row) -> str | None:
    gap_end, altered_row = links["after_gap"], links["mismatched"]
    if gap_end is not None and (
        altered_row is None or gap_end <= altered_row
    ):  # a gap breaks the chain of the row after it
        return _missing(links["missing"], gap_end - 1)
    return None if altered_row is None else f"row {altered_row} is not what was written"


def _fault_at_end(last: AuditHead, head: Row) -> str | None:
    if last.number < head["number"]:
        return _missing(last.number + 1, head["number"])
    if last.number > head["number"]:
        return f"row {head['number'] + 1} was not written by Nearhit: the log ends before it"
    if last.hash != head["hash"]:
        return f"row {last.number} is not the one that the head names"
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
