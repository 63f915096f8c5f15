"""The exceptions of the index package.

IndexStoreError
├── DatabaseUnavailable    PostgreSQL can't answer now
├── EmbedderRefused        the model that was asked for can't be used; the message says what to do
├── EmbeddingUnavailable   the embedder gave no vectors that can be used
│   └── BudgetSpent        the tenant has nothing left to pay for them this month
├── EventSuperseded        another event of the document was stored first
├── GroupHeld              a key of the subject names the group itself
├── IndexVersionMismatch   the index was made with another embedder or analyser
├── JobLost                another worker has claimed the job, or it was superseded
├── MigrationRefused       the schema is not one that this version can bring up to date
├── PayloadTooLarge        what a job was to be told is longer than it may be
├── PgvectorRefused        the server's pgvector is missing or too old; says what to do
├── PoolerRefused          the pooler before PostgreSQL is not as it must be; says what to do
├── QueueFull              too many jobs of the tenant wait already
├── RoleRefused            the database role that serves searches is not as it must be
├── Saturated              what is shared is in use, and the request has waited long enough
├── SourceReserved         others bring documents to the source
├── TenantFull             the tenant has as many things of a kind as it may have
├── TenantMissing          there is no such tenant
└── Unreadable             a record of what an answer depends on says nothing
"""

from collections.abc import Sequence


class IndexStoreError(Exception):
    """The base of every exception that this package raises."""


class DatabaseUnavailable(IndexStoreError):
    """PostgreSQL can't answer now; asking again later may help."""


class EmbedderRefused(IndexStoreError):
    """The model that was asked for can't be used; the message says what to do."""


class EmbeddingUnavailable(IndexStoreError):
    """The embedder gave no vectors that can be used; asking again later may help."""


class BudgetSpent(EmbeddingUnavailable):
    """The tenant has nothing left to pay for embeddings this month."""

    def __init__(self, tenant: str) -> None:
        super().__init__(f"{tenant} has used up what it may spend this month")


class IndexVersionMismatch(IndexStoreError):
    """The index was made with another embedder or analyser than the one asked for."""


class GroupHeld(IndexStoreError):
    """Nothing was removed: the subject's keys or tokens name the group themselves."""

    def __init__(self, group_id: str, subject: str, key_ids: Sequence[str]) -> None:
        super().__init__(
            f"{subject} stays in {group_id} by keys or tokens that name the group themselves: "
            f"{', '.join(key_ids)}. Nothing was changed. Revoke them, or first make keys without "
            "the group in their place; then remove the member."
        )


class EventSuperseded(IndexStoreError):
    """Another event of the document has come first; nothing was written."""

    def __init__(self, document_id: str) -> None:
        super().__init__(f"another event of {document_id} has been heard meanwhile")


class JobLost(IndexStoreError):
    """Another worker has the job by now, or nobody needs it any more; nothing was written."""

    def __init__(self, place: int) -> None:
        super().__init__(f"the job at {place} is not this worker's any more")


class MigrationRefused(IndexStoreError):
    """The schema is not one that this version can bring up to date."""


class PayloadTooLarge(IndexStoreError):
    """Nothing was queued."""

    def __init__(self, bytes_max: int) -> None:
        super().__init__(f"a job's payload may have at most {bytes_max:,} bytes")
        self.bytes_max = bytes_max


class PgvectorRefused(IndexStoreError):
    """The server's pgvector is missing or too old; the message says what to do."""


class PoolerRefused(IndexStoreError):
    """The pooler before PostgreSQL is not as it must be; the message says what to do."""


class QueueFull(IndexStoreError):
    """Nothing was queued; asking again later may help."""

    def __init__(self, tenant: str, waiting_max: int) -> None:
        super().__init__(f"{waiting_max:,} jobs of {tenant} wait already")


class RoleRefused(IndexStoreError):
    """The database role that serves searches is missing, or may do too much; says what to do."""


class Saturated(IndexStoreError):
    """What tenants share is in use, and the request has waited as long as it may.

    by_itself: whether the tenant's own requests use it up.
    """

    def __init__(self, tenant: str, *, by_itself: bool) -> None:
        users = f"requests of {tenant}" if by_itself else "other tenants"
        super().__init__(f"all that {tenant} may use is in use by {users}")
        self.by_itself = by_itself


class SourceReserved(IndexStoreError):
    """Nothing was stored: others bring documents to the source. The message says who."""

    def __init__(self, source: str, detail: str = "") -> None:
        super().__init__(
            detail
            or "The documents of this source are read by Nearhit, or are the files of a vector "
            "store. Choose another source."
        )
        self.source = source


class TenantFull(IndexStoreError):
    """Nothing was added: the tenant has as many of these already."""

    def __init__(self, tenant: str, most: int, what: str) -> None:
        super().__init__(f"{tenant} has {most:,} {what} already: remove some first")


class TenantMissing(IndexStoreError):
    """There is no such tenant, or there is none any more."""

    def __init__(self, tenant: str) -> None:
        super().__init__(f"there is no tenant {tenant}")


class Unreadable(IndexStoreError):
    """A record of what an answer depends on is cut short, altered, or of another version."""
