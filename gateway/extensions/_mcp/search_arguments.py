"""The arguments of the tool `search`: flat, as models fill them in."""

from collections.abc import Mapping
from typing import Annotated, Any

import orjson
from pydantic import Field, WithJsonSchema

from gateway.extension import Body, BoostBody, FacetNames, schemas
from gateway.extensions._mcp import tool_schemas
from index.model.conditions.attributes import CONDITIONS_MAX
from index.model.document import MetadataKey, MetadataValue
from index.model.query import CONDITIONS

_BOOST = tool_schemas.without_descriptions(tool_schemas.of_model(BoostBody))
_TOOL_ARGUMENTS = [
    (name, each.tool, each.tool.field or each.field)
    for name, each in CONDITIONS.items()
    if each.tool is not None
]


class _Question(Body):
    query: str = Field(
        description="A question or a few key words, in any language. Make it self-contained: the "
        "search does not see the conversation."
    )
    top_k: schemas.Count | None = Field(None, description="Maximum number of passages. Default: 5.")


_FIELDS = {
    tool.name: (kind | None, Field(None, description=tool.description))
    for _, tool, kind in _TOOL_ARGUMENTS
}


class SearchArguments(schemas.with_fields(_Question, _FIELDS)):  # type: ignore[misc]  # as `FilterBody`
    metadata: (
        Annotated[dict[MetadataKey, MetadataValue], Field(max_length=CONDITIONS_MAX - 1)] | None
    ) = Field(
        None,
        description="Search only documents whose metadata has these values, by key; of a list, one "
        "of its values.",
    )
    facets: FacetNames | None = Field(
        None,
        description="Also count all documents that the filters admit, whatever the query, by the "
        "values of these fields: source, language, tags or metadata.KEY.",
    )
    boost: Annotated[BoostBody, WithJsonSchema(_BOOST)] | None = Field(
        None,
        description="Rank newer documents higher (recency), or those with a number under a key of "
        "their metadata (importance), those that many open (popularity), or those that replace "
        "others (replaced). weight is added to the score, which is at most 1; start with 0.1, and "
        "half_life_days 90.",
    )
    diversity: float | None = Field(
        None,
        ge=0,
        le=1,
        description="From 0 to 1, how far to leave out passages that repeat better ones; start "
        "with 0.3.",
    )

    def body(self) -> bytes:
        """The body of the equal HTTP search, so that both share cached answers."""
        fields = self.model_dump(
            include={"query", "top_k", "facets", "boost", "diversity"}, exclude_none=True
        )
        if conditions := self._filter():
            fields["filter"] = conditions
        return orjson.dumps(fields)

    def _filter(self) -> dict[str, Any]:
        conditions: dict[str, Any] = {}
        for name, tool, _ in _TOOL_ARGUMENTS:
            if (value := getattr(self, tool.name)) is not None:
                conditions |= tool.fields(value) if tool.fields else {name: value}
        if (attributes := _attributes(self.metadata or {})) is not None:
            conditions["attributes"] = attributes
        return conditions


def _attributes(metadata: Mapping[str, Any]) -> dict[str, Any] | None:
    """Comparisons and no containment, so that a list meets each of the values that facets count."""
    comparisons = [
        {"type": "in", "key": key, "value": values}
        for key, value in metadata.items()
        if (values := _alternatives(value))
    ]
    return {"type": "and", "filters": comparisons} if comparisons else None


def _alternatives(value: Any) -> list[Any]:
    """Each value as it is, and as the number or the text that a model may have meant by it."""
    values = value if isinstance(value, list) else [value]
    return [form for one in values if one is not None for form in (one, *_other_forms(one))]


def _other_forms(value: Any) -> list[Any]:
    if not isinstance(value, str):
        return [orjson.dumps(value).decode()]
    try:
        decoded = orjson.loads(value)
    except orjson.JSONDecodeError:
        return []
    return [decoded] if isinstance(decoded, int | float) else []
