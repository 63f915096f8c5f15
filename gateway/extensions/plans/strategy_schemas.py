"""The request and response bodies of strategies, which are stored search plans with parameters."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from gateway.extension import Body, Storable
from gateway.extensions.plans.plan_schemas import PARAMETERS_MAX
from index.model.conditions.names import Values
from index.model.document import METADATA_INTEGER_MAX, MetadataValue

CHARACTERS_MAX = 2_000  # of one value

_ParameterName = Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9_]{0,31}$")]
_Description = Annotated[str, Field(max_length=2_000), Storable]
_WITHIN = Field(ge=-METADATA_INTEGER_MAX, le=METADATA_INTEGER_MAX)
_Number = Annotated[int, _WITHIN] | Annotated[float, _WITHIN]
_BOUNDS = {
    "string": {"values", "characters_max"},
    "strings": {"values", "characters_max"},
    "integer": {"minimum", "maximum"},
    "number": {"minimum", "maximum"},
    "boolean": set[str](),
}


class ParameterBody(Body):
    """What a caller of the strategy chooses."""

    type: Literal["string", "strings", "integer", "number", "boolean"] = Field(
        description="type of its values"
    )
    description: _Description = Field(
        "", description="what the parameter means, for people and agents"
    )
    default: MetadataValue = Field(None, description="absent: the caller must choose a value")
    values: Values | None = Field(
        None, description="the only values of a string, or of each of some strings"
    )
    characters_max: int = Field(
        256, ge=1, le=CHARACTERS_MAX, description="maximum length of a string"
    )
    minimum: _Number | None = Field(None, description="of an integer or a number, which need it")
    maximum: _Number | None = Field(None, description="of an integer or a number, which need it")

    @model_validator(mode="after")
    def _has_fitting_bounds(self) -> "ParameterBody":
        bounds = _BOUNDS[self.type]
        for name in ("values", "characters_max", "minimum", "maximum"):
            is_used = getattr(self, name) != type(self).model_fields[name].default
            if is_used and name not in bounds:
                raise PydanticCustomError(
                    "bounds", "{type} has no {name}", {"type": self.type, "name": name}
                )
        if "minimum" in bounds and (self.minimum is None or self.maximum is None):
            raise PydanticCustomError(
                "bounds", "{type} needs minimum and maximum", {"type": self.type}
            )
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            raise PydanticCustomError("bounds", "minimum must be at most maximum")
        return self


_Parameters = Annotated[dict[_ParameterName, ParameterBody], Field(max_length=PARAMETERS_MAX)]


class StrategyBody(Body):
    """A search plan in which parameters take the place of some values."""

    description: _Description = Field("", description="what it is for, as an agent should know it")
    parameters: _Parameters = Field({}, description="parameters by name")
    plan: dict[str, Any] = Field(
        description="`steps`, `output` and `budget` as in `POST /v1/search/plan`; "
        '`{"parameter": "NAME"}` stands for the value of a parameter'
    )


class ParameterAnswer(ParameterBody):
    default: Any = Field(
        None, description="value if a caller gives none; null: the caller must give one"
    )


class StrategySummary(Body):
    name: str
    description: str = Field(description="when to use it, for people and agents")
    parameters: dict[str, ParameterAnswer] = Field(description="its parameters, by name")
    updated_at: datetime = Field(description="when it was last stored")


class StrategyAnswer(StrategySummary):
    plan: dict[str, Any] = Field(description="the search plan")


class StrategiesAnswer(Body):
    strategies: tuple[StrategySummary, ...] = Field(description="by name, without their plans")
