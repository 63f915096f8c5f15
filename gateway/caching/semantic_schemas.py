"""The request and response bodies of the semantic tier."""

from pydantic import ConfigDict, Field

from gateway.schemas import Body


class SemanticBody(Body):
    error_max: float | None = Field(
        gt=0,
        le=0.2,
        description="maximum share of wrong answers to similar questions; null: the default of all "
        "tenants",
    )


class BucketAnswer(Body):
    """Statistics of pairs of questions with a similarity from `from` to below `to`."""

    model_config = ConfigDict(validate_by_name=True, serialize_by_alias=True)

    start: float = Field(alias="from")
    end: float = Field(alias="to")
    pairs: int = Field(description="pairs of questions that passed the guards")
    served: int
    verified: int = Field(
        description="pairs whose answers were both computed; older pairs count less"
    )
    wrong: int = Field(description="verified pairs whose answers differ")
    error_bound: float = Field(
        description="upper bound of the share of wrong answers, at 95 % confidence"
    )
    enabled: bool = Field(
        description="whether the bound is within the limit, so that answers are served",
    )


class SemanticAnswer(Body):
    error_max: float = Field(description="maximum share of wrong answers")
    buckets: tuple[BucketAnswer, ...]
