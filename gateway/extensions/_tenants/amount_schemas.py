"""What a tenant stores, beside its quotas."""

from pydantic import Field

from gateway.extension import Body


class QuotaAnswer(Body):
    used: int = Field(description="what the tenant stores of it now")
    limit: int | None = Field(description="null: no limit")


class QuotasAnswer(Body):
    documents: QuotaAnswer = Field(description="documents")
    chunks: QuotaAnswer = Field(description="with summaries")
    bytes: QuotaAnswer = Field(description="of texts, in UTF-8, and of uploaded files")
    sources: QuotaAnswer = Field(description="with vector stores")
