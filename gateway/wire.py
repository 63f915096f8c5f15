"""The bodies of requests and answers, as they travel; each refuses fields that it does not know."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    field_validator,
)

from gateway import problems
from gateway.attributes_wire import Filters
from index.document import (
    Cut,
    DocumentId,
    Language,
    Line,
    Metadata,
    Owner,
    Readers,
    Source,
    Summaries,
    Tags,
    Text,
    Title,
    Uri,
)
from index.kind import Kind
from index.lexical import base_language
from index.query import Filter, FusionName, Query
from index.scope import PUBLIC, SCOPE_NAMES, ScopeName

Model = TypeVar("Model", bound=BaseModel)

_FILTER_VALUES_MAX = 256
_CANDIDATES_MIN = 50  # that each leg contributes: more if more hits are asked for
_TENANT = r"^[a-z0-9][a-z0-9_-]{0,62}$"


def _not_public(tenant: str) -> str:
    if tenant == PUBLIC:
        raise ValueError("is the name of what every tenant may read")
    return tenant


def _utc(instant: datetime) -> datetime:
    try:
        return instant.astimezone(UTC)
    except OverflowError:
        raise ValueError("must lie within the years 1 to 9999") from None


TenantId = Annotated[str, StringConstraints(pattern=_TENANT), AfterValidator(_not_public)]
Instant = Annotated[AwareDatetime, AfterValidator(_utc)]
DOCUMENT_ID: TypeAdapter[str] = TypeAdapter(DocumentId)
NAME: TypeAdapter[str] = TypeAdapter(Owner)
SOURCE: TypeAdapter[str] = TypeAdapter(Source)
LINE: TypeAdapter[str] = TypeAdapter(Line | Literal[""])

Values = Annotated[tuple[Line, ...], Field(min_length=1, max_length=_FILTER_VALUES_MAX)]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def parse(model: type[Model], body: bytes) -> Model:
    """The body as a model, or a `Problem` that names each field that is wrong."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise problems.from_validation(error) from None


def checked(field: str, kind: TypeAdapter[str], value: str) -> str:
    """A name from a path, or a `Problem`."""
    try:
        return kind.validate_python(value)
    except ValidationError as error:
        raise problems.invalid_field(field, error.errors()[0]["msg"]) from None


class FilterBody(Body):
    """What a document must be to be searched; it only narrows."""

    sources: Values | None = None
    tags_any: Values | None = None
    tags_all: Values | None = None
    languages: Values | None = None
    updated_after: Instant | None = Field(None, description="inclusive")
    updated_before: Instant | None = Field(None, description="exclusive")
    exclude_documents: Values | None = None
    metadata: Metadata | None = Field(None, description="all of it must be in the document's")
    attributes: Filters | None = Field(
        None, description="comparisons of the document's metadata, joined by `and` and `or`"
    )
    kinds: Annotated[tuple[Kind, ...], Field(min_length=1)] = Field(
        ("text",), description="whether hits are pieces of the text, summaries, or both"
    )

    def canonical(self) -> Filter:
        return Filter(
            sources=_sorted(self.sources),
            tags_any=_sorted(self.tags_any),
            tags_all=_sorted(self.tags_all),
            languages=_sorted(self.languages),
            updated_after=self.updated_after,
            updated_before=self.updated_before,
            exclude_documents=_sorted(self.exclude_documents),
            metadata=dict(self.metadata) if self.metadata else None,
            attributes=None if self.attributes is None else self.attributes.condition(),
            kinds=tuple(sorted(set(self.kinds))),
        )


class SearchBody(Body):
    query: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    top_k: int = Field(5, ge=1, description="how many hits at most")
    alpha: float | None = Field(
        None, ge=0, le=1, description="0 = pure keywords, 1 = pure meaning; the embedder's default"
    )
    fusion: FusionName = "absolute"
    scopes: Annotated[tuple[ScopeName, ...], Field(min_length=1)] = Field(
        SCOPE_NAMES, description="it can only narrow what the key may see"
    )
    filter: FilterBody = FilterBody()
    min_score: float | None = Field(None, ge=0, description="hits below it are left out")
    max_staleness_ms: int = Field(
        0, ge=0, le=3_600_000, description="how old the answer may be; 0 = never stale"
    )
    semantic: Literal["off", "bounded"] = Field(
        "off",
        description="whether a similar question's answer will do, where such have been right",
    )
    language: Language | None = Field(
        None, description="of the query; every language that the scope holds, if absent"
    )
    document_hits_max: int | None = Field(
        None, ge=1, description="most hits of one document; no limit if absent"
    )
    expand: bool = Field(
        False, description="a hit's text takes in the chunk before it and the one after"
    )
    summaries: bool = Field(
        False,
        description="each hit brings the summaries of its document and of the long section that it "
        "is in, where there are any",
    )
    metadata: bool = Field(False, description="each hit brings the metadata of its document")
    explain: bool = Field(
        False, description="show each hit's ranks and scores by leg, and what typos were taken for"
    )

    @field_validator("query")
    @classmethod
    def _storable(cls, query: str) -> str:
        if "\0" in query:
            raise ValueError("must not hold the character U+0000")
        return query

    def canonical(self) -> Query:
        """The same for all requests that must get the same answer."""
        return Query(
            text=" ".join(self.query.split()),
            alpha=None if self.alpha is None else round(self.alpha, 3),
            top_k=self.top_k,
            fusion=self.fusion,
            filter=self.filter.canonical(),
            min_score=self.min_score,
            explain=self.explain,
            candidates=max(_CANDIDATES_MIN, self.top_k),
            language=None if self.language is None else base_language(self.language),
            document_hits_max=self.document_hits_max,
            expand=self.expand,
            summaries=self.summaries,
            metadata=self.metadata,
        )


