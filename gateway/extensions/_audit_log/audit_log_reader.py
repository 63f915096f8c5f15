"""The audit log read: by who, what and when, by who was shown a document, and its last row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from gateway.extensions._audit_log.audit_chain import AuditHead
from index.model.identifiers import in_normal_form
from index.postgres.database import Database

LOOKED_AT_MAX = 100_000  # rows scanned for one page; 0.05 s
SHOWN_MAX = 10_000  # rows of one page that showed a document


@dataclass(frozen=True, slots=True)
class LoggedAction:
    """A row of the log. subject: None for the operator and the system, which key_id names."""

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
class AuditLogFilter:
    """The rows to show; None matches any. subject: may also be `operator` or `system`."""

    subject: str | None = None
    document: str | None = None
    since: datetime | None = None

    def spellings(self) -> list[str] | None:
        """The subject as given, which is how old rows may have it, and in normal form."""
        if self.subject is None:
            return None
        return sorted({self.subject, in_normal_form(self.subject)})


@dataclass(frozen=True, slots=True)
class AuditLogPage:
    """A page of rows, newest first; may be empty although the next page is not.

    before: the argument for the next page; None if there are no more rows.
    """

    rows: Sequence[LoggedAction]
    before: int | None


ANY = AuditLogFilter()


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """What somebody was shown. document: its address. chunk_id: None for any part of it.

    since, until: when, None for any time.
    """

    document: str
    chunk_id: int | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Recipient:
    """Who was shown a document, for the first and for the last time; see `LoggedAction`."""

    subject: str | None
    key_id: str | None
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True)
class ChunkViews:
    """views: the rows that name the chunk, of which each caller adds one a second at most."""

    chunk_id: int
    views: int
    last: datetime


@dataclass(frozen=True, slots=True)
class ChunkViewsPage:
    """As `AuditLogPage`."""

    chunks: Sequence[ChunkViews]
    before: int | None


@dataclass(frozen=True, slots=True)
class RecipientsPage:
    """As `AuditLogPage`. answers_lost: of which nobody knows what they showed."""

    recipients: Sequence[Recipient]
    answers_lost: int
    before: int | None


class AuditLogReader:
    def __init__(
        self,
        database: Database,
        *,
        looked_at_max: int = LOOKED_AT_MAX,
        shown_max: int = SHOWN_MAX,
    ) -> None:
        self._database = database
        self._looked_at_max = looked_at_max
        self._shown_max = shown_max

    async def head(self, tenant: str) -> AuditHead | None:
        """The last row of the tenant's log; None if it has none."""
        row = await self._database.row("audit_log.head", tenant)
        return None if row is None else AuditHead(tenant, row["number"], row["hash"])

    async def page(
        self,
        tenant: str,
        row_filter: AuditLogFilter = ANY,
        *,
        before: int | None = None,
        limit: int,
    ) -> AuditLogPage:
        numbers = await self._numbers(tenant, before)
        if numbers is None:
            return AuditLogPage((), None)
        first, last, pruned = numbers
        page_rows = await self._database.rows(
            "audit_log.page",
            *(
                tenant,
                first,
                last,
                row_filter.spellings(),
                row_filter.document,
                row_filter.since,
                limit,
            ),
        )
        rows = [LoggedAction(**row) for row in page_rows]
        if len(rows) == limit:
            first = rows[-1].number
        is_last = first <= pruned + 1 or await self._is_over(tenant, first, row_filter.since)
        return AuditLogPage(rows, None if is_last else first)

    async def recipients(
        self, tenant: str, shown: ShownDocument, *, before: int | None = None
    ) -> RecipientsPage:
        """Who was shown it by a page of rows, the last one first; the next may name them too."""
        numbers = await self._numbers(tenant, before)
        if numbers is None:
            return RecipientsPage((), 0, None)
        first, last, pruned = numbers
        rows = await self._database.rows(
            "audit_log.recipients",
            *(tenant, first, last, shown.document, shown.chunk_id, shown.since, shown.until),
            self._shown_max,
        )
        if rows and rows[0]["rows_counted"] == self._shown_max:
            first = rows[0]["first_counted"]
        lost = await self._database.row("audit_log.lost", tenant, first, last)
        assert lost is not None
        is_last = first <= pruned + 1 or await self._is_over(tenant, first, shown.since)
        return RecipientsPage(
            [Recipient(row["subject"], row["key_id"], row["first"], row["last"]) for row in rows],
            lost["answers"],
            None if is_last else first,
        )

    async def chunk_views(
        self, tenant: str, document: str, since: datetime | None, *, before: int | None = None
    ) -> ChunkViewsPage:
        """How often each chunk was shown, by a page of rows; the next may name it too."""
        numbers = await self._numbers(tenant, before)
        if numbers is None:
            return ChunkViewsPage((), None)
        first, last, pruned = numbers
        rows = await self._database.rows(
            "audit_log.chunks_shown", tenant, first, last, document, since
        )
        is_last = first <= pruned + 1 or await self._is_over(tenant, first, since)
        return ChunkViewsPage([ChunkViews(**row) for row in rows], None if is_last else first)

    async def all_recipients(self, tenant: str, shown: ShownDocument) -> RecipientsPage:
        """Those of all pages, each once."""
        by_actor: dict[tuple[str | None, str | None], Recipient] = {}
        before, answers_lost = None, 0
        while True:
            page = await self.recipients(tenant, shown, before=before)
            for each in page.recipients:
                later = by_actor.get((each.subject, each.key_id))
                by_actor[each.subject, each.key_id] = (
                    each
                    if later is None
                    else replace(
                        later, first=min(each.first, later.first), last=max(each.last, later.last)
                    )
                )
            before, answers_lost = page.before, answers_lost + page.answers_lost
            if before is None:
                return RecipientsPage([*by_actor.values()], answers_lost, None)

    async def _numbers(self, tenant: str, before: int | None) -> tuple[int, int, int] | None:
        """The first and the last row of a page, and the last pruned one; None without a log."""
        head = await self._database.row("audit_log.head", tenant)
        if head is None:
            return None
        pruned: int = head["pruned_number"]
        last = head["number"] if before is None else min(head["number"], before - 1)
        return max(pruned, last - self._looked_at_max) + 1, last, pruned

    async def begun(self, tenant: str) -> datetime | None:
        """When the tenant was created; earlier rows belong to a deleted one of the same name."""
        row = await self._database.row("audit_log.created_at", tenant)
        return None if row is None else row["created_at"]

    async def newest(
        self, tenants: Sequence[str], row_filter: AuditLogFilter = ANY, *, limit: int
    ) -> list[LoggedAction]:
        """The newest matching rows of all these tenants, however old."""
        newest_rows: list[LoggedAction] = []
        for tenant in tenants:
            before, rows_left = None, limit
            while rows_left:
                page = await self.page(tenant, row_filter, before=before, limit=rows_left)
                newest_rows += page.rows
                before, rows_left = page.before, rows_left - len(page.rows)
                if before is None:
                    break
        newest_rows.sort(key=lambda row: (row.at, row.tenant, row.number), reverse=True)
        return newest_rows[:limit]

    async def _is_over(self, tenant: str, first: int, since: datetime | None) -> bool:
        """Whether all rows before this one are too old."""
        if since is None:
            return False
        row = await self._database.row("audit_log.at", tenant, first)
        return row is not None and row["at"] < since
