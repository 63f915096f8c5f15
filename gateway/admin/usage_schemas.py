"""The bodies of requests and answers about what is used and what waits, as they travel."""

from datetime import date, datetime

from pydantic import Field

from gateway.schemas import Body


class DayAnswer(Body):
    day: date = Field(description="in UTC")
    operation: str = Field(description="`ingest` or `search`")
    tokens: int = Field(description="as the embedding service says")
    money: float
    embedded: int = Field(description="texts that went to the embedder")
    reused: int = Field(description="chunks that did without")


class UsageAnswer(Body):
    days: tuple[DayAnswer, ...]
    money_month: float = Field(description="what this month has cost so far")
    budget_month: float | None = Field(description="the most it may cost; null: no limit")


class BudgetBody(Body):
    budget_month: float | None = Field(
        ge=0, description="the most that a month may cost; null: as set for all tenants"
    )


class StatusBody(Body):
    waiting: int
    running: int
    failed: int
    oldest_waiting_s: float | None = Field(
        description="how long the oldest job that waits has waited; null if none does"
    )
    lag_s: float = Field(
        description="how long ago the oldest thing was asked for, or due, that is not yet done"
    )
    embedded: int = Field(description="texts that ever went to the embedder")
    reused: int = Field(description="chunks that ever did without")


class SourceStatusBody(StatusBody):
    source: str


class StatusAnswer(StatusBody):
    audited_at: datetime | None = Field(description="when the index was last audited; null: never")
    flaws: dict[str, int] = Field(description="what that has left, by kind")
    sources: tuple[SourceStatusBody, ...]
