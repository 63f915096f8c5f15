"""The request and response bodies of tenants, and of what their callers may choose."""

from datetime import datetime

from pydantic import Field

from gateway.extension import Body, TenantAnswer
from gateway.extensions._tenants.amount_schemas import QuotasAnswer


class TenantSummaryBody(TenantAnswer):
    created_at: datetime
    is_being_deleted: bool
    documents: int = Field(description="number of documents")
    chunks: int = Field(description="with summaries")
    bytes: int = Field(description="of texts, in UTF-8, and of uploaded files")
    cost_month: float = Field(description="cost of this month so far")
    budget_month: float | None = Field(description="limit of the month's cost; null: no limit")


class TenantsAnswer(Body):
    tenants: tuple[TenantSummaryBody, ...] = Field(description="tenants, by identifier or by cost")
    cursor: str | None = Field(description="of the next page; null: there is none")


class TenantInventoryAnswer(TenantSummaryBody):
    sources: int = Field(description="with vector stores")
    groups: int = Field(description="to which members were added")
    keys: int = Field(description="that work, without tokens")
    languages: tuple[str, ...] = Field(description="of its documents")
    revision: int = Field(description="counter of changes of documents")
    access_revision: int = Field(description="counter of changes of keys and groups")
    cache_entries: int | None = Field(
        description="answers in Redis, some of which may be outdated; null: Redis does not answer"
    )
    quotas: QuotasAnswer = Field(description="what the tenant stores now, and may store")


class CacheClearedAnswer(Body):
    revision: int = Field(description="from which on all answers are computed again")


class ConsistencyBody(Body):
    """What the tenant's callers may choose."""

    max_staleness_ms: int | None = Field(
        ge=0,
        le=3_600_000,
        description="what counts of `max_staleness_ms` at most, and how long a gateway of a region "
        "may answer from what it knows; 0: neither; null: as much as the deployment allows",
    )


class ConsistencyAnswer(ConsistencyBody):
    pass


class SharedAnswersBody(Body):
    """Which callers of the tenant share cached answers."""

    shares: bool = Field(
        description="true: those who see the same documents; false: those with equal grants alone"
    )


class PublicDocumentsBody(Body):
    """Whether searches of the tenant include other tenants' public documents."""

    receives: bool = Field(
        description="false: the tenant sees its own documents alone; counts only where `allowed`"
    )


class PublicDocumentsAnswer(PublicDocumentsBody):
    allowed: bool = Field(
        description="whether the deployment lets tenants receive public documents"
    )
