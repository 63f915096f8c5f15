"""An answer computed from the index: the bytes that are sent, cached and compared."""

from typing import Any

import orjson

from cache.answers import Computed
from index.hits import Hit
from index.query import Query
from index.scope import Scope
from index.search import Found, Searcher
from ingest.payer import paid_by


async def compute(searcher: Searcher, seen: Scope, query: Query) -> Computed:
    """Without the embedder it is not whole. Raises `DatabaseUnavailable`."""
    found = await find(searcher, seen, query)
    return Computed(
        encode(found, query), found.as_of, found.dependence.encode(), whole=not found.degraded
    )


async def find(searcher: Searcher, seen: Scope, query: Query) -> Found:
    """What a search finds, at the expense of the tenant that asks. Raises `DatabaseUnavailable`."""
    with paid_by(seen.tenant):
        return await searcher.search(seen, query)


def encode(found: Found, query: Query) -> bytes:
    """The body as it is sent and cached: it says nothing about how it was made."""
    shown: dict[str, Any] = {"hits": [_hit(hit, query) for hit in found.hits]}
    if query.explain:
        shown["corrections"] = found.corrections
    return orjson.dumps(shown)


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
