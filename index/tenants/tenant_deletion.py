"""Deletion of a tenant: it is closed to all callers at once, and removed in batches.

Each batch is one transaction with its progress record, so that a worker that continues after a
crash misses nothing and counts nothing twice. Searches of other tenants leave out its public
documents as soon as it is closed: the statements check this, and a change of the public partition
invalidates caches.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import orjson

from index.audit import audit_log
from index.documents import outbox
from index.documents.outbox import Change
from index.errors import DatabaseUnavailable, JobLost
from index.jobs import job_queue
from index.jobs.job_queue import JobLease, NewJob
from index.model.quota import StoredAmounts
from index.model.scope import PUBLIC
from index.postgres.database import Database
from index.postgres.session import Row, Session

REMOVE = "tenant.remove"  # the kind of such jobs; their tenant is 'public', so that they survive
ATTEMPTS_MAX = 300  # about a day of retries: longer than the lifetime of a cache entry
_DOCUMENTS_MAX = 100  # of a batch, for whose locks others wait
_WITHDRAWN_MAX = 10_000  # public chunks in the change log; beyond it the caches start anew
_ROWS_MAX = 5_000  # of a batch that locks only its own rows
_PAUSE_S = 0.1  # while the tenant's chunks are being moved
_PAUSES_MAX = 300

Counts = dict[str, int]  # removed rows by kind


@dataclass(frozen=True, slots=True)
class ClosedTenant:
    """job_id: of the job that deletes it. was_public: whether other tenants could read parts."""

    job_id: str
    was_public: bool


def target(tenant: str) -> str:
    return f"tenant:{tenant}"


class TenantDeletion:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def close(self, tenant: str) -> ClosedTenant | None:
        """Close the tenant, and queue the job that deletes it; None if there is no such tenant.

        Keys, jobs and schedules are removed at once, and public documents stop being public. Rows
        are locked in the same order as elsewhere.
        """
        async with self._database.transaction() as session:
            jobs = await session.value("tenant_deletion.delete_jobs", tenant)
            await session.rows("tenant_deletion.lock_keys", tenant)
            await session.rows("tenant_deletion.pause_sources", tenant)
            await session.rows("tenant_deletion.delete_audits", tenant)
            if await session.value("tenant_deletion.mark", tenant) is None:
                return None
            was_public = await _withdraw_public(session, tenant)
            await audit_log.append(session, tenant, "tenant.delete")  # by a key that still works
            keys = await session.value("tenant_deletion.delete_keys", tenant)
            running: str | None = await session.value("tenant_deletion.find_job", target(tenant))
            job = _job(tenant, {"jobs": jobs, "keys": keys})
            job_id = running or await job_queue.enqueue(session, job)
            return ClosedTenant(job_id, was_public)

    async def progress(self, job_id: str) -> Counts:
        """By kind, the number of rows that earlier attempts have removed."""
        row = await self._database.row("tenant_deletion.progress", job_id)
        return {} if row is None else dict(row["progress"] or {})

    async def exists(self, tenant: str) -> bool:
        """Whether the closed tenant still exists; a new tenant of the same name does not count."""
        return await self._database.row("tenant_deletion.exists", tenant) is not None

    async def wait_for_writers(self, tenant: str) -> None:
        """Wait until all writers that began before the closing have ended; no new one begins."""
        async with self._database.transaction() as session:
            await session.rows("partitions.lock_tenant", tenant)

    async def remove_documents(self, tenant: str, run: JobLease, counts: Counts) -> bool:
        """Remove a batch of the tenant's documents and their rows; False if none are left.

        counts: the progress, increased here and below. Raises `JobLost`, here and below.
        """
        async with self._locked(tenant) as session:
            rows = await session.rows("tenant_deletion.documents", tenant, _DOCUMENTS_MAX)
            if not rows:
                return False
            await session.rows(
                "tenant_deletion.delete_documents", tenant, [row["document_id"] for row in rows]
            )
            results = {row["document_id"]: "removed" for row in rows}
            await outbox.commit(session, tenant, [_change(row) for row in rows], "remove", results)
            more = {"documents": len(rows), "chunks": sum(row["chunks"] for row in rows)}
            await _record_progress(session, run, counts, more)
        return True

    async def remove_rows(self, tenant: str, kind: str, run: JobLease, counts: Counts) -> bool:
        """Remove a batch of `embeddings`, `words` or `event_versions`; False if none are left."""
        async with self._database.transaction() as session:
            removed = await session.value(f"tenant_deletion.delete_{kind}", tenant, _ROWS_MAX)
            await _record_progress(session, run, counts, {kind: removed})
        return bool(removed)

    async def drop_partition(self, tenant: str) -> None:
        """Drop the tenant's own partition, if it has one; it is empty by now."""
        async with self._database.session() as session:
            row = await session.row("tenant_deletion.find_partition", tenant)
            if row is None or not row["is_there"]:
                return
            partition_no, is_pending = row["partition_no"], row["is_pending"]
            if is_pending is not None:
                step = "finish_detach" if is_pending else "detach"
                await session.rows(f"tenant_deletion.{step}", partition_no=partition_no)
            async with session.connection.transaction():
                await session.rows("tenant_deletion.set_lock_timeout")
                await session.rows("tenant_deletion.drop_partition", partition_no=partition_no)

    async def end(self, tenant: str, run: JobLease, counts: Counts) -> None:
        """Remove the tenant itself and its remaining rows."""
        async with self._database.transaction() as session:
            await session.rows("tenant_deletion.keep_counters", tenant)
            await session.rows("tenant_deletion.delete_tenant", tenant)
            await _record_progress(session, run, counts, {})

    @asynccontextmanager
    async def _locked(self, tenant: str) -> AsyncIterator[Session]:
        """A transaction during which the tenant's chunks are not moved."""
        for _ in range(_PAUSES_MAX):
            async with self._database.transaction() as session:
                if await session.value("documents.lock_tenant", tenant):
                    yield session
                    return
            await asyncio.sleep(_PAUSE_S)
        raise DatabaseUnavailable(f"the chunks of {tenant} are being moved")


