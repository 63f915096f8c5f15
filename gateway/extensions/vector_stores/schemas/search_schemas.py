"""The bodies of searches of a vector store, and of what is read of its files."""

from typing import Annotated, Any, Literal, TypeAlias, cast

from pydantic import BeforeValidator, Field, StringConstraints, model_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from gateway.extension import Body, with_example
from index.model.conditions.attributes import Filters
from index.model.scope import ScopeName

_RESULTS = 10  # unless a search says otherwise


class HybridSearch(Body):
    embedding_weight: float = Field(ge=0, description="of the meaning of the query")
    text_weight: float = Field(ge=0, description="of its words")

    @model_validator(mode="after")
    def _is_weighed(self) -> "HybridSearch":
        if not self.embedding_weight + self.text_weight:
            raise PydanticCustomError("weights", "embedding_weight: must not be 0 as both weights")
        return self

    @property
    def alpha(self) -> float:
        return self.embedding_weight / (self.embedding_weight + self.text_weight)


class RankingOptions(Body):
    ranker: str | None = Field(None, description="accepted and ignored")
    score_threshold: float | None = Field(None, ge=0, le=1, description="default: 0")
    hybrid_search: HybridSearch | None = Field(None, description="default: the embedder's weights")


_QueryText: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def _none_if_empty(filters: object) -> object:
    return None if filters == {} else filters


def _or_empty(schema: JsonDict) -> None:
    schema["anyOf"] = [
        *cast("list[JsonDict]", schema["anyOf"]),
        {"type": "object", "maxProperties": 0},
    ]


class VectorStoreSearchBody(Body):
    model_config = with_example(query="annual leave", max_num_results=3)

    query: _QueryText | Annotated[tuple[_QueryText, ...], Field(min_length=1)] = Field(
        description="a question, or several that are answered together"
    )
    filters: Annotated[Filters | None, BeforeValidator(_none_if_empty)] = Field(
        None, json_schema_extra=_or_empty
    )
    max_num_results: int | None = Field(None, ge=1, le=50, description="most results; default: 10")
    ranking_options: RankingOptions | None = Field(None, description="least score of a result")
    rewrite_query: bool | None = Field(
        None, description="whether a language model rewrites the question; default: false"
    )

    @property
    def queries(self) -> tuple[str, ...]:
        return (self.query,) if isinstance(self.query, str) else self.query

    @property
    def results_max(self) -> int:
        return _RESULTS if self.max_num_results is None else self.max_num_results


class Content(Body):
    type: Literal["text"] = Field("text", description="always `text`")
    text: str


class FileContentPage(Body):
    object: Literal["vector_store.file_content.page"] = "vector_store.file_content.page"
    data: tuple[Content, ...] = Field(description="the text of the file")
    has_more: Literal[False] = Field(False, description="always false")
    next_page: None = Field(None, description="always null")


class FoundFile(Body):
    file_id: str = Field(description="identifier of the file")
    filename: str
    score: float
    attributes: dict[str, Any]
    content: tuple[Content, ...] = Field(description="the texts that were found")
    scope: ScopeName = Field(description="as of a hit of `POST /v1/search`")
    tenant: str | None = Field(None, description="another tenant, whose public document it is")


class SearchPage(Body):
    object: Literal["vector_store.search_results.page"] = "vector_store.search_results.page"
    search_query: tuple[str, ...] = Field(description="the questions as they were searched")
    data: tuple[FoundFile, ...] = Field(description="the results, the best first")
    has_more: Literal[False] = Field(False, description="always false")
    next_page: None = Field(None, description="always null")
