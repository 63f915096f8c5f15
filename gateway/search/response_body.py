"""An answer computed from the index: the bytes that are sent, cached and compared."""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import orjson

from cache.lookup import ComputedAnswer
from cache.protocol import Revisions
from gateway.monitoring.search_metrics import SearchMetrics
from gateway.rag.lazy_rag_tools import LazyRagTools
from gateway.rag.postprocessor_names import HEURISTIC_RANKER
from gateway.search.answer_bytes import require_short
from index.model.query import Query
from index.model.scope import Scope
from index.search.hits import Hit
from index.search.ranking.boosting import Boosts
from index.search.ranking.fusion import LegRank
from index.search.searcher import Searcher, SearchResult
from index.search.tables.related import RelatedDocument

if TYPE_CHECKING:
    from gateway.rag.postprocessing import LlmOutput

_SCORE = attrgetter("score")  # of a hit


async def compute_answer(
    searcher: Searcher,
    scope: Scope,
    query: Query,
    rag_tools: LazyRagTools,
    search_metrics: SearchMetrics,
    revisions: Revisions,
) -> ComputedAnswer:
    """Incomplete if the embedder or a postprocessor failed.

    revisions: which were read with the scope. Raises `DatabaseUnavailable`.
    """
    result = await searcher.search(
        scope, query, history=revisions.history, revisions=revisions.by_partition
    )
    return await build_answer(result, scope, query, rag_tools, search_metrics)


async def build_answer(
    result: SearchResult,
    scope: Scope,
    query: Query,
    rag_tools: LazyRagTools,
    search_metrics: SearchMetrics,
) -> ComputedAnswer:
    """The answer that the search result makes; services and models postprocess it if asked to.

    A 422 `Problem` if it is too large. Raises `Saturated`.
    """
    is_absolute = bool(result.hits) and query.fusion == "absolute"
    search_metrics.computed(
        scope.tenant,
        hits=len(result.hits),
        best_score=max(map(_SCORE, result.hits)) if is_absolute else None,
        is_degraded=result.degraded,
    )
    missing_parts, llm_output = {"embedder": "lexical-only"} if result.degraded else {}, None
    if query.postprocessing is not None:
        postprocessor = (await rag_tools.tools()).postprocessor
        llm_output = await postprocessor.call_models(scope.tenant, result.hits, query)
        missing_parts |= llm_output.failures
    if query.postprocessing is None and not query.metadata:
        body = encode(result, query)
    else:
        body = await rag_tools.threads.run(scope.tenant, encode, result, query, llm_output)
    return ComputedAnswer(
        require_short(body),
        Revisions(result.history, result.as_of, {scope.tenant: result.audience_revision}),
        result.dependencies.encode,
        is_complete=not missing_parts,
        missing_parts=missing_parts or None,
    )


def encode(result: SearchResult, query: Query, llm_output: "LlmOutput | None" = None) -> bytes:
    """The body as it is sent and cached; it does not tell how it was computed.

    With postprocessing it reads all texts of the hits, and with metadata as many values, for which
    the event loop must not wait.
    """
    body: dict[str, Any] = {}
    tenant = result.scope.tenant
    if query.postprocessing is None:
        body["hits"] = [_hit(hit, query, tenant) for hit in result.hits]
    else:
        body |= _postprocessed(result.hits, query, tenant, llm_output)
    if query.metadata:  # of so many values that a thread has to give way between two hits
        body["hits"] = [*map(_encoded, body["hits"])]
    if query.explain:
        body["corrections"] = result.corrections
    if query.facets:
        body["facets"] = result.facets
    if result.low_confidence:
        body["low_confidence"] = True  # the last field: `search_metrics` looks for it there
    return orjson.dumps(body, option=orjson.OPT_UTC_Z)


def _encoded(hit: Mapping[str, Any]) -> orjson.Fragment:
    return orjson.Fragment(orjson.dumps(hit, option=orjson.OPT_UTC_Z))


def matches_body(result: SearchResult, query: Query, body: bytes) -> bool | None:
    """Whether this result makes this body, in whatever order a ranking service put the hits.

    None if that is unknown because a model has shortened some texts.
    """
    postprocessing = query.postprocessing
    if postprocessing is None or postprocessing.ranker in (None, HEURISTIC_RANKER):
        llm_output = None
    else:
        from gateway.rag.postprocessing import parse_postprocessing

        llm_output = parse_postprocessing(body, result.hits)
    if encode(result, query, llm_output) == body:
        return True
    is_deterministic = postprocessing is None or postprocessing.compressor in (None, "extract")
    return False if is_deterministic else None


def _postprocessed(
    hits: Sequence[Hit], query: Query, tenant: str, llm_output: "LlmOutput | None"
) -> dict[str, Any]:
    from gateway.rag import postprocessing  # only searches that ask for it load it

    processed = postprocessing.postprocess(
        hits, query, tenant, llm_output or postprocessing.NO_OUTPUT
    )
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
