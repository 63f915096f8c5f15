"""The versions of the last events of each document, stored in the transactions of their changes.

So an event that arrives late or twice is recognized as outdated, also under concurrent writes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from index.errors import EventSuperseded
from index.jobs import job_queue
from index.jobs.job_queue import JobLease
from index.model.write_order import Parts
from index.postgres.session import Session


@dataclass(frozen=True, slots=True)
class EventVersion:
    """The versions of the last events of a document.

    content, access: of the last event that set the text, and of the last that set owner and
                     readers; 0 if there was none. owner, readers: as set by the latter.
    """

    content: int = 0
    access: int = 0
    owner: str | None = None
    readers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EventUpdate:
    """One event of a document: the stored versions before it and after it."""

    document_id: str
    before: EventVersion
    after: EventVersion


@dataclass(frozen=True, slots=True)
class Reading:
    """A reading of a source. sequence: when it was requested; run: of its job, if it has one."""

    sequence: int
    run: JobLease | None = None


# Why documents are written, if not for a current request.
WriteCause: TypeAlias = JobLease | Reading | EventUpdate


class AccessRule(Protocol):
    """What somebody else says about a document's readers."""

    async def settle(self, session: Session, tenant: str, /) -> None:
        """Record, in the transaction that changes the document, that it follows the rule.

        Raises `TuplesMoved` if the rule has changed since.
        """


# Why owner and readers alone are set, if not for a current request.
AccessCause: TypeAlias = EventUpdate | AccessRule


async def merge_event(session: Session, tenant: str, update: EventUpdate) -> None:
    """Raises `EventSuperseded` unless the stored versions are those the update was planned from."""
    before, after = update.before, update.after
    if not await session.value(
        "event_versions.put",
        tenant,
        update.document_id,
        before.content,
        before.access,
        after.content,
        after.access,
        after.owner,
        list(after.readers),
    ):
        raise EventSuperseded(update.document_id)


async def merge_access(session: Session, tenant: str, cause: AccessCause) -> None:
    """Raises `EventSuperseded` or `TuplesMoved` unless the cause still holds."""
    if isinstance(cause, EventUpdate):
        await merge_event(session, tenant, cause)
    else:
        await cause.settle(session, tenant)


def sequence_of(cause: WriteCause | None) -> int | None:
    """When the write was acknowledged; None if that is now."""
    return cause.sequence if isinstance(cause, JobLease | Reading) else None


async def supersede_event(
    session: Session, tenant: str, parts: Mapping[str, Parts], cause: WriteCause | None
) -> None:
    """Check, before a write, that its cause still holds, and supersede queued earlier writes.

    parts: of the locked documents with unfinished jobs, those that the write sets. A queued job of
           which nothing remains is superseded. Raises `JobLost` and `EventSuperseded`.
    """
    match cause:
        case JobLease():
            await job_queue.hold(session, cause)
            return
        case Reading(run=JobLease() as run):
            await job_queue.hold(session, run)
        case EventUpdate():
            await merge_event(session, tenant, cause)
    await job_queue.supersede(session, tenant, parts, sequence_of(cause))
