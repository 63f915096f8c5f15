"""What events have said of each document: kept with what each of them changed, in one transaction.

So an event that comes late, or again, is known to be out of date, whoever else is at the document.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from index import jobs
from index.database import Database, Session
from index.errors import HeardMeanwhile, TenantMissing
from index.jobs import Run


@dataclass(frozen=True, slots=True)
class Heard:
    """content and access: versions of the last events that said what is in the document, and who
    may read it; 0 if none has. owner and readers: as the latter said.
    """

    content: int = 0
    access: int = 0
    owner: str | None = None
    readers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hearing:
    """One event's: what had been heard of the document before, and what has been heard with it."""

    document_id: str
    before: Heard
    after: Heard


By: TypeAlias = Run | Hearing  # on whose behalf documents are written, if not a caller's of now


class Hearsay:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, tenant: str, document_id: str) -> Heard:
        """What has been heard of the document. Raises `TenantMissing`."""
        row = await self._database.row("heard.read", tenant, document_id)
        if row is None:
            raise TenantMissing(tenant)
        if row["content"] is None:
            return Heard()
        return Heard(row["content"], row["access"], row["owner"], tuple(row["readers"]))

    async def keep(self, tenant: str, hearing: Hearing) -> None:
        """Keep what was heard where it changes no document. Raises `HeardMeanwhile`."""
        async with self._database.transaction() as session:
            await keep(session, tenant, hearing)


async def keep(session: Session, tenant: str, hearing: Hearing) -> None:
    """Raises `HeardMeanwhile` unless all that had been heard is what it was planned from."""
    before, after = hearing.before, hearing.after
    if not await session.value(
        "heard.keep",
        tenant,
        hearing.document_id,
        before.content,
        before.access,
        after.content,
        after.access,
        after.owner,
        list(after.readers),
    ):
        raise HeardMeanwhile(hearing.document_id)


async def overtake(
    session: Session, tenant: str, document_ids: Sequence[str], by: By | None
) -> None:
    """`jobs.overtake`, by an event too, which must still be the next. Raises `HeardMeanwhile`."""
    if isinstance(by, Hearing):
        await keep(session, tenant, by)
        by = None
    await jobs.overtake(session, tenant, document_ids, by)
