"""Jobs as callers and operators see and manage them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from index.audit import audit_log
from index.jobs.job_queue import document_target
from index.model.scope import PUBLIC, Maker
from index.postgres.database import Database

_NEWEST = 2**63 - 1

State: TypeAlias = Literal["waiting", "running", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Job:
    """A job as shown to callers; payload only from `get`, and while it is stored."""

    job_no: int
    job_id: str
    tenant: str
    kind: str
    target: str
    source: str | None
    subject: str | None
    state: State
    attempts: int
    attempts_max: int
    progress: Mapping[str, Any] | None
    result: Mapping[str, Any] | None
    error: str | None
    due_at: datetime
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    payload: bytes | None = None


class JobStore:
    """A tenant of None means any tenant."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self,
        tenant: str | None,
        *,
        maker: Maker | None = None,
        state: State | None = None,
        kind: str | None = None,
        before: int | None = None,
        limit: int,
    ) -> list[Job]:
        """The newest first; `before` is the last job_no of the page before."""
        after = _NEWEST if before is None else before
        subject, token_id = (None, None) if maker is None else (maker.subject, maker.token_id)
        statement = "jobs.page_of_all" if tenant is None else "jobs.page"
        arguments = (tenant, subject, state, kind, after, limit, token_id)
        rows = await self._database.rows(statement, *arguments)
        return [Job(**row) for row in rows]

    async def get(
        self,
        tenant: str | None,
        job_id: str,
        maker: Maker | None = None,
        shared_kinds: Collection[str] = (),
    ) -> Job | None:
        """maker: None for anybody. shared_kinds: whose jobs are found whoever has made them."""
        subject, token_id = (None, None) if maker is None else (maker.subject, maker.token_id)
        arguments = (tenant, job_id, subject, token_id, list(shared_kinds))
        row = await self._database.row("jobs.get", *arguments)
        return None if row is None else Job(**row)

    async def replay(self, tenant: str | None, job_id: str) -> bool:
        """Let a failed job wait again, with all its attempts; False if there is no such job."""
        return await self._change("replay", tenant, job_id)

    async def delete(self, tenant: str | None, job_id: str) -> bool:
        """Delete a job; False if there is none, or it is running."""
        return await self._change("delete", tenant, job_id)

    async def _change(self, action: str, tenant: str | None, job_id: str) -> bool:
        async with self._database.transaction() as session:
            owner = await session.value("jobs.lock_tenant", tenant, job_id)
            row = None if owner is None else await session.row(f"jobs.{action}", owner, job_id)
            if row is None:
                return False
            target: str = row["target"]
            document_id = target.removeprefix(document_target(""))
            await audit_log.append(
                session,
                audit_log.NO_TENANT if owner == PUBLIC else owner,
                f"job.{action}",
                job_id,
                kind=row["kind"],
                source=row["source"],
                documents=[] if document_id == target else [document_id],
            )
            return True