async def _withdraw_public(session: Session, tenant: str) -> bool:
    """Invalidate other tenants' caches of its public documents; False if there were none.

    The caller has marked the tenant, which locks its row: what a later writer commits is in no
    search of another tenant.
    """
    rows = await session.rows("tenant_deletion.public_chunks", tenant, _WITHDRAWN_MAX + 1)
    if len(rows) > _WITHDRAWN_MAX:
        await session.rows("tenant_deletion.skip_public_revision", PUBLIC)
    elif rows:
        keys = sorted({row["document_key"] for row in rows})
        await outbox.withdraw(session, keys, [row["chunk_id"] for row in rows])
    return bool(rows)


async def _record_progress(
    session: Session, run: JobLease, counts: Counts, more: Mapping[str, int]
) -> None:
    """Add to the progress in the transaction of the removal. Raises `JobLost`."""
    now = {**counts, **{kind: counts.get(kind, 0) + count for kind, count in more.items()}}
    if not await session.value("jobs.progress", run.job_no, run.lease, run.attempts, now):
        raise JobLost(run.job_no)
    counts.update(now)


def _job(tenant: str, dropped: Mapping[str, Any]) -> NewJob:
    return NewJob(
        tenant=PUBLIC,
        kind=REMOVE,
        target=target(tenant),
        payload=orjson.dumps(dropped),
        attempts_max=ATTEMPTS_MAX,
    )


def _change(row: Row) -> Change:
    return Change(
        row["document_key"],
        row["language"],
        was_public=PUBLIC in row["readers"],
        is_public=False,
        chunks_before=row["chunks"],
        chunks=0,
        growth=StoredAmounts(documents=-1, bytes=-row["text_bytes"]),
        removed=row["chunk_ids"],
    )
