"""The response bodies of deletions."""

from pydantic import Field

from gateway.bodies.schemas import Body
from gateway.documents.document_schemas import RevisionAnswer


class DeletedCounts(Body):
    """The number of rows that were deleted in PostgreSQL."""

    chunks: int = Field(description="chunks and summaries, with their texts, vectors and words")
    embeddings: int = Field(description="vectors that no other document of the tenant uses")
    jobs: int = Field(description="failed jobs that were to write the document")


class DeletionAnswer(RevisionAnswer):
    """A receipt: everything is deleted except what `pending` lists."""

    deleted: DeletedCounts = Field(description="what was deleted")
    pending: dict[str, str] = Field(
        description="status URL of each pending deletion: `vocabulary`, the document's words in "
        "the tenant's vocabulary for typo correction; `cached_answers`, with status 202, invalid "
        "cached answers while Redis is unavailable (never served); empty if the job can't be "
        "queued"
    )
