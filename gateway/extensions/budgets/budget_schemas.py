"""The request and response bodies of budgets and quotas."""

from typing import Annotated, TypeAlias

from pydantic import Field

from gateway.extension import Body, with_example

QuotaLimit: TypeAlias = Annotated[int | None, Field(ge=0, le=2**63 - 1)]


class QuotasBody(Body):
    """The most that the tenant may store; null: the default of all tenants."""

    model_config = with_example(documents=10000, chunks=None, bytes=None, sources=None)

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
