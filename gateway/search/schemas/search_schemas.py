"""The request bodies of searches."""

from collections.abc import Collection, Iterable
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints, ValidationInfo
from pydantic_core import PydanticCustomError

from gateway.auth.freshness import Consistency
from gateway.bodies.schemas import Body, Count, GateName, No, Storable
from gateway.search.schemas.boost_schemas import BoostBody
from gateway.search.schemas.facet_schemas import FacetNames, FacetValuesMax
from gateway.search.schemas.filter_schemas import FilterBody
from gateway.search.schemas.vector_schemas import Vector
from index.model.document import Language
from index.model.query import (
    FACET_VALUES_MAX,
    FusionName,
    HighlightUnits,
    Postprocessing,
    PostprocessorNames,
    Query,
)
from index.model.scope import SCOPE_NAMES, ScopeName
from index.text import long_queries
from index.text.word_lists.analysed_languages import base_language

_CANDIDATES_MIN = 50  # candidates of each leg; more if more hits are requested
_WORDS_CANDIDATES = 50  # what `words` is measured with: it takes milliseconds
_MESSAGES_MAX = 6
_MESSAGE_CHARACTERS_MAX = 8_000
_CONTEXT_TOKENS_MAX = 200_000
_NO_POSTPROCESSORS = PostprocessorNames()


Question = Annotated[str, StringConstraints(strip_whitespace=True), Storable]
ExpandName: TypeAlias = Literal["neighbours", "relations"]
ExpandNames = Annotated[tuple[ExpandName, ...], Field(min_length=1, max_length=2)]


class MessageBody(Body):
    role: Literal["user", "assistant"] = Field(
        description="who wrote the message: `user` or `assistant`"
    )
    content: Annotated[str, Field(max_length=_MESSAGE_CHARACTERS_MAX), Storable] = Field(
        description="the message"
    )


class ContextBody(Body):
    """One text assembled from the hits, in their order."""

    format: Literal["markdown"] = Field("markdown", description="form of the text")
    token_budget: int = Field(
        ge=1,
        le=_CONTEXT_TOKENS_MAX,
        description="maximum estimated tokens; texts are truncated at sentence ends",
    )
    compress: Literal["extract", "model"] | No = Field(
        False, description="whether and how texts are compressed to the parts relevant to the query"
    )


def _with_vector(query: str, info: ValidationInfo) -> str:
    if not query and info.data.get("vector", "invalid") is None:
        raise PydanticCustomError("missing", "Field required, unless there is a vector")
    return query


