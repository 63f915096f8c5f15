"""Bodies of the question why a document is not in an answer."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from gateway.extension import Body, SearchBody, schemas, with_example
from index.model.document import DocumentId
from index.model.scope import ScopeName

Reason: TypeAlias = Literal[
    "not_found",
    "inactive",
    "scopes",
    "filter",
    "not_indexed",
    "unrelated",
    "min_score",
    "duplicate",
    "boost",
    "diversity",
    "outranked",
    "reranked",
    "missed",
]


class WhyNotBody(SearchBody):
    """A search, and the document that its caller misses in the answer."""

    model_config = with_example(query="annual leave", top_k=3, document_id="team/leave")

    document_id: DocumentId = Field(description="the document that is missed")
    tenant: schemas.TenantId | None = Field(
        None, description="of a public document of another tenant, as its hits name it"
    )


class PassageScores(Body):
    """What a passage is ranked by."""

    chunk_id: int
    document_id: str
    score: float | None = Field(description="null if the fusion gives it none")
    dense: float | None = Field(description="likeness to the query; null without a vector")
    lexical: float | None = Field(description="by the query's words; null if it has none of them")
    boost: float | None = Field(description="added to rank by; null without a boost")


class WhyNotAnswer(Body):
    model_config = with_example(
        in_answer=False,
        rank=7,
        reasons=["filter", "outranked"],
        conditions=["tags_any"],
        scopes=[],
        best={
            "chunk_id": 17,
            "document_id": "team/leave",
            "score": 0.41,
            "dense": 0.5,
            "lexical": 0.38,
            "boost": None,
        },
        last={
            "chunk_id": 4,
            "document_id": "team/travel",
            "score": 0.52,
            "dense": 0.4,
            "lexical": 0.56,
            "boost": None,
        },
        duplicate_of=None,
        change={"filter": {"tags_any": None}, "top_k": 7},
    )

    in_answer: bool = Field(description="whether the answer has a hit of it")
    rank: Annotated[int, Field(ge=1)] | None = Field(
        description="of its best hit in the answer; if it is not there, the one that it would have "
        "among the first 100 hits without `conditions`, `min_score` and a reranker, else null"
    )
    reasons: tuple[Reason, ...] = Field(
        description="why it is not there, in the order of the search. `not_found`: it does not "
        "exist, or is not the caller's to read"
    )
    conditions: tuple[str, ...] = Field(
        description="for `filter`: the conditions, each of which leaves it out"
    )
    scopes: tuple[ScopeName, ...] = Field(
        description="for `scopes`: those in which the caller sees it"
    )
    best: PassageScores | None = Field(description="its best passage")
    last: PassageScores | None = Field(
        description="the last hit of the search without `conditions`, before a reranker"
    )
    duplicate_of: PassageScores | None = Field(
        description="for `duplicate`: the better passage with the same words"
    )
    change: dict[str, Any] | None = Field(
        description="a JSON Merge Patch (RFC 7396) of the search, with which the document is in "
        "the answer: without all others if nothing less is certain; null if none is"
    )


NOT_FOUND = WhyNotAnswer(
    in_answer=False,
    rank=None,
    reasons=("not_found",),
    conditions=(),
    scopes=(),
    best=None,
    last=None,
    duplicate_of=None,
    change=None,
)
