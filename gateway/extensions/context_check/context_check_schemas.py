"""Bodies of the check of a context."""

from typing import Annotated, TypeAlias

from pydantic import AfterValidator, AwareDatetime, ConfigDict, FailFast, Field
from typing_extensions import TypedDict

from gateway.extension import MIN_REVISION_PATTERN, Body, schemas, with_example
from gateway.extensions.context_check.held_passages import CHANGED_MAX, State
from index.model.document import DOCUMENT_ID_CHARACTERS_MAX
from index.model.form import CONTROLS

PASSAGES_MAX = 1_000
WATCHED_MAX = 200  # which a stream holds in memory

ChunkId: TypeAlias = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]
# As `DocumentId`, by a pattern that takes no call of Python for each of a thousand.
HeldDocumentId: TypeAlias = Annotated[
    str,
    Field(min_length=1, max_length=DOCUMENT_ID_CHARACTERS_MAX, pattern=f"^[^{CONTROLS}]*$"),
]
Count: TypeAlias = Annotated[int, Field(ge=0, le=2**31 - 1)]
Revision: TypeAlias = Annotated[str, Field(pattern=f"^{MIN_REVISION_PATTERN}$")]


# No model: to make a thousand takes half as long again.
class HeldPassageFields(TypedDict, total=False):
    """A passage as its hit had it, or a document."""

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)  # type: ignore[misc]  # for pydantic

    chunk_id: Annotated[ChunkId | None, Field(description="as in the hit")]
    document_id: Annotated[HeldDocumentId | None, Field(description="as in the hit")]
    tenant: Annotated[schemas.TenantId | None, Field(description="as in the hit, if it had one")]
    updated_at: Annotated[
        AwareDatetime | None,
        Field(description="of the document when it was read; for what has no `chunk_id`"),
    ]
    revision: Annotated[
        Revision | None,
        Field(description="`Nearhit-Revision` of the answer, which its receipt states too"),
    ]
    start: Annotated[
        Count | None, Field(description="as in the hit, to find what stands there now")
    ]


def _names_something(passage: HeldPassageFields) -> HeldPassageFields:
    if passage.get("chunk_id") is None and passage.get("document_id") is None:
        raise ValueError("needs chunk_id, document_id, or both")
    return passage


HeldPassageBody: TypeAlias = Annotated[HeldPassageFields, AfterValidator(_names_something)]


class ContextCheckBody(Body):
    model_config = with_example(
        passages=[{"chunk_id": 17, "document_id": "team/leave"}, {"document_id": "team/travel"}]
    )

    # Only valid items count for max_length: without FailFast, a body of a million others holds the
    # event loop for seconds while each of them is refused.
    passages: Annotated[tuple[HeldPassageBody, ...], FailFast()] = Field(
        min_length=1, max_length=PASSAGES_MAX, description="those to check"
    )


class ChangedPassageAnswer(Body):
    """As a hit has it."""

    chunk_id: int = Field(description="as in a hit")
    start: int = Field(description="as in a hit")
    end: int = Field(description="as in a hit")
    text: str = Field(description="as in a hit")


class PassageStateAnswer(Body):
    state: State = Field(
        description="`current`: a search can still give it. `edited`: its document has other words "
        "there now. `gone`: deleted, or not the caller's to read"
    )
    updated_at: AwareDatetime | None = Field(description="of the document now; null if it is gone")
    replaced_by: str | None = Field(description="a document that names it in `replaces`")
    changed: tuple[ChangedPassageAnswer, ...] | None = Field(
        description=f"for `edited`: up to {CHANGED_MAX} passages that its document has got since "
        "`revision`, the nearest to `start`, in its order; null if that is not known"
    )


class ContextCheckAnswer(Body):
    """In the order of the request."""

    model_config = with_example(
        passages=[
            {
                "state": "edited",
                "updated_at": "2026-03-01T09:00:00Z",
                "replaced_by": None,
                "changed": [
                    {"chunk_id": 40, "start": 0, "end": 22, "text": "27 days of leave a year"}
                ],
            },
            {"state": "gone", "updated_at": None, "replaced_by": None, "changed": None},
        ]
    )

    passages: tuple[PassageStateAnswer, ...] = Field(description="one for each passage")


class ContextEventsBody(Body):
    model_config = with_example(passages=[{"chunk_id": 17, "document_id": "team/leave"}])

    passages: Annotated[tuple[HeldPassageBody, ...], FailFast()] = Field(
        min_length=1, max_length=WATCHED_MAX, description="those to watch"
    )


class PlacedStateAnswer(PassageStateAnswer):
    place: int = Field(description="of the passage in the request, from 0")


class ContextEventData(Body):
    """The data of the event `states`."""

    revision: str = Field(description="`Nearhit-Revision` of these states", examples=["812"])
    passages: tuple[PlacedStateAnswer, ...] = Field(
        description="at first all, then those whose `state` or `replaced_by` has changed"
    )
