"""The response bodies of jobs, and of what they have done by source."""

from datetime import datetime
from typing import Any

from pydantic import Field

from gateway.extension import Body
from gateway.extensions.jobs.job_store import Job, State


class JobAnswer(Body):
    """The state of a job, without its payload."""

    job_id: str
    kind: str = Field(description="kind of the job, such as `document.write`")
    target: str = Field(description="the object of the job, such as `document:ID` or `source:ID`")
    source: str | None = Field(description="source that the job concerns; null: none")
    subject: str | None = Field(
        description="subject that created the job; null: the operator or a schedule"
    )
    state: State = Field(description="`waiting`, `running`, `done` or `failed`")
    attempts: int = Field(description="number of attempts so far")
    attempts_max: int = Field(description="attempts after which the job has failed")
    progress: dict[str, Any] | None = Field(description="counts of the work so far; null: none")
    result: dict[str, Any] | None = Field(
        description="when done: the response body of the same request without a queue; "
        "`superseded` if a later write replaced it"
    )
    error: str | None = Field(description="the error of the last attempt")
    due_at: datetime = Field(description="earliest time of the next attempt")
    created_at: datetime
    started_at: datetime | None = Field(description="when the last attempt began; null: none has")
    ended_at: datetime | None = Field(description="when the job ended; null: it has not")

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
    jobs: tuple[JobAnswer, ...] = Field(description="newest first")
    cursor: str | None = Field(description="the `cursor` of the next page; null on the last page")


class StatusBody(Body):
    waiting: int
    running: int
    failed: int
    oldest_waiting_s: float | None = Field(
        description="waiting time of the oldest waiting job; null if none waits"
    )
    lag_s: float = Field(
        description="age of the oldest change that was requested or due and is not yet indexed"
    )
    texts_embedded: int = Field(
        description="texts that the embedder has embedded since the tenant was created"
    )
    embeddings_reused: int = Field(
        description="chunks that have reused a stored embedding since then"
    )
    chunks_without_vector: int = Field(
        description="chunks whose text the embedder could not embed; searches find them by words"
    )


class SourceStatusBody(StatusBody):
    source: str


class StatusAnswer(StatusBody):
    audited_at: datetime | None = Field(description="time of the last index audit; null: never")
    problems: dict[str, int] = Field(description="unrepaired problems of that audit, by kind")
    sources: tuple[SourceStatusBody, ...] = Field(description="work by source")
