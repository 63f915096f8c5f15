"""The bodies of answers about queued work, as they travel."""

from datetime import datetime
from typing import Any

from pydantic import Field

from gateway.schemas import Body
from index.jobs.job_queue import Job, State


class JobAnswer(Body):
    """What is known of a job; never what it was told to do."""

    job_id: str
    kind: str
    target: str = Field(description="what it changes, such as `document:ID` or `source:ID`")
    source: str | None
    subject: str | None = Field(description="who asked for it; null: the operator, or a schedule")
    state: State
    attempts: int = Field(description="how often it was begun")
    attempts_max: int
    progress: dict[str, Any] | None
    result: dict[str, Any] | None = Field(
        description="once it is done: as the call would have answered; `superseded` if a later "
        "write made it needless"
    )
    error: str | None = Field(description="why it failed last")
    due_at: datetime
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None

    @classmethod
    def of(cls, job: Job) -> "JobAnswer":
        return cls(
            job_id=job.job_id,
            kind=job.kind,
            target=job.target,
            source=job.source,
            subject=job.subject,
            state=job.state,
            attempts=job.attempts,
            attempts_max=job.attempts_max,
            progress=None if job.progress is None else dict(job.progress),
            result=None if job.result is None else dict(job.result),
            error=job.error,
            due_at=job.due_at,
            created_at=job.created_at,
            started_at=job.started_at,
            ended_at=job.ended_at,
        )


class JobsAnswer(Body):
    jobs: tuple[JobAnswer, ...] = Field(description="the newest first")
    cursor: str | None = Field(description="the next page's `cursor`; null on the last page")
