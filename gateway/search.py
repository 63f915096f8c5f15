"""The read path: from a request to an answer that its caller may see, at a revision read since.

request → identify → parse → admit → scope → canonical query → cache → search → fill → respond
"""

import asyncio
from typing import Any

import orjson
from starlette.responses import Response

from cache.answers import Computed, Served
from cache.keys import answer_key
from gateway import problems
from gateway.exchange import Exchange
from gateway.principal import Admitted
from gateway.services import Services
from gateway.settings import Settings
from gateway.wire import SearchBody
from index import scope
from index.query import Query
from index.scope import PUBLIC, Scope
from index.search import Found, Hit


async def search(exchange: Exchange) -> Response:
    services, trace = exchange.services, exchange.trace
    body = await exchange.parse(SearchBody, services.settings.search_bytes_max)
    _within_limits(body, services.settings)
    trace.mark("parse")
    admitted = await exchange.admit(max_staleness_s=body.max_staleness_ms / 1000)
    trace.mark("revision")
    if services.settings.log_queries:
        trace.query = body.query

    seen = _scope(admitted, body)
    query = body.canonical(services.embedder.alpha)
    revisions = {name: admitted.revisions[name] for name in seen.partitions}
    key = answer_key(
        tenant=seen.tenant,
        scope=seen.fingerprint,
        query=query.digest,
        generation=services.generation.name,
    )
    async with asyncio.timeout(services.settings.deadline_s):
        served = await services.answers.get(key, revisions, lambda: _compute(services, seen, query))
    trace.tier = served.tier
    trace.mark("cache" if served.tier != "miss" else "search")
    return _respond(served, seen, trace.server_timing())


def _within_limits(body: SearchBody, settings: Settings) -> None:
    if len(body.query) > settings.query_characters_max:
        most = settings.query_characters_max
        raise problems.invalid_field("query", f"must have at most {most:,} characters")
    if body.top_k > settings.top_k_max:
        raise problems.invalid_field("top_k", f"must be at most {settings.top_k_max:,}")


def _scope(admitted: Admitted, body: SearchBody) -> Scope:
    holder = admitted.holder
    return scope.resolve(holder.tenant, holder.subject, holder.groups, body.scopes)


async def _compute(services: Services, seen: Scope, query: Query) -> Computed:
    """The answer from the index. Without the embedder it is not whole."""
    found = await services.searcher.search(seen, query)
    return Computed(_encode(found, query), found.as_of, whole=not found.degraded)


def _encode(found: Found, query: Query) -> bytes:
    """The body as it is sent and cached: it says nothing about how it was made."""
    return orjson.dumps({"hits": [_hit(hit, explain=query.explain) for hit in found.hits]})


def _hit(hit: Hit, *, explain: bool) -> dict[str, Any]:
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
    }
    if explain:
        shown["explain"] = {"dense": hit.ranking.dense, "lexical": hit.ranking.lexical}
    return shown


def _respond(served: Served, seen: Scope, timing: str) -> Response:
    revision = str(served.good[seen.tenant])
    if seen.public:
        revision += f";public={served.good[PUBLIC]}"
    return Response(
        served.body,
        media_type="application/json",
        headers={
            "Cache-Status": _CACHE_STATUS[served.tier, served.stored],
            "Nearhit-Revision": revision,
            "Server-Timing": timing,
            "Cache-Control": "no-store",  # a cache of the caller's could not know of a revocation
            **({} if served.whole else {"Nearhit-Degraded": "lexical-only"}),
        },
    )


# RFC 9211
_CACHE_STATUS = {
    ("memory", False): "nearhit; hit; detail=memory",
    ("redis", False): "nearhit; hit; detail=redis",
    ("miss", True): "nearhit; fwd=miss; stored",
    ("miss", False): "nearhit; fwd=miss",
}
