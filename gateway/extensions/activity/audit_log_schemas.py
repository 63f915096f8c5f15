"""The response bodies of the audit log."""

from typing import Any

from pydantic import Field

from gateway.extension import Body
from gateway.extensions._audit_log.audit_log_reader import LoggedAction
from index.model.conditions.times import Instant

HEAD_PATTERN = "([0-9]{1,18}):([0-9a-f]{64})"  # a row's number and its hash


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


class ChunkViewsBody(Body):
    chunk_id: int = Field(description="the chunk")
    views: int = Field(
        description="rows of the log that name it: each caller adds one a second at most"
    )
    last: Instant = Field(description="when it was last shown, to the second")


class ChunkViewsAnswer(Body):
    chunks: tuple[ChunkViewsBody, ...] = Field(
        description="those that answers showed, edited ones too; a later page may name them again"
    )
    cursor: str | None = Field(
        description="the `cursor` of the next page, even if this page is empty; null on the last"
    )


class VerifiedAnswer(Body):
    verified: str | None = Field(
        description="NUMBER:HASH of the row up to which all are as they were written: `after` of "
        "the next call, until it is the `last` one; null: no row is"
    )
    last: int = Field(description="number of the log's last row; 0: it is empty")
    fault: str | None = Field(
        description="the first row that is changed or missing, in words; null: none is"
    )
