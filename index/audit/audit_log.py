"""The audit log at rest: who saw and who changed what, in rows that are only ever added.

A change appends its row in its own transaction, as the last thing that this does: whoever changes
something of the tenant next waits for the row before. See migrations/0013_audit_log.sql.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from index.model.audit_actor import ActingPrincipal, current_actor
from index.postgres.database import Database, Session

T = TypeVar("T")

DOCUMENTS_MAX = 1_000  # that a row names
LOOKED_AT_MAX = 100_000  # rows that one page goes through for those that are wanted; 0.05 s
PRUNED_MAX = 10_000  # rows at a time, for whose tenant nobody can append meanwhile; 0.05 s


@dataclass(frozen=True, slots=True)
class LoggedAction:
    """A row. subject: None for the operator and the system, whom key_id then names."""

    tenant: str
    number: int
    at: datetime
    subject: str | None
    key_id: str | None
    action: str
    target: str
    details: Mapping[str, Any]
    hash: bytes

    @property
    def who(self) -> str:
        return self.subject or self.key_id or ""


@dataclass(frozen=True, slots=True)
class ReadEvent:
    """What somebody saw, to be logged."""

    tenant: str
    who: ActingPrincipal
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AuditLogFilter:
    """Which rows; None for any. subject: `operator` and `system` name these, too."""

    subject: str | None = None
    document: str | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class AuditLogPage:
    """The newest first. before: of the next page, which may hold rows where this one has none; None
    if there are no more.
    """

    rows: Sequence[LoggedAction]
    before: int | None


ANY = AuditLogFilter()


async def append(
    session: Session, tenant: str, action: str, target: str = "", **details: Any
) -> None:
    """By whoever acts now. No text, no title and no key may be in it."""
    if session.logged:
        who = current_actor()
        await session.rows(
            "audit_log.append", tenant, who.subject, who.key_id, action, target, details
        )


def parts(documents: Sequence[T]) -> Iterator[Sequence[T]]:
    """As many as a row may name, at a time."""
    for start in range(0, len(documents), DOCUMENTS_MAX):
        yield documents[start : start + DOCUMENTS_MAX]


class AuditLog:
    def __init__(
        self,
        database: Database,
        *,
        looked_at_max: int = LOOKED_AT_MAX,
        pruned_max: int = PRUNED_MAX,
    ) -> None:
        self._database = database
        self._looked_at_max = looked_at_max
        self._pruned_max = pruned_max

    async def append_reads(self, sightings: Sequence[ReadEvent]) -> None:
        """All of them or none; in one order for all, so that processes can't deadlock."""
        async with self._database.session() as session:
            await session.rows_each(
                "audit_log.append",
                [
                    (one.tenant, one.who.subject, one.who.key_id, "documents.see", "", one.details)
                    for one in sorted(sightings, key=lambda one: one.tenant)
                ],
            )

    async def page(
        self, tenant: str, wanted: AuditLogFilter = ANY, *, before: int | None = None, limit: int
    ) -> AuditLogPage:
        head = await self._database.row("audit_log.head", tenant)
        if head is None:
            return AuditLogPage((), None)
        last = head["number"] if before is None else min(head["number"], before - 1)
        first = max(head["base_number"], last - self._looked_at_max) + 1
        found = await self._database.rows(
            "audit_log.page",
            *(tenant, first, last, wanted.subject, wanted.document, wanted.since, limit),
        )
        rows = [LoggedAction(**row) for row in found]
        if len(rows) == limit:
            first = rows[-1].number
        is_last = first <= head["base_number"] + 1 or await self._is_over(tenant, first, wanted)
        return AuditLogPage(rows, None if is_last else first)

    async def begun(self, tenant: str) -> datetime | None:
        """Since when there is this tenant; rows of before are of another one of its name."""
        row = await self._database.row("audit_log.begun", tenant)
        return None if row is None else row["created_at"]

    async def newest(
        self, tenants: Sequence[str], wanted: AuditLogFilter = ANY, *, limit: int
    ) -> list[LoggedAction]:
        """Of all of these tenants, however far back."""
        found: list[LoggedAction] = []
        for tenant in tenants:
            before, left = None, limit
            while left:
                page = await self.page(tenant, wanted, before=before, limit=left)
                found += page.rows
                before, left = page.before, left - len(page.rows)
                if before is None:
                    break
        found.sort(key=lambda row: (row.at, row.tenant, row.number), reverse=True)
        return found[:limit]

    async def tenants(self) -> list[str]:
        """Those that have a log, also of tenants that are gone."""
        rows = await self._database.rows("audit_log.logged")
        return [row["tenant"] for row in rows]

    async def prune(self, before: datetime) -> int:
        """Remove rows from before then, at the beginning of each log; how many that were."""
        pruned = 0
        for tenant in await self.tenants():
            count = self._pruned_max
            while count == self._pruned_max:
                count = await self._prune(tenant, before)
                pruned += count
        return pruned

    async def _prune(self, tenant: str, before: datetime) -> int:
        async with self._database.transaction() as session:
            base = await session.value("audit_log.lock", tenant)
            await session.rows("audit_log.allow_pruning")
            last = await session.value("audit_log.prune", tenant, base, before, self._pruned_max)
            if last is None:
                return 0
            await append(session, tenant, "log.prune", until=last)
        pruned: int = last - base
        return pruned

    async def _is_over(self, tenant: str, first: int, wanted: AuditLogFilter) -> bool:
        """Whether all rows before this one are older than wanted."""
        if wanted.since is None:
            return False
        row = await self._database.row("audit_log.at", tenant, first)
        return row is not None and row["at"] < wanted.since
