"""The request and response bodies of usage, budgets and ingest status."""

from datetime import date, datetime
from typing import Annotated, TypeAlias

from pydantic import Field

from gateway.schemas import Body

QuotaLimit: TypeAlias = Annotated[int | None, Field(ge=0, le=2**63 - 1)]


class DayAnswer(Body):
    day: date = Field(description="day in UTC")
    operation: str = Field(description="`ingest` or `search`")
    tokens: int = Field(description="tokens as the model service counts them")
    cost: float = Field(description="cost of the tokens by the operator's prices")
    texts_embedded: int = Field(description="texts that the embedder embedded")
    embeddings_reused: int = Field(description="chunks that reused a stored embedding")


class QuotaAnswer(Body):
    used: int = Field(description="what the tenant stores of it now")
    limit: int | None = Field(description="null: no limit")


class QuotasAnswer(Body):
    documents: QuotaAnswer = Field(description="documents")
    chunks: QuotaAnswer = Field(description="with summaries")
    bytes: QuotaAnswer = Field(description="of texts, in UTF-8, and of uploaded files")
    sources: QuotaAnswer = Field(description="with vector stores")


class QuotasBody(Body):
    """The most that the tenant may store; null: the default of all tenants."""

    documents: QuotaLimit = Field(
        None, description="most documents; null: the default of all tenants"
    )
    chunks: QuotaLimit = Field(None, description="most chunks; null: the default of all tenants")
    bytes: QuotaLimit = Field(
        None, description="most bytes of texts and files; null: the default of all tenants"
    )
    sources: QuotaLimit = Field(None, description="most sources; null: the default of all tenants")


class UsageAnswer(Body):
    days: tuple[DayAnswer, ...] = Field(description="tokens and costs by day and operation")
    cost_month: float = Field(description="cost of this month so far")
    budget_month: float | None = Field(description="limit of the month's cost; null: no limit")
    quotas: QuotasAnswer = Field(description="what the tenant stores now, and may store")


class BudgetBody(Body):
    budget_month: float | None = Field(
        ge=0, description="limit of a month's cost; null: the default of all tenants"
    )


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
