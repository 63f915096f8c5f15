"""Bodies of the check of a context."""

from typing import Annotated, Self, TypeAlias

from pydantic import AwareDatetime, FailFast, Field, model_validator

from gateway.extension import Body, schemas, with_example
from gateway.extensions.context_check.held_passages import State
from index.model.document import DocumentId

PASSAGES_MAX = 1_000

ChunkId: TypeAlias = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]


class HeldPassageBody(Body):
    """A passage as its hit had it, or a document."""

    chunk_id: ChunkId | None = Field(None, description="as in the hit")
    document_id: DocumentId | None = Field(None, description="as in the hit")
    tenant: schemas.TenantId | None = Field(None, description="as in the hit, if it had one")
    updated_at: AwareDatetime | None = Field(
        None, description="of the document when it was read; for what has no `chunk_id`"
    )

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if self.chunk_id is None and self.document_id is None:
            raise ValueError("needs chunk_id, document_id, or both")
        return self


class ContextCheckBody(Body):
    model_config = with_example(
        passages=[{"chunk_id": 17, "document_id": "team/leave"}, {"document_id": "team/travel"}]
    )

    # Only valid items count for max_length: without FailFast, a body of a million others holds the
    # event loop for seconds while each of them is refused.
    passages: Annotated[tuple[HeldPassageBody, ...], FailFast()] = Field(
        min_length=1, max_length=PASSAGES_MAX, description="those to check"
    )


class PassageStateAnswer(Body):
    state: State = Field(
        description="`current`: a search can still give it. `edited`: its document has other words "
        "there now. `gone`: deleted, or not the caller's to read"
    )
    updated_at: AwareDatetime | None = Field(description="of the document now; null if it is gone")
    replaced_by: str | None = Field(description="a document that names it in `replaces`")


class ContextCheckAnswer(Body):
    """In the order of the request."""

    model_config = with_example(
        passages=[
            {"state": "edited", "updated_at": "2026-03-01T09:00:00Z", "replaced_by": None},
            {"state": "gone", "updated_at": None, "replaced_by": None},
        ]
    )

    passages: tuple[PassageStateAnswer, ...] = Field(description="one for each passage")
