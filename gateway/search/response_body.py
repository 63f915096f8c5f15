"""An answer computed from the index: the bytes that are sent, cached and compared."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import orjson

from cache.answers import ComputedAnswer
from cache.protocol import Revisions
from gateway.rag.lazy_rag_tools import LazyRagTools
from index.model.query import Query
from index.model.scope import Scope
from index.search.hits import Hit
from index.search.searcher import Searcher, SearchResult
from ingest.billing_context import bill_to

if TYPE_CHECKING:
    from gateway.rag.postprocessing import LlmOutput


async def compute_answer(
    searcher: Searcher, seen: Scope, query: Query, assisting: LazyRagTools, history: str
) -> ComputedAnswer:
    """What the embedder or another helper took no part in is not whole.

    history: that the scope was read from. Raises `DatabaseUnavailable`.
    """
    found = await search_index(searcher, seen, query, history)
    return await build_answer(found, seen, query, assisting)


async def build_answer(
    found: SearchResult, seen: Scope, query: Query, assisting: LazyRagTools
) -> ComputedAnswer:
    """What was found, as the answer that it is. Only services and models are asked."""
    said, lacks = None, {"embedder": "lexical-only"} if found.degraded else {}
    if query.postprocessing is not None:
        said = await (await assisting.tools()).finisher.consult(seen.tenant, found.hits, query)
        lacks |= said.lacks
    return ComputedAnswer(
        encode(found, query, said),
        Revisions(found.history, found.as_of),
        found.dependence.encode(),
        is_complete=not lacks,
        missing_parts=lacks or None,
    )


async def search_index(
    searcher: Searcher, seen: Scope, query: Query, history: str | None = None
) -> SearchResult:
    """What a search finds, at the expense of the tenant that asks.

    history: that the scope was read from, if it was. Raises `DatabaseUnavailable`.
    """
    with bill_to(seen.tenant):
        return await searcher.search(seen, query, history=history)


def encode(found: SearchResult, query: Query, said: "LlmOutput | None" = None) -> bytes:
    """The body as it is sent and cached: it says nothing about how it was made.

    said: by services and models, of the hits.
    """
    shown: dict[str, Any] = {}
    if query.postprocessing is None:
        shown["hits"] = [_hit(hit, query) for hit in found.hits]
    else:
        shown |= _finished(found.hits, query, said)
    if query.explain:
        shown["corrections"] = found.corrections
    if found.low_confidence:
        shown["low_confidence"] = True  # at the end, where `doubts` looks for it
    return orjson.dumps(shown)


def matches_body(found: SearchResult, query: Query, body: bytes) -> bool | None:
    """Whether the body is what these hits give, whatever a service has made of their order.

    None if that can't be told: a model has shortened some.
    """
    finish = query.postprocessing
    if finish is None or finish.ranker in (None, "formula"):
        said = None
    else:
        from gateway.rag.postprocessing import parse_postprocessing

        said = parse_postprocessing(body, found.hits)
    if encode(found, query, said) == body:
        return True
    return False if finish is None or finish.compressor in (None, "extract") else None


def _finished(hits: Sequence[Hit], query: Query, said: "LlmOutput | None") -> dict[str, Any]:
    from gateway.rag import postprocessing  # nobody else needs it

    made = postprocessing.postprocess(hits, query, said or postprocessing.NOTHING)
    shown: dict[str, Any] = {"hits": [_hit(hit, query) for hit, _ in made.hits]}
    if query.postprocessing is not None and query.postprocessing.ranker is not None:
        for hit, (_, score) in zip(shown["hits"], made.hits, strict=True):
            hit["rerank_score"] = score
    if made.context is not None:
        shown["context"] = made.context
    return shown


def _hit(hit: Hit, query: Query) -> dict[str, Any]:
    shown = {
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
    }
    if query.summaries:
        shown["summaries"] = hit.summaries
    if query.metadata:
        shown["metadata"] = hit.metadata
    if query.explain:
        shown["explain"] = {"dense": hit.ranking.dense, "lexical": hit.ranking.lexical}
    return shown
