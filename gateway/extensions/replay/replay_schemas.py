"""Bodies and answers of the calls that give earlier answers again."""

from datetime import datetime

from pydantic import Field

from gateway.extension import Body, SearchBody, with_example
from index.model.identifiers import Groups, SubjectId

DAYS_MAX = 92
_REVISION_MAX = (1 << 63) - 1


class PastBody(Body):
    """For how long a tenant keeps past versions."""

    model_config = with_example(days=30)

    days: int = Field(
        ge=0,
        le=DAYS_MAX,
        description="days for which answers can be given again; 0 deletes what is kept",
    )


class PastAnswer(Body):
    days: int = Field(description="days for which answers can be given again; 0: none")
    revision: int | None = Field(description="of the oldest answers that can be given again")
    since: datetime | None = Field(description="when this revision was committed")
    current_revision: int | None = Field(description="of the newest answers")
    forgotten_revision: int | None = Field(
        description="of the last change that forgot a document: earlier answers may lack it"
    )
    documents: int = Field(description="kept versions of documents")
    chunks: int = Field(description="kept versions of chunks")
    bytes: int = Field(description="what the kept versions take, without their indexes")


class ReplayBody(Body):
    """A search of an earlier revision, as the caller or as somebody else."""

    model_config = with_example(as_of_revision=12, subject="ben", search={"query": "annual leave"})

    as_of_revision: int = Field(
        ge=0, le=_REVISION_MAX, description="the first number of the answer's `Nearhit-Revision`"
    )
    subject: SubjectId | None = Field(
        None, description="whose documents and memberships of then count; null: the caller's own"
    )
    groups: Groups = Field((), description="groups besides those that the subject was a member of")
    search: SearchBody = Field(description="the search")


class DifferenceAnswer(Body):
    """Since when a search has another answer than at a revision."""

    is_same: bool = Field(description="whether the answer of today is the same")
    revision: int | None = Field(
        description="of a change with which the answer became another one; null without one"
    )
    committed_at: datetime | None = Field(description="when it was committed")
    documents: list[str] = Field(description="what the change wrote or removed: the first 100")
