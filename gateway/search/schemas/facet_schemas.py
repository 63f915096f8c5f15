"""Facets in the bodies of searches."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from gateway.bodies.schemas import Body
from index.model.document import METADATA_KEY_CHARACTERS_MAX, MetadataScalar

# Starting values, not measured.
FACETS_MAX = 8
FACET_VALUES_MAX = 100  # of each

_NAME = (
    r"(source|language|tags|metadata\.[^\x00-\x1f\x7f-\x9f]"
    f"{{1,{METADATA_KEY_CHARACTERS_MAX}}})"
)
_NAME_PATTERN = re.compile(_NAME)


def _facet_name(name: str) -> str:
    if _NAME_PATTERN.fullmatch(name):
        return name
    raise PydanticCustomError("facet", "must be source, language, tags or metadata.KEY")


_FacetName = Annotated[
    str,
    Field(json_schema_extra={"pattern": f"^{_NAME}$"}),
    AfterValidator(_facet_name),
]
FacetNames = Annotated[tuple[_FacetName, ...], Field(max_length=FACETS_MAX)]
FacetValuesMax = Annotated[int, Field(ge=1, le=FACET_VALUES_MAX)]


class FacetValueAnswer(Body):
    value: MetadataScalar
    count: int = Field(description="number of documents that have the value")


class FacetAnswer(Body):
    values: tuple[FacetValueAnswer, ...] = Field(
        description="the most frequent values; those of equal counts in the order of their JSON"
    )
    other_values: int = Field(description="number of the values that are left out")
    other_count: int = Field(description="sum of their counts")


class FacetsAnswer(Body):
    """Counts of the documents that the caller may see and the filter admits."""

    documents: int = Field(description="number of these documents")
    fields: dict[str, FacetAnswer] = Field(description="by field, its values and their counts")
