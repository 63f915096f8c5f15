"""The request and response bodies of answers to similar questions."""

from pydantic import Field

from gateway.extension import Body, with_example


class SemanticBody(Body):
    model_config = with_example(error_max=0.01)

    error_max: float | None = Field(
        gt=0,
        le=0.2,
        description="maximum share of wrong answers to similar questions; null: the default of all "
        "tenants",
    )


class SemanticAnswer(Body):
    """Counts of pairs of similar questions."""

    error_max: float = Field(description="maximum share of wrong answers")
    pairs: int = Field(description="pairs of very similar questions that passed the guards")
    served: int = Field(description="answers of similar questions that were served")
    verified: int = Field(
        description="pairs whose answers were both computed; older pairs count less"
    )
    wrong: int = Field(description="verified pairs whose answers differ")
    missing_right: int = Field(
        description="verified pairs in a row, none of them wrong, that are missing until answers "
        "are served; 0 while they are served"
    )
