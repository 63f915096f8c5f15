"""The caller's own vector in a search."""

from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from index.embedders.vectors import DIMENSIONS_MAX
from index.model.query_parts import query_vector

_NUMBERS = {
    "type": "array",
    "items": {"type": "number"},
    "minItems": 1,
    "maxItems": DIMENSIONS_MAX,
}


def _encode(numbers: object) -> str:
    if not isinstance(numbers, list) or not {int, float}.issuperset(map(type, numbers)):
        raise PydanticCustomError("form", "must be a list of numbers")
    if not 1 <= len(numbers) <= DIMENSIONS_MAX:
        raise PydanticCustomError(
            "form", "must have 1 to {most} numbers", {"most": f"{DIMENSIONS_MAX:,}"}
        )
    try:
        return query_vector.encode(numbers)
    except ValueError as error:
        raise PydanticCustomError("form", "{reason}", {"reason": str(error)}) from None


# Kept as its canonical form, which takes a twentieth of the memory of its numbers.
Vector = Annotated[str, BeforeValidator(_encode), WithJsonSchema(_NUMBERS)]
