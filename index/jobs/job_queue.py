"""The job queue: durable work that any worker does after the request.

A job waits, runs under a lease, and ends as done or failed; a failed job stays until a caller
replays or deletes it. A run is identified by its lease and attempt: a worker whose lease has
expired can't finish, or write for, a job that was started again.
"""

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from index.errors import JobLost, PayloadTooLarge, QueueFull, RightsLost, TenantMissing
from index.jobs import trace_context
from index.jobs.trace_context import TraceContext
from index.model.write_order import Parts, by_parts
from index.postgres.database import Database
from index.postgres.session import Row, Session

CHANNEL = "nearhit_jobs"  # as in sql/jobs.sql
PAYLOAD_BYTES_MAX = 8_388_608  # as in migrations/0001_schema.sql; twice a document's longest body
WAITING_MAX = 10_000  # of a tenant, with failed ones for a write; a starting value
QUEUED_BYTES_MAX = 268_435_456  # of a tenant's payloads, for a write; a starting value
# With the pauses of ingest/worker/job_worker.py about ten minutes; a starting value, not measured.
ATTEMPTS_MAX = 8


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to enqueue.

    key_id, subject: whose rights apply when it runs; None for the operator's own work.
    target: what it changes, such as `document:ID`. source: of the documents that it changes.
    parts: those that it sets of its target document.
    """

    tenant: str
    kind: str
    target: str
    payload: bytes
    source: str | None = None
    key_id: str | None = None
    subject: str | None = None
    attempts_max: int = ATTEMPTS_MAX
    due_s: float = 0.0
    parts: Parts = frozenset()


@dataclass(frozen=True, slots=True)
class JobCounts:
    """oldest_due_s: for how long the oldest waiting job has been due; 0 if none is."""

    by_state: Mapping[str, int]
    oldest_due_s: float


@dataclass(frozen=True, slots=True)
class JobLease:
    """One run of a job; only the holder of its last run may finish it.

    sequence: the job's, which orders its writes among all others.
    """

    job_no: int
    lease: UUID
    attempts: int
    sequence: int = field(default=0, compare=False)

    async def hold(self, session: Session) -> None:
        """Lock the job for this run until the transaction ends. Raises `JobLost`."""
        if not await session.value("jobs.check_lease", self.job_no, self.lease, self.attempts):
            raise JobLost(self.job_no)


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """A job that a worker has claimed and must do now.

    progress: of its earlier runs. trace: in which it was enqueued.
    """

    run: JobLease
    job_id: str
    tenant: str
    kind: str
    target: str
    source: str | None
    key_id: str | None
    subject: str | None
    payload: bytes
    attempts_max: int
    due_at: datetime
    progress: Mapping[str, Any] = field(default_factory=dict)
    trace: TraceContext | None = None


def document_target(document_id: str) -> str:
    """The target of jobs that write or remove the document."""
    return f"document:{document_id}"


async def enqueue(session: Session, job: NewJob) -> str:
    """The new job's identifier; it exists if the session's transaction commits.

    Raises `PayloadTooLarge`, `QueueFull` and `TenantMissing`.
    """
    if len(job.payload) > PAYLOAD_BYTES_MAX:
        raise PayloadTooLarge(PAYLOAD_BYTES_MAX)
    if job.parts:  # else concurrent writes would not see each other, and pass the limits together
        await session.rows("quotas.lock", job.tenant)
    trace = trace_context.current()
    row = await session.row(
        "jobs.enqueue",
        f"job_{secrets.token_hex(8)}",
        job.tenant,
        job.kind,
        job.target,
        job.source,
        job.key_id,
        job.subject,
        job.payload,
        job.attempts_max,
        job.due_s,
        sorted(job.parts),
        None if trace is None else trace.traceparent,
        None if trace is None else trace.tracestate,
        WAITING_MAX,
        QUEUED_BYTES_MAX,
    )
    if row is None:
        raise TenantMissing(job.tenant)
    job_id: str | None = row["job_id"]
    if job_id is None:
        raise QueueFull(job.tenant)
    return job_id


async def enqueue_once(session: Session, job: NewJob) -> str:
    """The waiting job of this kind and target, requested again as of now, or else a new one.

    The session must hold a lock that prevents concurrent requests for the same job.
    """
    waiting: str | None = await session.value(
        "jobs.request_again", job.tenant, job.target, job.kind
    )
    return waiting or await enqueue(session, job)


async def require_rights(session: Session, run: JobLease) -> None:
    """Raises `RightsLost` if the key with whose rights the job runs no longer works.

    The session has raised the tenant's revision. An end of the key raises the access revision in
    the same row, so either it is seen here, or it is acknowledged after the session's transaction.
    """
    if not await session.value("jobs.has_rights", run.job_no):
        raise RightsLost


async def supersede(
    session: Session, tenant: str, parts: Mapping[str, Parts], sequence: int | None = None
) -> None:
    """Finish the earlier jobs to which a write leaves nothing to do.

    parts: by document, those that the write sets. The documents must be locked against other
           writers. sequence: the write's; None for a current write.
    """
    for document_parts, document_ids in by_parts(parts):
        targets = [document_target(document_id) for document_id in document_ids]
        await session.rows("jobs.supersede", tenant, targets, sorted(document_parts), sequence)


async def begin_again(session: Session, tenant: str, target: str, kind: str) -> None:
    """Let unfinished jobs of the target begin anew; a run of one writes nothing any more.

    The session must hold a lock that excludes writers, so that none writes until its commit.
    """
    await session.rows("jobs.begin_again", tenant, target, kind)


class JobQueue:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def enqueue(self, job: NewJob) -> str:
        """Enqueue the job in a transaction of its own."""
        async with self._database.transaction() as session:
            return await enqueue(session, job)

    async def enqueue_once(self, job: NewJob) -> str:
        """Enqueue the job, unless one of its kind and target already waits."""
        async with self._database.transaction() as session:
            await session.rows("jobs.lock_claims")
            return await enqueue_once(session, job)

    async def enqueue_document(self, document_id: str, job: NewJob) -> str:
        """Enqueue a write of the document; it replaces queued writes that set no other part."""
        async with self._database.transaction() as session:
            await session.rows("documents.lock", job.tenant, [document_id])
            await supersede(session, job.tenant, {document_id: job.parts})
            return await enqueue(session, job)

    async def enqueue_if_unchanged(self, document_id: str, job: NewJob, version: int) -> str | None:
        """Enqueue a write of the document if this version is stored and no write of it is queued.

        version: 0 if the document does not exist. None if something else holds.
        """
        async with self._database.transaction() as session:
            await session.rows("documents.lock", job.tenant, [document_id])
            row = await session.row("jobs.document_state", job.tenant, document_id, job.target)
            assert row is not None, "the statement has one row"
            if row["version"] != version or row["is_awaited"]:
                return None
            return await enqueue(session, job)

    async def is_document_awaited(self, tenant: str, document_id: str) -> bool:
        """Whether a write of the document is queued."""
        target = document_target(document_id)
        row = await self._database.row("jobs.document_state", tenant, document_id, target)
        return row is not None and bool(row["is_awaited"])

    async def run_now(self, tenant: str) -> None:
        """Make the tenant's postponed jobs due at once."""
        await self._database.rows("jobs.run_now", tenant)

    # Called by workers.

    async def claim(
        self,
        lease: UUID,
        *,
        lease_s: float,
        tenant_jobs_max: int,
        kinds: Collection[str],
        long_kinds: Collection[str] = (),
        at_work: Collection[int] = (),
        waited_s: float = 0.0,
    ) -> ClaimedJob | None:
        """Claim the next job; None if there is none.

        tenant_jobs_max: how many jobs of one tenant may run at once, in all workers.
        kinds: those that this worker can do now.
        long_kinds: those whose jobs may run for hours; a tenant runs half as many of them.
        at_work: row ids of jobs that still run here, even if another worker has claimed them.
        waited_s: for how long the job must have been due.
        """
        async with self._database.transaction() as session:
            await session.rows("jobs.lock_claims")
            await session.rows("jobs.expire_leases")
            row = await session.row(
                "jobs.claim",
                lease,
                lease_s,
                tenant_jobs_max,
                list(at_work),
                list(kinds),
                list(long_kinds),
                max(1, tenant_jobs_max // 2),
                waited_s,
            )
        return None if row is None else _to_claimed_job(row, lease)

    async def renew(self, lease: UUID, row_ids: Collection[int], *, lease_s: float) -> None:
        await self._database.rows("jobs.renew", lease, lease_s, list(row_ids))

    async def progress(self, run: JobLease, values: Mapping[str, Any]) -> None:
        """Record the job's progress. Raises `JobLost`."""
        if not await self._end_run("progress", run, dict(values)):
            raise JobLost(run.job_no)

    async def finish(self, run: JobLease, result: Mapping[str, Any]) -> bool:
        """Mark the job done. Returns False if the run has lost its job, as do the methods below."""
        return await self._end_run("finish", run, dict(result))

    async def reschedule(
        self, run: JobLease, error: str | None, *, due_s: float, counts: bool = True
    ) -> bool:
        """Let the job wait again. counts: whether the attempt counts towards the limit."""
        return await self._end_run("reschedule", run, due_s, error, counts)

    async def fail(self, run: JobLease, error: str) -> bool:
        return await self._end_run("fail", run, error)

    async def next_s(self) -> float | None:
        """Seconds until a job may be due; None if no job waits or runs."""
        row = await self._database.row("jobs.next_s")
        assert row is not None
        seconds: float | None = next(iter(row.values()))
        return seconds

    async def has_waiting(self) -> bool:
        row = await self._database.row("jobs.is_any_waiting")
        return row is not None and bool(next(iter(row.values())))

    async def counts(self) -> "JobCounts":
        """The jobs of all tenants that are not done."""
        row = await self._database.row("jobs.counts")
        assert row is not None
        by_state = {state: row[state] for state in ("waiting", "running", "failed")}
        return JobCounts(by_state, row["oldest_due_s"])

    async def notify(self, message: str) -> None:
        """Send a message to all listeners of the channel."""
        await self._database.rows("jobs.notify", message)

    async def delete_done(self, kept_s: float) -> None:
        """Delete the jobs that were done more than `kept_s` seconds ago."""
        await self._database.rows("jobs.delete_done", kept_s)

    async def _end_run(self, name: str, run: JobLease, *arguments: Any) -> bool:
        row = await self._database.row(
            f"jobs.{name}", run.job_no, run.lease, run.attempts, *arguments
        )
        return row is not None


def _to_claimed_job(row: Row, lease: UUID) -> ClaimedJob:
    traceparent: str | None = row["traceparent"]
    return ClaimedJob(
        run=JobLease(row["job_no"], lease, row["attempts"], row["sequence"]),
        job_id=row["job_id"],
        tenant=row["tenant"],
        kind=row["kind"],
        target=row["target"],
        source=row["source"],
        key_id=row["key_id"],
        subject=row["subject"],
        payload=row["payload"],
        attempts_max=row["attempts_max"],
        due_at=row["due_at"],
        progress=row["progress"] or {},
        trace=None if traceparent is None else TraceContext(traceparent, row["tracestate"]),
    )
