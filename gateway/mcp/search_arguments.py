"""The arguments of the tool `search`: flat, as models fill them in."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Annotated, Any

import orjson
from pydantic import AfterValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from gateway.mcp import tool_schemas
from gateway.schemas import Body, Count, Values
from gateway.search.schemas.boost_schemas import BoostBody
from gateway.search.schemas.facet_schemas import FacetNames
from gateway.search.schemas.filter_schemas import CONDITIONS_MAX
from index.model.document import MetadataKey, MetadataValue

_BOOST = tool_schemas.without_descriptions(tool_schemas.of_model(BoostBody))
_FILTERS = {"sources": "sources", "tags": "tags_any", "languages": "languages"}
_SUBTAG_CASES = {2: str.upper, 4: str.title}  # regions and scripts, by their length
_TIMES = ("updated_after", "updated_before")


def _time(text: str) -> str:
    """The day or the time with its zone; both are of UTC if they name none."""
    try:
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    except (ValueError, OverflowError):
        detail = "must be a day such as 2025-01-31, or a time such as 2025-01-31T12:00:00Z"
        raise PydanticCustomError("time", detail) from None


def _day_or_time(text: str) -> str:
    return text if _is_day(text) else _time(text)


_Time = Annotated[str, AfterValidator(_time)]
_DayOrTime = Annotated[str, AfterValidator(_day_or_time)]


class SearchArguments(Body):
    query: str = Field(
        description="A question or a few key words, in any language. Make it self-contained: the "
        "search does not see the conversation."
    )
    top_k: Count | None = Field(None, description="Maximum number of passages. Default: 5.")
    sources: Values | None = Field(
        None, description="Search only these sources; list_sources returns their names."
    )
    tags: Values | None = Field(None, description="Search only documents with one of these tags.")
    languages: Values | None = Field(
        None, description="Search only documents in one of these languages, such as en."
    )
    updated_after: _Time | None = Field(
        None, description="Search only documents changed since this day or time, as 2025-01-31."
    )
    updated_before: _Time | None = Field(
        None, description="Search only documents changed before this day or time."
    )
    as_of: _DayOrTime | None = Field(
        None, description="Search only documents that are valid on this day or at this time."
    )
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
        conditions = {name: getattr(self, argument) for argument, name in _FILTERS.items()}
        if self.languages is not None:
            forms = [form for tag in self.languages for form in _language_forms(tag)]
            conditions["languages"] = list(dict.fromkeys(forms))
        conditions |= {name: getattr(self, name) for name in _TIMES}
        if self.as_of is not None:
            conditions["valid_on" if _is_day(self.as_of) else "as_of"] = self.as_of
        conditions["attributes"] = _attributes(self.metadata or {})
        return {name: value for name, value in conditions.items() if value is not None}


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _language_forms(tag: str) -> tuple[str, str]:
    """The tag as it is but for its language, and in the case of RFC 5646, section 2.1.1."""
    language, *subtags = tag.replace("_", "-").split("-")
    language = language.lower()
    cased = (_SUBTAG_CASES.get(len(subtag), str.lower)(subtag) for subtag in subtags)
    return "-".join((language, *subtags)), "-".join((language, *cased))


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