class SearchBody(Body):
    vector: Vector | None = Field(
        None,
        description="the query's own vector, of the index's embedder, instead of an embedding of "
        "the query; it is normalised. Without a query no words are matched",
    )
    query: Annotated[Question, AfterValidator(_with_vector)] = Field(
        "", validate_default=True, description="may be absent beside a `vector`"
    )
    top_k: Count = Field(5, description="maximum number of hits")
    alpha: float | None = Field(
        None,
        ge=0,
        le=1,
        description="0: only the lexical leg, 1: only the dense leg; default: the embedder's",
    )
    fusion: FusionName = "absolute"
    scopes: Annotated[tuple[ScopeName, ...], Field(min_length=1)] = Field(
        SCOPE_NAMES,
        description="scopes to search, of those that the key has; absent: all. `public` is refused "
        "if the tenant does not receive public documents",
    )
    filter: FilterBody = FilterBody()
    min_score: float | None = Field(
        None, ge=0, description="minimum score of a hit, without a boost"
    )
    consistency: Consistency | None = Field(
        None,
        description="the promise: every acknowledged write is in the answer, or those up to "
        "`Nearhit-Min-Revision`, or those before `max_staleness_ms`; absent: `bounded` with "
        "`max_staleness_ms`, else `session` with that header, else `strong`",
    )
    max_staleness_ms: int = Field(
        0, ge=0, le=3_600_000, description="maximum staleness of the answer; 0: never stale"
    )
    semantic: Literal["off", "bounded"] = Field(
        "off",
        description="whether to accept the cached answer of a similar question",
    )
    language: Language | None = Field(
        None,
        description="language of the query; absent: detected. Its words are read in every language "
        "of the scope",
    )
    document_hits_max: Count | None = Field(
        None, description="maximum hits of one document; absent: no limit"
    )
    expand: bool | ExpandName | ExpandNames = Field(
        False,
        description="`neighbours` or true: add the previous and the next chunk to a hit's text; "
        "`relations`: add the documents that are related to the hit's; a list: both",
    )
    summaries: bool = Field(
        False,
        description="add the summaries of the document and of the long section to each hit, if any "
        "exist",
    )
    metadata: bool = Field(False, description="add the document's metadata to each hit")
    updated_at: bool = Field(
        False, description="add the time of the last write of the document to each hit"
    )
    boost: BoostBody | None = Field(
        None, description="rank newer or more important documents higher among the candidates"
    )
    diversity: float = Field(
        0,
        ge=0,
        le=1,
        description="how much a hit's likeness to better hits counts against it; 0: not at all",
    )
    highlights: bool = Field(
        False, description="add the places of the query's words in the text of each hit"
    )
    highlight_units: HighlightUnits = Field(
        "code_points",
        description="what the places of highlights count: Unicode code points, as Python does, or "
        "code units of UTF-16, as JavaScript does",
    )
    facets: FacetNames = Field(
        (),
        description="fields by whose values the visible documents are counted, whatever the query: "
        "`source`, `language`, `tags` or `metadata.KEY`",
    )
    facet_values_max: FacetValuesMax = Field(
        FACET_VALUES_MAX, description="maximum values of each facet"
    )
    explain: bool = Field(
        False, description="add each hit's ranks and scores by leg, and the corrections of typos"
    )
    typing: bool = Field(
        False,
        description="whether the query is still being typed: the audit log has what the answer "
        "showed, and no statistics count it as a question",
    )

    history: Annotated[tuple[MessageBody, ...], Field(max_length=_MESSAGES_MAX)] = Field(
        (),
        description="the messages before the query, oldest first; the query is rewritten with them",
    )
    gate: GateName | None = Field(
        None,
        description="query gate: a message that is no question for the documents is not searched",
    )
    rerank: bool | Literal["words"] = Field(
        False,
        description="rerank the hits; true: as the deployment does, `words`: by the likeness of "
        "their words to the query's",
    )
    candidates: Count = Field(20, description="number of hits to rerank; at least 50 for `words`")
    context: ContextBody | None = Field(
        None, description="one text of the hits within a budget of tokens; null: none"
    )

    @property
    def is_conversational(self) -> bool:
        """Whether the query needs a rewrite or passes through a query gate."""
        return self.gate is not None or "history" in self.model_fields_set

    def first_used(self, names: Iterable[str]) -> str | None:
        """The first of these fields that the search uses; generated clients send defaults too.

        An empty history counts: it asks for a rewrite of the query.
        """
        for name in names:
            if name == "history" and name in self.model_fields_set:
                return name
            if getattr(self, name) != type(self).model_fields[name].default:
                return name
        return None

    @property
    def leg_candidates(self) -> int:
        """The number of candidates of each leg."""
        return max(_CANDIDATES_MIN, self._hits_max)

    @property
    def _hits_max(self) -> int:
        """The number of hits before they are reranked."""
        if not self.rerank:
            return self.top_k
        least = _WORDS_CANDIDATES if self.rerank == "words" else 0
        return max(self.top_k, self.candidates, least)

    def canonical(self, postprocessors: PostprocessorNames = _NO_POSTPROCESSORS) -> Query:
        """The canonical query: equal for all requests that must get the same answer."""
        return Query(
            text=long_queries.normalized(self.query),
            alpha=None if self.alpha is None else round(self.alpha, 3),
            top_k=self._hits_max,
            fusion=self.fusion,
            filter=self.filter.canonical(),
            min_score=self.min_score,
            explain=self.explain,
            candidates=self.leg_candidates,
            language=None if self.language is None else base_language(self.language),
            document_hits_max=self.document_hits_max,
            expand=self.expand is True or "neighbours" in self._expand_names,
            relations="relations" in self._expand_names,
            summaries=self.summaries,
            metadata=self.metadata,
            updated_at=self.updated_at,
            postprocessing=self._postprocessing(postprocessors)
            if self.rerank or self.context
            else None,
            highlights=self.highlights,
            highlight_units=self.highlight_units if self.highlights else "code_points",
            boost=None if self.boost is None else self.boost.canonical(),
            diversity=round(float(self.diversity), 3),
            vector=self.vector,
            facets=tuple(sorted(set(self.facets))),
            facet_values_max=self.facet_values_max if self.facets else FACET_VALUES_MAX,
        )

    @property
    def _expand_names(self) -> Collection[ExpandName]:
        if isinstance(self.expand, bool):
            return ()
        return self.expand if isinstance(self.expand, tuple) else (self.expand,)

    def _ranker(self, postprocessors: PostprocessorNames) -> str | None:
        if self.rerank == "words":
            return postprocessors.words
        return postprocessors.ranker if self.rerank else None

    def _postprocessing(self, postprocessors: PostprocessorNames) -> Postprocessing:
        context = self.context
        return Postprocessing(
            self.top_k,
            self._ranker(postprocessors),
            None if context is None else context.token_budget,
            None
            if context is None or not context.compress
            else (postprocessors.compressor if context.compress == "model" else "extract"),
        )
