"""The response body of usage."""

from datetime import date

from pydantic import Field

from gateway.extension import Body
from gateway.extensions._tenants.amount_schemas import QuotasAnswer


class DayAnswer(Body):
    day: date = Field(description="day in UTC")
    operation: str = Field(description="`ingest` or `search`")
    tokens: int = Field(description="tokens as the model service counts them")
    cost: float = Field(description="cost of the tokens by the operator's prices")
    texts_embedded: int = Field(description="texts that the embedder embedded")
    embeddings_reused: int = Field(description="chunks that reused a stored embedding")


class UsageAnswer(Body):
    days: tuple[DayAnswer, ...] = Field(description="tokens and costs by day and operation")
    cost_month: float = Field(description="cost of this month so far")
    budget_month: float | None = Field(description="limit of the month's cost; null: no limit")
    quotas: QuotasAnswer = Field(description="what the tenant stores now, and may store")
