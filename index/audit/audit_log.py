"""The stored audit log: an append-only record of who read and who changed what.

A change appends its row at the end of its own transaction. The next change of the same tenant waits
for that row. See migrations/0001_schema.sql.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from common.audit_actor import ActingPrincipal, current_actor
from index.audit.audit_chain import AuditHead
from index.errors import RightsLost
from index.model.identifiers import in_normal_form
from index.postgres.database import Database
from index.postgres.session import Session

T = TypeVar("T")

NO_TENANT = "-"  # the log of requests that belong to no tenant; no tenant has this name

DOCUMENTS_MAX = 1_000  # named by one row
LOOKED_AT_MAX = 100_000  # rows scanned for one page; 0.05 s
SHOWN_MAX = 10_000  # rows of one page that showed a document
PRUNED_MAX = 10_000  # rows at a time, during which the tenant's appends wait; 0.05 s


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
class ReadEvent:
    """A read of documents, to be logged."""

    tenant: str
    who: ActingPrincipal
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Denial:
    """Refused requests of one caller, to be logged. reason: the log's word for why."""

    tenant: str
    who: ActingPrincipal
    reason: str
    details: Mapping[str, Any]


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
class RecipientsPage:
    """As `AuditLogPage`. answers_lost: of which nobody knows what they showed."""

    recipients: Sequence[Recipient]
    answers_lost: int
    before: int | None


async def append(
    session: Session, tenant: str, action: str, target: str = "", **details: Any
) -> None:
    """Append a row for the current actor; details must hold no text, title or key.

    Raises `RightsLost` if the credential with whose rights the actor acts has expired or ended. An
    end of a credential appends a row too, and rows are appended one at a time until the commit: so
    either the end is seen here, or it is acknowledged after the session's transaction.
    """
    actor = current_actor()
    if session.logged:
        logged = (actor.subject, actor.key_id, action, target, details)
        row = await session.row("audit_log.append", tenant, *logged)
    else:
        row = await session.row("audit_log.omit", tenant)
    assert row is not None, "the statement has one row"
    if actor.expires_at is not None and actor.expires_at <= row["appended_at"]:
        raise RightsLost
    if actor.tenant != tenant or actor.access_revision in (None, row["access_revision"]):
        return
    if not await session.value("principals.has_rights", tenant, actor.key_id, actor.subject):
        raise RightsLost


def parts(documents: Sequence[T]) -> Iterator[Sequence[T]]:
    """Split documents into parts that one row may name."""
    for start in range(0, len(documents), DOCUMENTS_MAX):
        yield documents[start : start + DOCUMENTS_MAX]


class AuditLog:
    def __init__(
        self,
        database: Database,
        *,
        looked_at_max: int = LOOKED_AT_MAX,
        shown_max: int = SHOWN_MAX,
        pruned_max: int = PRUNED_MAX,
    ) -> None:
        self._database = database
        self._looked_at_max = looked_at_max
        self._shown_max = shown_max
        self._pruned_max = pruned_max

    async def append_reads(self, events: Sequence[ReadEvent]) -> None:
        """Append all events or none."""
        await self._append_each(
            (event.tenant, event.who, "documents.read", "", event.details) for event in events
        )

    async def append_denials(self, denials: Sequence[Denial]) -> None:
        """Append all denials or none."""
        await self._append_each(
            (denial.tenant, denial.who, "access.denied", denial.reason, denial.details)
            for denial in denials
        )

    async def append_search_as(
        self, tenant: str, subject: str | None, groups: Sequence[str], documents: Sequence[str]
    ) -> None:
        """Append that the current actor saw these documents as this subject or these groups."""
        async with self._database.transaction() as session:
            for part in list(parts(documents)) or [()]:
                await append(
                    session,
                    tenant,
                    "search.as",
                    subject or "",
                    groups=groups,
                    documents=list(part),
                )

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

    async def tenants(self) -> list[str]:
        """All tenants that have a log, deleted ones included."""
        rows = await self._database.rows("audit_log.tenants")
        return [row["tenant"] for row in rows]

    async def prune(self, before: datetime) -> int:
        """Remove rows older than `before` from the start of each log; return their number."""
        pruned = 0
        for tenant in await self.tenants():
            count = self._pruned_max
            while count == self._pruned_max:
                count = await self._prune(tenant, before)
                pruned += count
        return pruned

    async def _append_each(
        self, rows: Iterable[tuple[str, ActingPrincipal, str, str, Mapping[str, Any]]]
    ) -> None:
        """Append in one statement, ordered by tenant so that processes can't deadlock."""
        async with self._database.session() as session:
            await session.rows_each(
                "audit_log.append",
                [
                    (tenant, who.subject, who.key_id, *action)
                    for tenant, who, *action in sorted(rows, key=lambda row: row[0])
                ],
            )

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

    async def _is_over(self, tenant: str, first: int, since: datetime | None) -> bool:
        """Whether all rows before this one are too old."""
        if since is None:
            return False
        row = await self._database.row("audit_log.at", tenant, first)
        return row is not None and row["at"] < since
