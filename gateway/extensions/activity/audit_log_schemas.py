"""The response bodies of the audit log."""

from typing import Any

from pydantic import Field

from gateway.extension import Body
from gateway.extensions._audit_log.audit_log_reader import LoggedAction
from index.model.conditions.times import Instant


class LoggedBody(Body):
    number: int = Field(description="position in the tenant's log, from 1 without gaps")
    at: Instant = Field(description="when it happened")
    subject: str | None = Field(
        description="subject of the actor; null: only `key_id` identifies the actor"
    )
    key_id: str | None = Field(
        description="the actor's key or token, `operator`, `system` or `unknown`; null: a web token"
    )
    action: str = Field(description="what the actor did, such as `documents.write`")
    target: str = Field(description="what it concerns, such as a document")
    details: dict[str, Any] = Field(
        description="`documents`: the documents read, or the change made to each"
    )
    hash: str = Field(description="SHA-256 over the row and the previous row's hash, in hex")

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
    rows: tuple[LoggedBody, ...] = Field(description="newest first")
    cursor: str | None = Field(
        description="the `cursor` of the next page, even if this page is empty; null on the last"
    )


class RecipientBody(Body):
    subject: str | None = Field(description="as in the audit log")
    key_id: str | None = Field(description="as in the audit log")
    first: Instant = Field(description="when they were first shown it, to the second")
    last: Instant = Field(description="when they were last shown it, to the second")


class RecipientsAnswer(Body):
    recipients: tuple[RecipientBody, ...] = Field(
        description="those who were shown it, the last one first; a later page may name them again"
    )
    answers_lost: int = Field(
        description="number of answers in this time of which nobody knows what they showed"
    )
    cursor: str | None = Field(
        description="the `cursor` of the next page, even if this page is empty; null on the last"
    )
