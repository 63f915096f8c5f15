"""Why documents are written, if not for a current request; checked in the write's transaction."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from index.jobs import job_queue
from index.jobs.job_queue import JobLease
from index.model.write_order import Parts
from index.postgres.session import Session


class WriteLease(Protocol):
    """What one process at a time holds to write for a source."""

    async def hold(self, session: Session, /) -> None:
        """Keep it until the transaction of a write ends. Raises `JobLost`."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A reading of a source. sequence: when it was requested; run: what it writes under."""

    sequence: int
    run: WriteLease | None = None


class ExternalCause(Protocol):
    """What another system says about a document, such as an event."""

    async def settle(self, session: Session, tenant: str, /) -> None:
        """Record, in the transaction that changes the document, that it follows the cause.

        Raises an exception of its own if the cause has changed since.
        """


WriteCause: TypeAlias = JobLease | Reading | ExternalCause


def sequence_of(cause: WriteCause | None) -> int | None:
    """When the write was acknowledged; None if that is now."""
    return cause.sequence if isinstance(cause, JobLease | Reading) else None


async def supersede(
    session: Session, tenant: str, parts: Mapping[str, Parts], cause: WriteCause | None
) -> None:
    """Check, before a write, that its cause still holds, and supersede queued earlier writes.

    parts: of the locked documents with unfinished jobs, those that the write sets. A queued job of
           which nothing remains is superseded. Raises `JobLost`, and what the cause raises.
    """
    match cause:
        case None:
            pass
        case JobLease():
            await cause.hold(session)
            return
        case Reading():
            if cause.run is not None:
                await cause.run.hold(session)
        case _:
            await cause.settle(session, tenant)
    await job_queue.supersede(session, tenant, parts, sequence_of(cause))
