"""The stored audit log: an append-only record of who read and who changed what.

A change appends its row at the end of its own transaction. The next change of the same tenant waits
for that row. See migrations/0001_schema.sql.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, TypeVar

from common.audit_actor import current_actor
from index.errors import RightsLost
from index.postgres.database import Database
from index.postgres.session import Session

T = TypeVar("T")

NO_TENANT = "-"  # the log of requests that belong to no tenant; no tenant has this name

DOCUMENTS_MAX = 1_000  # named by one row
PRUNED_MAX = 10_000  # rows at a time, during which the tenant's appends wait; 0.05 s


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
    def __init__(self, database: Database, *, pruned_max: int = PRUNED_MAX) -> None:
        self.database = database
        self._pruned_max = pruned_max

    async def tenants(self) -> list[str]:
        """All tenants that have a log, deleted ones included."""
        rows = await self.database.rows("audit_log.tenants")
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

    async def _prune(self, tenant: str, before: datetime) -> int:
        async with self.database.transaction() as session:
            base = await session.value("audit_log.lock", tenant)
            await session.rows("audit_log.allow_pruning")
            last = await session.value("audit_log.prune", tenant, base, before, self._pruned_max)
            if last is None:
                return 0
            await append(session, tenant, "log.prune", until=last)
        pruned: int = last - base
        return pruned
