"""The bodies of feedback on documents, and of what counts for their popularity."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field

from gateway.extension import Body, schemas, with_example
from index.model.document import DocumentId
from index.tenants.principals import CountedOpenings

HITS_MAX = 100
_CHUNK_ID_MAX = 2**63 - 1


class OpenedDocument(Body):
    """A hit by its document."""

    document_id: DocumentId
    tenant: schemas.TenantId | None = Field(
        None,
        description="tenant of the document, as the hit names it; absent: the caller's own",
    )


class OpenedChunk(Body):
    """A hit by its chunk."""

    chunk_id: int = Field(
        ge=-_CHUNK_ID_MAX, le=_CHUNK_ID_MAX, description="identifier of the chunk"
    )


def _document_or_chunk(hit: object) -> str:
    names_chunk = isinstance(hit, OpenedChunk) or (isinstance(hit, dict) and "chunk_id" in hit)
    return schemas.branch("chunk").tag if names_chunk else schemas.branch("document").tag


_OpenedHit = Annotated[
    Annotated[OpenedDocument, schemas.branch("document")]
    | Annotated[OpenedChunk, schemas.branch("chunk")],
    Discriminator(_document_or_chunk),
]


class FeedbackBody(Body):
    """What the caller did with hits of its searches."""

    model_config = with_example(hits=[{"document_id": "team/leave"}, {"chunk_id": 4711}])

    kind: Literal["opened"] = Field("opened", description="the user or agent opened the documents")
    hits: tuple[_OpenedHit, ...] = Field(
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

    model_config = with_example(counts="feedback")

    counts: CountedOpenings = Field(
        description="`nothing`, which also deletes what is stored; `feedback`: openings that "
        "callers report; `all`: also each reading of a document over HTTP or MCP",
    )
