"""Stored sources: how and when each is read, and the result of the last reading."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from index.audit import audit_log
from index.documents import quotas
from index.errors import SourceReserved, TenantMissing
from index.jobs import job_queue
from index.jobs.job_queue import NewJob
from index.model.document import API_SOURCE, CURATION_SOURCE, EVENTS_SOURCE, FAQ_SOURCE
from index.model.quota import NO_QUOTAS, Quotas
from index.postgres.database import Database
from index.postgres.session import Session

SYNC, REMOVE = "source.sync", "source.remove"  # kinds of jobs
_BEING_REMOVED = "The source is being removed."
ATTEMPTS_MAX = 3  # at a reading; the schedule or a caller requests it again

SourceState: TypeAlias = Literal["idle", "running", "failed", "paused", "needs_attention"]


@dataclass(frozen=True, slots=True)
class SourceConfig:
    """How to read a source, and when; see migrations/0001_schema.sql.

    may_publish: whether its documents may be public.
    """

    kind: str
    settings: Mapping[str, Any]
    schedule: str | None
    paused: bool
    next_run_at: datetime | None
    may_publish: bool = False


@dataclass(frozen=True, slots=True)
class StoredSource:
    """pending_removals, confirmed_removals: see migrations/0001_schema.sql."""

    tenant: str
    source: str
    kind: str | None
    settings: Mapping[str, Any]
    schedule: str | None
    paused: bool
    next_run_at: datetime | None
    last_run_at: datetime | None
    last_error: str | None
    counts: Mapping[str, int]
    pending_removals: int | None
    confirmed_removals: int | None
    may_publish: bool
    state: SourceState


def target(source: str) -> str:
    return f"source:{source}"


class SourceStore:
    def __init__(self, database: Database, default_quotas: Quotas = NO_QUOTAS) -> None:
        self._database = database
        self._default_quotas = default_quotas

    async def put(self, tenant: str, source: str, config: SourceConfig) -> None:
        """Read the source from now on.

        A reading under another configuration writes nothing any more, and begins again.

        Raises `SourceReserved` if callers write documents to it, and `QuotaExceeded`.
        """
        async with self._database.transaction() as session:
            await session.rows("partitions.lock_tenant", tenant)  # no writer can intervene
            await _require_unused(session, tenant, source)
            row = await session.row(
                "sources.put",
                tenant,
                source,
                config.kind,
                dict(config.settings),
                config.schedule,
                config.paused,
                config.next_run_at,
                config.may_publish,
            )
            if row is None:
                raise TenantMissing(tenant)
            if row["is_read_anew"]:
                await job_queue.begin_again(session, tenant, target(source), SYNC)
            if row["is_new"]:
                await quotas.add_source(session, tenant, self._default_quotas)
            # Without the settings: they may reveal paths on a server.
            await audit_log.append(
                session,
                tenant,
                "source.put",
                source,
                kind=config.kind,
                schedule=config.schedule,
                paused=config.paused,
            )

    async def all(self, tenant: str) -> list[StoredSource]:
        rows = await self._database.rows("sources.all", tenant)
        return [StoredSource(**row) for row in rows]

    async def page(self, tenant: str, *, after: str, limit: int) -> list[StoredSource]:
        """Up to `limit` sources of the tenant, by name."""
        rows = await self._database.rows("sources.page", tenant, after, limit)
        return [StoredSource(**row) for row in rows]

    async def get(self, tenant: str, source: str) -> StoredSource | None:
        row = await self._database.row("sources.get", tenant, source)
        return None if row is None else StoredSource(**row)

    async def enqueue_sync(
        self, tenant: str, source: str, subject: str | None = None
    ) -> str | None:
        """The job that will read the source; None if the source has no configuration."""
        async with self._database.transaction() as session:
            if await session.value("sources.lock", tenant, source) is None:
                return None
            job_id = await _enqueue(session, SYNC, tenant, source, subject)
            await audit_log.append(session, tenant, "source.ask_reading", source, job=job_id)
            return job_id

    async def enqueue_due(self, next_run_at: Callable[[str], datetime]) -> tuple[str, str] | None:
        """Queue the reading of a source that is due, and set its next date, in one transaction.

        Returns its tenant and name; None if no source is due.
        """
        async with self._database.transaction() as session:
            row = await session.row("sources.due")
            if row is None:
                return None
            tenant, source = row["tenant"], row["source"]
            await session.rows("sources.schedule", tenant, source, next_run_at(row["schedule"]))
            await _enqueue(session, SYNC, tenant, source, None)
        return tenant, source

    async def enqueue_removal(self, tenant: str, source: str, subject: str | None) -> str | None:
        """The job that will remove the source with all its documents; None if there is none.

        No reading starts any more, and a running one writes nothing any more.
        """
        async with self._database.transaction() as session:
            if await session.row("sources.lock", tenant, source) is None:
                return None
            await session.rows("sources.pause", tenant, source)
            job_id = await _enqueue(session, REMOVE, tenant, source, subject)
            await session.rows("sources.end_reads", tenant, target(source), _BEING_REMOVED)
            await audit_log.append(session, tenant, "source.ask_removal", source, job=job_id)
            return job_id

    async def confirm_removals(self, tenant: str, source: str, subject: str | None) -> str | None:
        """The job of a reading that may remove as many documents as wait for it; None for none."""
        async with self._database.transaction() as session:
            removals = await session.value("sources.confirm_removals", tenant, source)
            if removals is None:
                return None
            job_id = await _enqueue(session, SYNC, tenant, source, subject)
            await audit_log.append(
                session, tenant, "source.confirm_removals", source, job=job_id, removals=removals
            )
            return job_id

    async def count_pending(self) -> int:
        """How many sources of all tenants wait for an admin to confirm removals."""
        row = await self._database.row("sources.attention")
        assert row is not None
        return int(row["number"])

    async def record_failure(self, tenant: str, source: str, error: str) -> None:
        await self._database.rows("sources.record_read", tenant, source, error, None, None, None)

    async def record_following(self, tenant: str, source: str) -> None:
        """Record that what failed works again; the counts of the last reading stay."""
        await self._database.rows("sources.record_read", tenant, source, None, None, None, None)

    async def record_run(
        self,
        tenant: str,
        source: str,
        counts: Mapping[str, int],
        *,
        pending_removals: int | None,
        confirmed_removals: int | None,
    ) -> None:
        """Record the result of a complete reading.

        confirmed_removals: the confirmation that it has used; a later one stays.
        """
        await self._database.rows(
            "sources.record_read",
            tenant,
            source,
            None,
            dict(counts),
            pending_removals,
            confirmed_removals,
        )

    async def remove(self, tenant: str, source: str) -> bool:
        """Forget the source; False while it has documents."""
        async with self._database.transaction() as session:
            # Locked first: otherwise a concurrently written document would be deleted with it.
            await session.rows("sources.lock", tenant, source)
            removed = await session.value("sources.remove", tenant, source) is not None
            if removed:
                await audit_log.append(session, tenant, "source.remove", source)
            return removed


def require_nameable(source: str) -> None:
    """Raises `SourceReserved` for the names of sources that callers and admins write."""
    if source in (API_SOURCE, EVENTS_SOURCE, CURATION_SOURCE):
        detail = f"{source} is the source of documents that name none. Choose another name."
        raise SourceReserved(source, detail)
    if source == FAQ_SOURCE:
        detail = f"{source} is the source of the FAQs that admins write. Choose another name."
        raise SourceReserved(source, detail)


async def _require_unused(session: Session, tenant: str, source: str) -> None:
    """Raises `SourceReserved` if a reading of the source would remove documents of callers."""
    require_nameable(source)
    row = await session.row("sources.users", tenant, source)
    if row is None or row["is_read"]:
        return
    if row["is_vector_store"]:
        detail = "This source is a vector store, and its documents are attached files."
        raise SourceReserved(source, f"{detail} Choose another name.")
    if row["has_documents"]:
        detail = (
            "Callers have written documents of this source, which a reading would remove. "
            "Choose another name, or remove the source first."
        )
        raise SourceReserved(source, detail)


async def _enqueue(
    session: Session, kind: str, tenant: str, source: str, subject: str | None
) -> str:
    """Queue the job unless it already waits, and delete earlier failed ones."""
    job = NewJob(
        tenant=tenant,
        kind=kind,
        target=target(source),
        payload=b"",
        source=source,
        subject=subject,
        attempts_max=ATTEMPTS_MAX if kind == SYNC else job_queue.ATTEMPTS_MAX,
    )
    await session.rows("sources.delete_failed_reads", job.tenant, job.target)
    return await job_queue.enqueue_once(session, job)
