"""The exceptions of the index package.

IndexStoreError
├── DatabaseUnavailable    PostgreSQL can't answer now
├── EmbedderRefused        the configured model can't be used; the message says what to do
├── EmbeddingUnavailable   the embedder returned no usable vectors
│   └── BudgetSpent        the tenant has spent its budget of this month
├── GroupHeld              a key of the subject names the group
├── IndexVersionMismatch   the index has another embedder, or a later analyser
├── JobLost                another worker has claimed the job, or it was superseded
├── MigrationRefused       this version cannot migrate the schema
├── PayloadTooLarge        the payload of a job exceeds the limit
├── PoolerRefused          the pooler before PostgreSQL is misconfigured
├── PrerequisitesMissing   the database lacks what an administrator has to give
├── QueueFull              too many jobs, or bytes of them, of the tenant are waiting
├── QuotaExceeded          the tenant would store more than it may
├── RightsLost             the key with whose rights is written no longer works
├── RoleRefused            a database role of Nearhit is missing or too powerful
├── SourceReserved         a source reading or a vector store writes the source's documents
├── SubjectSuspended       the identity provider has deactivated or deleted the subject's user
├── TenantFull             the tenant has the maximal number of these
├── TenantMissing          the tenant does not exist
├── TokensFull             a subject has as many tokens as allowed, or a chain as many ancestors
├── UnreadableRecord       the record of an answer's dependencies cannot be decoded
├── UnstorableText         a text holds a character that PostgreSQL can't store
└── VectorRefused          a query's own vector can't be compared with those of the index
"""

from collections.abc import Sequence
from enum import StrEnum

from index.model.quota import Excess


class IndexStoreError(Exception):
    """The base of all exceptions of this package."""


class DatabaseCondition(StrEnum):
    """What an operator can do something about. Values: the last parts of the problems' types."""

    CONNECTIONS = "database-connections"
    FULL = "database-full"
    READ_ONLY = "database-read-only"
    RESTARTING = "database-restarting"


class DatabaseUnavailable(IndexStoreError):
    """PostgreSQL can't answer now; a later retry may succeed.

    condition: None if the server does not name one, or does not answer at all.
    sqlstate: of its answer, else None.
    """

    def __init__(
        self,
        message: str = "",
        condition: DatabaseCondition | None = None,
        sqlstate: str | None = None,
    ) -> None:
        super().__init__(message)
        self.condition = condition
        self.sqlstate = sqlstate


class EmbedderRefused(IndexStoreError):
    """The configured model can't be used; the message says what to do."""


class EmbeddingUnavailable(IndexStoreError):
    """The embedder returned no usable vectors; a later retry may succeed."""


class BudgetSpent(EmbeddingUnavailable):
    """The tenant has spent its budget of this month."""

    def __init__(self, tenant: str) -> None:
        super().__init__(f"{tenant} has spent its budget of this month")


class IndexVersionMismatch(IndexStoreError):
    """The index has another embedder than the configured one, or a later analyser."""


class GroupHeld(IndexStoreError):
    """Nothing was removed: keys or tokens of the subject name the group."""

    def __init__(self, group_id: str, subject: str, key_ids: Sequence[str]) -> None:
        super().__init__(
            f"Keys or tokens of {subject} name the group {group_id}: {', '.join(key_ids)}. Nothing "
            "was changed. Revoke them or replace them by keys without the group; then remove the "
            "member."
        )


class JobLost(IndexStoreError):
    """Another worker has claimed the job, or it was superseded; nothing was written."""

    def __init__(self, row_id: int) -> None:
        super().__init__(f"this worker no longer has the lease of the job in row {row_id}")


class MigrationRefused(IndexStoreError):
    """This version cannot migrate the schema; the message says why."""


class PayloadTooLarge(IndexStoreError):
    """Nothing was queued."""

    def __init__(self, bytes_max: int) -> None:
        super().__init__(f"a job's payload may have at most {bytes_max:,} bytes")
        self.bytes_max = bytes_max


class PoolerRefused(IndexStoreError):
    """The pooler before PostgreSQL is misconfigured; the message says what to do."""


class PrerequisitesMissing(IndexStoreError):
    """Nothing was changed: the database lacks what an administrator has to give.

    problems: each with the statement that mends it, empty if there is none.
    """

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        remedies = [remedy for _text, remedy in problems if remedy]
        lines = ["the database is not ready for Nearhit:"]
        lines += [f"  - {text}" for text, _remedy in problems]
        if remedies:
            lines.append("An administrator runs, in this database:")
            lines += [f"  {remedy}" for remedy in remedies]
        super().__init__("\n".join(lines))


class QueueFull(IndexStoreError):
    """Nothing was queued; a later retry may succeed."""

    def __init__(self, tenant: str) -> None:
        super().__init__(
            f"no more jobs of {tenant}, or bytes of its writes, may wait or have failed"
        )


class VectorRefused(IndexStoreError):
    """A query's own vector can't be compared with those of the index.

    vector: as of the `Query`. field: of a search.
    """

    field = "vector"

    def __init__(self, message: str, vector: str) -> None:
        super().__init__(message)
        self.vector = vector


class QuotaExceeded(IndexStoreError):
    """Nothing was stored: the tenant would have more than one of its quotas."""

    def __init__(self, excess: Excess) -> None:
        super().__init__(
            f"The tenant has {excess.used:,} of at most {excess.limit:,} {excess.quota}, and this "
            f"adds {excess.added:,}. Remove some, or ask the operator to raise the quota."
        )
        self.excess = excess


class RightsLost(IndexStoreError):
    """Nothing was written: the key or token with whose rights it is written no longer works."""

    def __init__(self) -> None:
        super().__init__("The key that asked for the write is revoked or expired.")


class RoleRefused(IndexStoreError):
    """A database role is missing or too powerful; the message says what to do."""


class SourceReserved(IndexStoreError):
    """Nothing was stored: a source reading or a vector store writes the source's documents."""

    def __init__(self, source: str, detail: str = "") -> None:
        super().__init__(
            detail
            or "Nearhit reads the documents of this source itself, or they are the files of a "
            "vector store. Choose another source."
        )
        self.source = source


class SubjectSuspended(IndexStoreError):
    """No key or token was created: the identity provider has ended the subject's user."""

    def __init__(self, subject: str) -> None:
        super().__init__(
            f"The identity provider has deactivated, deleted or renamed the user of {subject}. "
            "Activate the user there first."
        )


class TenantFull(IndexStoreError):
    """Nothing was added: the tenant has the maximal number of these."""

    def __init__(self, tenant: str, number_max: int, kind: str) -> None:
        super().__init__(f"{tenant} already has {number_max:,} {kind}: remove some first")


class TenantMissing(IndexStoreError):
    """The tenant does not exist, or was deleted."""

    def __init__(self, tenant: str) -> None:
        super().__init__(f"there is no tenant {tenant}")


class TokensFull(IndexStoreError):
    """No token was created; the message says what to do."""


class UnreadableRecord(IndexStoreError):
    """The record of an answer's dependencies is truncated, altered, or of another version."""


class UnstorableText(IndexStoreError):
    """A text holds U+0000, which PostgreSQL can't store; nothing was written."""
