"""The request and response bodies of budgets and quotas."""

from typing import Annotated, TypeAlias

from pydantic import Field

from gateway.schemas import Body

QuotaLimit: TypeAlias = Annotated[int | None, Field(ge=0, le=2**63 - 1)]


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


class BudgetBody(Body):
    budget_month: float | None = Field(
        ge=0, description="limit of a month's cost; null: the default of all tenants"
    )
