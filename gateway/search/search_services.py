"""What searches use."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from cache.answers import Answers
from cache.lookup import ServedAnswer
from common.shares.threads import FairThreads
from common.version import VERSION
from gateway.caching.cache_services import CacheServices
from gateway.caching.question_tier import QuestionTier
from gateway.caching.region import Region
from gateway.http.request.request_context import RequestContext
from gateway.monitoring.metrics import Metrics
from gateway.problems import problems
from gateway.recording.answer_log import AnswerLog
from gateway.recording.read_log import ReadLog
from gateway.search import embedders as configured_embedders
from gateway.search.response_body import AnswerBuilder
from gateway.search.response_headers import Header
from gateway.search.schemas.search_schemas import SearchBody
from gateway.search.search_parser import SearchParser
from gateway.search.search_request import SearchRequest, build_search_request
from gateway.search.search_steps import InterpretedQuery, SearchSteps
from gateway.settings.settings import Settings
from gateway.stores import Stores
from index.model.query import PostprocessorNames
from index.resident.building.shard_folder import ShardFolder
from index.resident.resident_shards import ResidentShards
from index.search.query_embedder import Embedder
from index.search.searcher import Searcher
from index.search.sight_reader import SightReader
from index.tenants.principals import Principal

# Called with the request's body, the request and its answer; gives a header of the response.
HeaderMaker: TypeAlias = Callable[[bytes, SearchRequest, ServedAnswer], Awaitable[Header]]

_FAST_EMBEDDERS = {"static", "test"}  # faster than a lookup in Redis


@dataclass(frozen=True, slots=True)
class SearchServices:
    """table_searcher: without shards.
    spaces:   of the vectors of this gateway's embedders.
    fields_off: of bodies, each with the name of the extension that serves it, which is off.
    watchers: of extensions, called with each request and its answer while a caller waits.
    preferred_headers: likewise, by the preference that asks for one.
    question_tier: None if no extension brings one.
    """

    settings: Settings
    metrics: Metrics
    stores: Stores
    searcher: Searcher
    table_searcher: Searcher
    sights: SightReader
    shards: ResidentShards
    answers: Answers
    question_tier: QuestionTier | None
    builder: AnswerBuilder
    read_log: ReadLog
    answer_log: AnswerLog
    parser: SearchParser
    spaces: tuple[str, ...]
    fields_off: Mapping[str, str]
    watchers: list[Callable[[SearchRequest, ServedAnswer], None]] = field(default_factory=list)
    preferred_headers: dict[str, HeaderMaker] = field(default_factory=dict)

    def request_of(self, principal: Principal, body: SearchBody) -> SearchRequest:
        return self.parser.request_of(principal, body)

    def require_answerable(self, request: SearchRequest, path: str = "") -> None:
        """A 422 `Problem` if the search names what is off, or what its caller does not receive.

        path: of the search in the request's body, with a dot at its end.
        """
        if self.fields_off:
            self._require_extensions(request.body, path)
        if request.asks_in_vain:
            remedy = "this deployment lets no tenant receive public documents"
            if self.settings.public_documents:
                remedy = "this tenant does not receive public documents: an admin decides it"
            detail = f"public: {remedy}. Leave it out; the tenant's own are found without it"
            raise problems.invalid_field(f"{path}scopes", detail)

    def steps_for(self, field: str, path: str = "") -> SearchSteps:
        """What serves this field of a body; a 422 `Problem` if its extension is off."""
        if field in self.fields_off:
            detail = f"needs the extension {self.fields_off[field]}, which is off"
            raise problems.invalid_field(path or field, detail)
        assert self.builder.steps is not None, "an extension that is on serves the field"
        return self.builder.steps

    async def interpret(
        self, context: RequestContext[object], body: SearchBody
    ) -> InterpretedQuery:
        """The search that a body asks for, whose message may go on a conversation."""
        if not body.is_conversational:
            return InterpretedQuery(body)
        self._require_extensions(body)
        return await self.steps_for("history").interpret(context, body)

    def _require_extensions(self, body: SearchBody, path: str = "") -> None:
        if (name := body.first_used(self.fields_off)) is not None:
            self.steps_for(name, f"{path}{name}")


def build(
    settings: Settings,
    metrics: Metrics,
    stores: Stores,
    caches: CacheServices,
    embedders: Sequence[Embedder],
    index_name: str,
    steps: SearchSteps | None,
    read_log: ReadLog,
    region: Region | None,
    *,
    answer_log: AnswerLog,
    threads: FairThreads,
    postprocessing: FairThreads,
    fields_off: Mapping[str, str],
) -> SearchServices:
    """postprocessing: threads for what reads all texts of the hits."""
    standby = None if region is None else region.standby
    query_vector_caches = {
        embedder.space: caches.models.vectors
        for name, embedder in zip(configured_embedders.names(settings), embedders, strict=False)
        if configured_embedders.kind(name) not in _FAST_EMBEDDERS
    }

    def searcher(shards: ResidentShards | None) -> Searcher:
        return Searcher(
            stores.database,
            *embedders,
            query_vector_caches=query_vector_caches,
            score_min=settings.confidence_min,
            shards=shards,
            standby=standby,
            in_region=region is not None,
        )

    nearest = stores.database if standby is None else standby.database
    version = f"{VERSION} {index_name}"
    shards = ResidentShards(
        nearest,
        bytes_max=settings.shard_bytes_max,
        chunks_max=settings.shard_chunks_max,
        on_event=metrics.shard_event,
        threads=threads,
        folder=_shard_folder(settings, version),
    )
    request_of = partial(
        build_search_request,
        edition=f"{version} {settings.confidence_min}",
        postprocessors=PostprocessorNames() if steps is None else steps.names,
        compares=None if caches.question_tier is None else caches.question_tier.compares,
        fields_off=fields_off,
    )
    builder = AnswerBuilder(steps, postprocessing, metrics.search)
    return SearchServices(
        settings=settings,
        metrics=metrics,
        stores=stores,
        searcher=searcher(shards),
        table_searcher=searcher(None),
        sights=SightReader(nearest, threads),
        shards=shards,
        answers=caches.answers,
        question_tier=caches.question_tier,
        builder=builder,
        read_log=read_log,
        answer_log=answer_log,
        parser=SearchParser(request_of),
        spaces=tuple(embedder.space for embedder in embedders),
        fields_off=fields_off,
    )


def _shard_folder(settings: Settings, edition: str) -> ShardFolder | None:
    if settings.shard_folder is None:
        return None
    return ShardFolder(settings.shard_folder, edition, settings.shard_bytes_max)
