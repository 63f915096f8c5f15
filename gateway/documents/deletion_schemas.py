"""The answers that say what is forgotten, as they travel."""

from pydantic import Field

from gateway.documents.document_schemas import RevisionAnswer
from gateway.schemas import Body


class DeletedCounts(Body):
    """How much of a document is gone, in PostgreSQL."""

    chunks: int = Field(description="with their texts, vectors and words; summaries too")
    embeddings: int = Field(description="vectors of it that no other document of the tenant needs")
    jobs: int = Field(description="that had failed to write it")


class DeletionAnswer(RevisionAnswer):
    """A receipt: what it doesn't call pending is gone."""

    forgotten: DeletedCounts
    pending: dict[str, str] = Field(
        description="by what is not gone yet, where to see how far that is: `words` of it in what "
        "the tenant's typos are corrected to; `answers`, with 202, which Redis is too far away to "
        "drop, and nobody serves; empty if it can't be queued"
    )
