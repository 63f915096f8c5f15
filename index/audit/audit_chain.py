"""The audit log held against its own hashes: whether each row is as it was written, and there.

What was cut off at the end together with its head, or written anew from some row on, fits in
itself: only a head that was kept elsewhere tells.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from index.postgres.database import Database, Row, Session

LINKS_MAX = 5_000  # rows a statement


@dataclass(frozen=True, slots=True)
class AuditHead:
    """The last row of a tenant's log; 0 and no hash while there is none."""

    tenant: str
    number: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class Verified:
    """fault: the first thing that does not fit, if anything does not."""

    head: AuditHead
    fault: str | None


async def verify(
    database: Database,
    tenant: str | None = None,
    kept: Sequence[AuditHead] = (),
    *,
    links_max: int = LINKS_MAX,
) -> AsyncIterator[Verified]:
    """Each log, or this tenant's, as of one instant; writers go on meanwhile.

    kept: heads of before, which must still be in their logs.
    """
    async with database.snapshot() as session:
        rows = await session.rows("audit_log.heads", tenant)
        for row in rows:
            head = AuditHead(row["tenant"], row["number"] or 0, row["hash"] or b"")
            fault = await _fault(session, row, links_max)
            for one in kept:
                if fault is None and one.tenant == head.tenant:
                    fault = await _lost(session, row, one)
            yield Verified(head, fault)
        there = {row["tenant"] for row in rows}
        for one in kept:
            if one.tenant not in there and tenant in (None, one.tenant):
                yield Verified(AuditHead(one.tenant, 0, b""), "the whole log is missing")


async def _fault(session: Session, head: Row, links_max: int) -> str | None:
    if head["number"] is None:
        return f"the rows from {head['first']} on have no head: it is missing"
    number, last_hash = head["base_number"], head["base_hash"]
    if head["first"] is not None and head["first"] <= number:
        return f"row {head['first']} is there, though rows up to {number} were pruned"
    while True:
        links = await session.row("audit_log.links", head["tenant"], number, last_hash, links_max)
        assert links is not None, "it adds up, and so has a row"
        if links["last"] is None:
            break
        gap, other = links["after_gap"], links["other"]
        if gap is not None and (other is None or gap <= other):  # the row after it fits nothing
            return _missing(links["missing"], gap - 1)
        if other is not None:
            return f"row {other} is not what was written"
        number, last_hash = links["last"], links["hash"]
    if number < head["number"]:
        return _missing(number + 1, head["number"])
    if number > head["number"]:
        return f"row {head['number'] + 1} was not written by Nearhit: the log ends before it"
    if last_hash != head["hash"]:
        return f"row {number} is not the one that the head names"
    return None


async def _lost(session: Session, head: Row, kept: AuditHead) -> str | None:
    if kept.number > head["number"]:
        return f"row {kept.number} of the kept head is missing: the log ends at {head['number']}"
    if kept.number < head["base_number"]:
        return f"row {kept.number} of the kept head was pruned: keep a later one"
    if kept.number == head["base_number"]:
        found = head["base_hash"]
    else:
        found = await session.value("audit_log.hash", kept.tenant, kept.number)
    return None if found == kept.hash else f"row {kept.number} is not the one of the kept head"


def _missing(first: int, last: int) -> str:
    return f"row {first} is missing" if first == last else f"rows {first} to {last} are missing"
