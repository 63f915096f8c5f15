"""The bodies of requests and answers about similar questions, as they travel."""

from pydantic import ConfigDict, Field

from gateway.schemas import Body


class SemanticBody(Body):
    error_max: float | None = Field(
        gt=0,
        le=0.2,
        description="the share of answers to similar questions that may be wrong; null: as set for "
        "all tenants",
    )


class BandAnswer(Body):
    """Similar questions of which a similarity from `from` to below `to` was found."""

    model_config = ConfigDict(validate_by_name=True, serialize_by_alias=True)

    start: float = Field(alias="from")
    end: float = Field(alias="to")
    seen: int = Field(description="pairs of questions that no guard objected to")
    served: int
    verified: int = Field(description="pairs of which both answers were computed; old ones fade")
    wrong: int = Field(description="of those, how often one was not the other's answer")
    bound: float = Field(description="the share of wrong ones is surely below it, at 95 %")
    is_open: bool = Field(alias="open", description="whether the bound is within the limit")


class SemanticAnswer(Body):
    error_max: float = Field(description="the limit")
    bands: tuple[BandAnswer, ...]
