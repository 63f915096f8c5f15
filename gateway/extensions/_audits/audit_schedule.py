"""The schedule of index audits: when each tenant's is due, and the outcome of the last."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from index.jobs import job_queue
from index.jobs.job_queue import NewJob
from index.postgres.database import Database

AUDIT = "consistency.check"  # the kind of such jobs
_ATTEMPTS_MAX = 3  # the schedule starts another one anyway


@dataclass(frozen=True, slots=True)
class AuditOutcome:
    """The outcome of an audit. problems: by kind, how many it did not repair."""

    last_run_at: datetime
    problems: Mapping[str, int]


class AuditSchedule:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def enqueue_due(self, next_run_at: datetime) -> str | None:
        """Queue the audit of a tenant that is due, and set its next date, in one transaction.

        Returns the tenant; None if none is due. A new tenant waits for the next date.
        """
        async with self._database.transaction() as session:
            await session.rows("index_audits.plan", next_run_at)
            row = await session.row("index_audits.due")
            if row is None:
                return None
            tenant: str = row["tenant"]
            await session.rows("index_audits.schedule", tenant, next_run_at)
            await job_queue.enqueue_once(session, job(tenant))
        return tenant

    async def record_run(self, tenant: str, problems: Mapping[str, int]) -> None:
        await self._database.rows("index_audits.record", tenant, dict(problems))

    async def last(self, tenant: str) -> AuditOutcome | None:
        row = await self._database.row("index_audits.last", tenant)
        return None if row is None else AuditOutcome(**row)


def job(tenant: str) -> NewJob:
    return NewJob(
        tenant=tenant, kind=AUDIT, target="index", payload=b"", attempts_max=_ATTEMPTS_MAX
    )
