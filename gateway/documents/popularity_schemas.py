"""The bodies of feedback on documents, and of what counts for their popularity."""

from typing import Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from gateway.schemas import Body, TenantId
from index.model.document import DocumentId
from index.popularity.popularity_store import CountedOpenings

HITS_MAX = 100
_CHUNK_ID_MAX = 2**63 - 1


class FeedbackHit(Body):
    """A hit by its document or by its chunk."""

    document_id: DocumentId | None = None
    tenant: TenantId | None = Field(
        None,
        description="tenant of the document, as the hit names it; absent: the caller's own",
    )
    chunk_id: int | None = Field(
        None,
        ge=-_CHUNK_ID_MAX,
        le=_CHUNK_ID_MAX,
        description="identifier of the chunk, instead of the document's",
    )

    @model_validator(mode="after")
    def _names_one(self) -> "FeedbackHit":
        if (self.document_id is None) == (self.chunk_id is None):
            raise PydanticCustomError("form", "must have either document_id or chunk_id")
        if self.tenant is not None and self.document_id is None:
            raise PydanticCustomError("form", "must have document_id beside tenant")
        return self


class FeedbackBody(Body):
    """What the caller did with hits of its searches."""

    kind: Literal["opened"] = Field("opened", description="the user or agent opened the documents")
    hits: tuple[FeedbackHit, ...] = Field(
        min_length=1,
        max_length=HITS_MAX,
        description="the hits, by document or chunk",
    )


class FeedbackAnswer(Body):
    recorded: int = Field(
        description="documents of these that the caller may read; 0 if the tenant counts none"
    )


class PopularityBody(Body):
    """Which openings of documents count for their popularity."""

    counts: CountedOpenings = Field(
        description="`nothing`, which also deletes what is stored; `feedback`: openings that "
        "callers report; `all`: also each reading of a document over HTTP or MCP",
    )
