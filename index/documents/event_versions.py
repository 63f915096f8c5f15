"""What events have said of each document: kept with what each of them changed, in one transaction.

So an event that comes late, or again, is known to be out of date, whoever else is at the document.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from index.errors import EventSuperseded, TenantMissing
from index.jobs import job_queue
from index.jobs.job_queue import JobLease
from index.model.write_order import Parts
from index.postgres.database import Database, Session


@dataclass(frozen=True, slots=True)
class EventVersion:
    """content and access: versions of the last events that said what is in the document, and who
    may read it; 0 if none has. owner and readers: as the latter said.
    """

    content: int = 0
    access: int = 0
    owner: str | None = None
    readers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EventUpdate:
    """One event's: what had been heard of the document before, and what has been heard with it."""

    document_id: str
    before: EventVersion
    after: EventVersion


@dataclass(frozen=True, slots=True)
class Reading:
    """A reading of a source. sequence: when it was asked for; run: of its job, if it has one."""

    sequence: int
    run: JobLease | None = None


By: TypeAlias = JobLease | Reading | EventUpdate  # who writes documents, if not a caller of now


class EventVersionStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, tenant: str, document_id: str) -> EventVersion:
        """What has been heard of the document. Raises `TenantMissing`."""
        row = await self._database.row("heard.read", tenant, document_id)
        if row is None:
            raise TenantMissing(tenant)
        if row["content"] is None:
            return EventVersion()
        return EventVersion(row["content"], row["access"], row["owner"], tuple(row["readers"]))

    async def keep(self, tenant: str, hearing: EventUpdate) -> None:
        """Keep what was heard of a document that does not exist.

        Raises `HeardMeanwhile`, also if the document exists by now.
        """
        async with self._database.transaction() as session:
            await session.rows("documents.lock", tenant, [hearing.document_id])
            if await session.row("documents.exists", tenant, hearing.document_id) is not None:
                raise EventSuperseded(hearing.document_id)
            await keep(session, tenant, hearing)


async def keep(session: Session, tenant: str, hearing: EventUpdate) -> None:
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
        raise EventSuperseded(hearing.document_id)


def sequence_of(by: By | None) -> int | None:
    """When the write was acknowledged; None if that is now."""
    return by.sequence if isinstance(by, JobLease | Reading) else None


async def supersede_event(
    session: Session, tenant: str, parts: Mapping[str, Parts], by: By | None
) -> None:
    """Before documents are written: their writer must not have lost its job, or be out of date.

    parts: those that it sets, by document, which have to be locked; what else is queued for them is
    superseded where nothing is left of it. Raises `JobLost` and `HeardMeanwhile`.
    """
    match by:
        case JobLease():
            await job_queue.hold(session, by)
            return
        case Reading(run=JobLease() as run):
            await job_queue.hold(session, run)
        case EventUpdate():
            await keep(session, tenant, by)
    await job_queue.supersede(session, tenant, parts, sequence_of(by))
