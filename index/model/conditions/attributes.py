"""Documents whose metadata meets comparisons; bodies have them in the format of OpenAI's API."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from index.model import attributes
from index.model.attributes import Condition
from index.model.conditions.condition import FilterCondition
from index.model.document import MetadataKey, MetadataValue

DEPTH_MAX = 8  # nesting of conditions; starting values, not measured
CONDITIONS_MAX = 64
VALUES_MAX = 256  # of one condition
# Over all conditions: this bounds the cost of a filter per document. The maximum, in 60 conditions,
# takes about 40 microseconds.
FILTER_VALUES_MAX = 1_024

_ORDERED = ("gt", "gte", "lt", "lte")
_MANY = ("in", "nin")


class _ConditionBody(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Comparison(_ConditionBody):
    """A comparison of one attribute; a list attribute is compared item by item."""

    type: Literal["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"]
    key: MetadataKey
    value: MetadataValue = Field(description="a list for `in` and `nin`, else a single value")

    @model_validator(mode="after")
    def _fits(self) -> "Comparison":
        many = isinstance(self.value, list)
        if many is not (self.type in _MANY):
            kind = "a list" if self.type in _MANY else "no list"
            raise PydanticCustomError("fits", "value: must be {kind}", {"kind": kind})
        values = self.values
        if not 1 <= len(values) <= VALUES_MAX:
            raise PydanticCustomError(
                "fits", "value: must have 1 to {most} items", {"most": VALUES_MAX}
            )
        kinds = (str, int, float) if self.type in _ORDERED else (str, int, float, bool)
        if not all(type(value) in kinds for value in values):
            raise PydanticCustomError(
                "fits", "value: has a type that this comparison does not support"
            )
        return self

    @property
    def values(self) -> tuple[Any, ...]:
        return tuple(self.value) if isinstance(self.value, list) else (self.value,)

    def condition(self) -> Condition:
        return Condition(self.type, self.key, self.values)


# The schema is not recursive: generators of requests from the schema would not terminate.
_PARTS = {
    "type": "array",
    "description": "may be empty for `and`, which every document then meets",
    "items": {"type": "object", "description": "a comparison, a compound like this one, or `{}`"},
}


def _with_empty_parts(filters: object) -> object:
    """`{}` is a condition that every document meets, as an empty `and` is."""
    if not isinstance(filters, list | tuple):
        return filters
    return [{"type": "and", "filters": []} if part == {} else part for part in filters]


def _some_for_or(
    filters: tuple["AttributeFilter", ...], info: ValidationInfo
) -> tuple["AttributeFilter", ...]:
    if not filters and info.data.get("type") == "or":
        raise PydanticCustomError("fits", "must have at least 1 item")
    return filters


class Compound(_ConditionBody):
    type: Literal["and", "or"]
    filters: Annotated[  # not strict: what a validator has seen before has a list
        tuple["AttributeFilter", ...],
        Field(strict=False),
        BeforeValidator(_with_empty_parts),
        AfterValidator(_some_for_or),
        WithJsonSchema(_PARTS),
    ]

    def condition(self) -> Condition:
        return Condition(self.type, parts=tuple(part.condition() for part in self.filters))


AttributeFilter: TypeAlias = Annotated[Comparison | Compound, Field(discriminator="type")]
Compound.model_rebuild()


def _within_limits(condition: Comparison | Compound) -> Comparison | Compound:
    """Check the limits level by level, so that deep nesting is not descended into."""
    level: list[Comparison | Compound] = [condition]
    conditions = values = 0
    for _ in range(DEPTH_MAX):
        conditions += len(level)
        values += sum(len(part.values) for part in level if isinstance(part, Comparison))
        level = [
            part for parent in level if isinstance(parent, Compound) for part in parent.filters
        ]
        if conditions + len(level) > CONDITIONS_MAX:
            break
        if not level:
            return _within_cost(condition, values)
    raise PydanticCustomError(
        "limits",
        "must have at most {most} conditions, nested at most {deep} deep",
        {"most": CONDITIONS_MAX, "deep": DEPTH_MAX},
    )


def _within_cost(condition: Comparison | Compound, values: int) -> Comparison | Compound:
    if values > FILTER_VALUES_MAX:
        raise PydanticCustomError(
            "limits",
            "must compare with at most {most} values in all conditions together; it has {values}",
            {"most": FILTER_VALUES_MAX, "values": values},
        )
    return condition


Filters: TypeAlias = Annotated[AttributeFilter, AfterValidator(_within_limits)]


def _argument(condition: Condition) -> dict[str, Any]:
    path, variables = attributes.path(condition)
    return {"path": path, "variables": variables}


ATTRIBUTES: FilterCondition[Condition] = FilterCondition(
    field=Filters,
    description="comparisons of the document's metadata, combined with `and` and `or`",
    canonical=lambda filters: filters.condition(),
    # The subselect parses the path once, not for each document.
    sql="""
        coalesce(
            jsonb_path_match(
                metadata, (SELECT (:value ->> 'path')::jsonpath), :value -> 'variables', true
            ),
            false
        )
    """,
    argument=_argument,
    admits=lambda condition, chunk: attributes.meets(chunk.metadata, condition),
    mask=None,  # as of `metadata`
    both=lambda condition, other: Condition("and", parts=(condition, other)),
)
