"""An answer computed from the index: the bytes that are sent, cached and compared."""

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import orjson

from cache.lookup import ComputedAnswer
from cache.protocol import Revisions
from common.shares.threads import FairThreads
from gateway.bodies.answer_codec import encode_answer
from gateway.monitoring.search_metrics import SearchMetrics
from gateway.search.answer_bytes import require_short
from gateway.search.search_steps import PostprocessedHits, SearchSteps
from index.model.query import Query
from index.model.scope import Scope
from index.search.hits import Hit
from index.search.ranking.boosting import Boosts
from index.search.ranking.fusion import LegRank
from index.search.searcher import Searcher, SearchResult
from index.search.tables.related import RelatedDocument

_SCORE, _TEXT = attrgetter("score"), attrgetter("text")  # of a hit
_STEP_CHARACTERS_MAX = 131_072  # encoded in a millisecond


@dataclass(frozen=True, slots=True)
class AnswerBuilder:
    """Makes answers of search results.

    steps: of an extension; None if it is off, and no search asks for them.
    threads: for what reads all texts of the hits.
    """

    steps: SearchSteps | None
    threads: FairThreads
    metrics: SearchMetrics

    async def compute(
        self, searcher: Searcher, scope: Scope, query: Query, revisions: Revisions
    ) -> ComputedAnswer:
        """Incomplete without the embedder, a word list or a postprocessor.

        revisions: which were read with the scope. Raises `DatabaseUnavailable`.
        """
        result = await searcher.search(
            scope, query, history=revisions.history, revisions=revisions.by_partition
        )
        return await self.build(result, scope, query)

    async def build(self, result: SearchResult, scope: Scope, query: Query) -> ComputedAnswer:
        """The answer that the search result makes; services and models postprocess it if asked to.

        A 422 `Problem` if it is too large. Raises `Saturated`.
        """
        is_absolute = bool(result.hits) and query.fusion == "absolute"
        self.metrics.computed(
            scope.tenant,
            hits=len(result.hits),
            best_score=max(map(_SCORE, result.hits)) if is_absolute else None,
            is_degraded=bool(result.missing_parts),
        )
        missing_parts, processed = {**result.missing_parts}, None
        if query.postprocessing is not None:
            assert self.steps is not None, "a search that asks for steps is refused without them"
            processed = await self.steps.postprocess(result.hits, query, scope.tenant)
            missing_parts |= processed.failures
        if (
            processed is None
            and not query.metadata
            and sum(map(len, map(_TEXT, result.hits))) <= _STEP_CHARACTERS_MAX
        ):
            body = orjson.dumps(_fields(result, query), option=orjson.OPT_UTC_Z)
        else:
            body = await self.threads.run(scope.tenant, encode, result, query, processed)
        return ComputedAnswer(
            require_short(body),
            Revisions(result.history, result.as_of, {scope.tenant: result.audience_revision}),
            result.dependencies.encode,
            is_complete=not missing_parts,
            missing_parts=missing_parts or None,
        )

    def matches(self, result: SearchResult, query: Query, body: bytes) -> bool | None:
        """Whether this result makes this body, in whatever order a ranking service put the hits.

        None if that is unknown because a model has shortened some texts.
        """
        processed, is_certain = None, True
        if query.postprocessing is not None:
            assert self.steps is not None, "nothing is answered without them"
            tenant, is_certain = result.scope.tenant, query.postprocessing.is_certain
            processed = self.steps.postprocess_as_shown(result.hits, query, tenant, body)
        if encode(result, query, processed) == body:
            return True
        return False if is_certain else None


def encode(result: SearchResult, query: Query, processed: PostprocessedHits | None = None) -> bytes:
    """The body as it is sent and cached.

    processed: the hits of a query with postprocessing. The event loop must not wait for long texts,
    nor for metadata, which has as many values.
    """
    return encode_answer(_fields(result, query, processed))


def _fields(
    result: SearchResult, query: Query, processed: PostprocessedHits | None = None
) -> dict[str, Any]:
    """They do not tell how the answer was computed."""
    body: dict[str, Any] = {}
    tenant = result.scope.tenant
    if processed is None:
        body["hits"] = [_hit(hit, query, tenant) for hit in result.hits]
    else:
        body |= _postprocessed(processed, query, tenant)
    if query.explain:
        body["corrections"] = result.corrections
    if query.facets:
        body["facets"] = result.facets
    if result.low_confidence:
        body["low_confidence"] = True  # the last field: `search_metrics` looks for it there
    return body


def _postprocessed(processed: PostprocessedHits, query: Query, tenant: str) -> dict[str, Any]:
    body: dict[str, Any] = {"hits": [_hit(hit, query, tenant) for hit, _ in processed.hits]}
    if query.postprocessing is not None and query.postprocessing.ranker is not None:
        for hit, (_, score) in zip(body["hits"], processed.hits, strict=True):
            hit["rerank_score"] = score
    if processed.context is not None:
        body["context"] = processed.context
    return body


def _related(document: RelatedDocument, tenant: str) -> dict[str, Any]:
    fields = {
        "relation": document.relation,
        "direction": document.direction,
        "document_id": document.document_id,
        "title": document.title,
        "source": document.source,
        "uri": document.uri,
        "language": document.language,
    }
    return fields if document.tenant == tenant else {**fields, "tenant": document.tenant}


def _hit(hit: Hit, query: Query, tenant: str) -> dict[str, Any]:
    """tenant: of the scope; a hit names its own only if that is another one."""
    fields: dict[str, Any] = {
        "chunk_id": hit.chunk_id,
        "document_id": hit.document_id,
        "title": hit.title,
        "text": hit.text,
        "score": hit.score,
        "source": hit.source,
        "uri": hit.uri,
        "language": hit.language,
        "tags": hit.tags,
        "start": hit.start,
        "end": hit.end,
        "kind": hit.kind,
        "scope": hit.scope_name,
    }
    if hit.tenant != tenant:
        fields["tenant"] = hit.tenant
    if hit.warning is not None:
        fields["trust"] = hit.warning
    if query.summaries:
        fields["summaries"] = hit.summaries
    if query.highlights:
        fields["highlights"] = hit.highlights
    if query.relations:
        fields["relations"] = [_related(document, tenant) for document in hit.related]
    if query.metadata:
        fields["metadata"] = hit.metadata
    if query.updated_at:
        fields["updated_at"] = hit.updated_at
    if query.explain:
        explain: dict[str, Any] = {
            "dense": _leg_rank(hit.ranking.dense),
            "lexical": _leg_rank(hit.ranking.lexical),
            "required_score": hit.required_score,
        }
        if query.boost is not None:
            explain["boost"] = _boosts(hit.boosts)
        fields["explain"] = explain
    return fields


def _leg_rank(rank: LegRank | None) -> dict[str, Any] | None:
    return None if rank is None else rank._asdict()


def _boosts(boosts: Boosts | None) -> dict[str, float] | None:
    """Without the popularity if the request does not rank by it."""
    if boosts is None:
        return None
    return {
        name: value for name in boosts.__slots__ if (value := getattr(boosts, name)) is not None
    }
