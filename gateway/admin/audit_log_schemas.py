"""The rows of the audit log, as they travel."""

from typing import Any

from pydantic import Field

from gateway.schemas import Body, Instant
from index.audit.audit_log import LoggedAction


class LoggedBody(Body):
    number: int = Field(description="from 1 without gaps")
    at: Instant
    subject: str | None = Field(description="who acted; null: whom `key_id` says")
    key_id: str | None = Field(
        description="with which key or token, null: a web token; or `operator`, or `system`"
    )
    action: str
    target: str
    details: dict[str, Any] = Field(
        description="`documents`: those that were seen, or what was done to each"
    )
    hash: str = Field(description="SHA-256 of the row and the hash of the one before, in hex")

    @classmethod
    def of(cls, row: LoggedAction) -> "LoggedBody":
        return cls(
            number=row.number,
            at=row.at,
            subject=row.subject,
            key_id=row.key_id,
            action=row.action,
            target=row.target,
            details=dict(row.details),
            hash=row.hash.hex(),
        )


class AuditLogAnswer(Body):
    rows: tuple[LoggedBody, ...] = Field(description="the newest first")
    cursor: str | None = Field(
        description="the next page's `cursor`, also where this one has no rows; null on the last"
    )
