"""Workers, their jobs, and the files that they read."""

from typing import Literal

from pydantic import Field, PositiveFloat, PositiveInt, field_validator
from pydantic_settings import BaseSettings

NEVER = "never"  # a schedule


class JobSettings(BaseSettings):
    """Workers and files."""

    serve_jobs: bool = Field(
        False,
        description="whether `nearhit serve` also runs queued jobs, as `nearhit worker` does; on "
        "embedded servers it does unless this is `false`",
    )
    worker_jobs: int = Field(
        4,
        ge=2,
        description="maximum concurrent jobs of a worker; one tenant has half of them at most on "
        "all workers, and so do readings of sources and other long jobs",
    )
    job_lease_s: float = Field(
        30.0, ge=1, description="time without a heartbeat after which a worker loses its jobs"
    )
    job_attempts_max: PositiveInt = Field(8, description="attempts after which a job has failed")
    job_retry_delay_s: PositiveFloat = Field(
        5.0,
        description="delay before a job's second attempt; it doubles with each attempt, up to 5 "
        "minutes",
    )
    index_audit_schedule: str = Field(
        "0 4 * * 0",
        description="when the worker audits indexes, as a cron expression in UTC, or `never`",
    )
    hidden_text: Literal["omit", "mark"] = Field(
        "omit",
        description="what becomes of text of HTML and DOCX files that their readers don't see, by "
        "which instructions to agents are smuggled: `omit` leaves it out, `mark` keeps it as "
        "`[hidden: TEXT]`",
    )
    ocr: bool = Field(
        default=False,
        description="whether the text of scanned pages of PDF files is read, in some seconds a "
        "page; needs the extra `ocr`",
    )

    @field_validator("index_audit_schedule")
    @classmethod
    def _check_schedule(cls, text: str) -> str:
        from ingest.worker import schedule  # slow to import, and few deployments set it

        return text if text == NEVER else schedule.checked(text)