class SearchBatchBody(Body):
    searches: Annotated[tuple[SearchBody, ...], Field(min_length=1)]


class LegAnswer(Body):
    rank: int
    score: float


class ExplainAnswer(Body):
    dense: LegAnswer | None
    lexical: LegAnswer | None


class SummaryAnswer(Body):
    text: str
    start: int = Field(description="of what it sums up in the document's text, in characters")
    end: int


class HitAnswer(Body):
    chunk_id: int
    document_id: str
    title: str
    text: str
    score: float
    source: str
    uri: str
    language: str
    tags: tuple[str, ...]
    start: int = Field(description="of the hit in the document's text, in characters")
    end: int
    kind: Kind = Field(description="a summary's place is that of what it sums up")
    summaries: tuple[SummaryAnswer, ...] | None = Field(
        None, description="of the document, and of the innermost long section; only if asked for"
    )
    metadata: dict[str, Any] | None = Field(None, description="only if asked for")
    explain: ExplainAnswer | None = Field(None, description="only if asked for")


class SearchAnswer(Body):
    hits: tuple[HitAnswer, ...]
    corrections: dict[str, tuple[str, ...]] | None = Field(
        None, description="by unknown word of the query, the hits' words it was taken for; explain"
    )


class SearchBatchAnswer(Body):
    answers: tuple[SearchAnswer, ...] = Field(description="in the order of the searches")


class DocumentBody(Body):
    """Owner, readers, cut and summaries stay when left out; a new one is its writer's alone."""

    title: Title = ""
    text: Text
    source: Source = "api"
    uri: Uri = ""
    language: Language | None = None
    tags: Tags = ()
    metadata: Metadata = Field(default_factory=dict)
    owner: Owner | None = None
    readers: Readers | None = None
    cut: Cut | None = Field(
        None,
        description="how the text is cut into chunks: structure, characters:1000/200, "
        "tokens:500/50, messages:10, whole or model; structure if a new document names none",
    )
    summaries: Summaries | None = Field(
        None,
        description="who sums up the document, if it is long, and its long sections: none, extract "
        "(its own sentences) or model; none if a new document names none",
    )

    @field_validator("text")
    @classmethod
    def _not_blank(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("must not be blank")
        return text


class DocumentSummary(Body):
    document_id: str
    title: str
    source: str
    uri: str
    language: str
    tags: tuple[str, ...]
    metadata: dict[str, Any]
    owner: str | None
    readers: tuple[str, ...]
    cut: str
    summaries: Summaries


class DocumentAnswer(DocumentSummary):
    text: str


class DocumentsAnswer(Body):
    documents: tuple[DocumentSummary, ...]
    cursor: str | None = Field(description="the next page's `cursor`; null on the last page")


class BatchLine(DocumentBody):
    document_id: DocumentId


class ChunksAnswer(Body):
    added: int
    kept: int
    removed: int
    embedded: int = Field(description="how many texts went to the embedder")


class WrittenAnswer(Body):
    document_id: str
    revision: int
    chunks: ChunksAnswer


class RevisionAnswer(Body):
    document_id: str
    revision: int


class GoneAnswer(Body):
    """How much of a document is gone, in PostgreSQL."""

    chunks: int = Field(description="with their texts, vectors and words; summaries too")
    embeddings: int = Field(description="vectors of it that no other document of the tenant needs")
    jobs: int = Field(description="that had failed to write it")


class ForgottenAnswer(RevisionAnswer):
    """A receipt: what it doesn't call pending is gone."""

    forgotten: GoneAnswer
    pending: dict[str, str] = Field(
        description="by what is not gone yet, where to see how far that is: `words` of it in what "
        "the tenant's typos are corrected to; `answers`, with 202, which Redis is too far away to "
        "drop, and nobody serves; empty if it can't be queued"
    )


class AccessBody(Body):
    """What is left out stays as it is."""

    owner: Owner | None = None
    readers: Readers | None = None


class TenantBody(Body):
    id: TenantId
    name: Title = ""


class TenantAnswer(Body):
    id: str
    name: str


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


def _sorted(values: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(sorted(set(values)))
