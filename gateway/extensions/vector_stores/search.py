"""The search of a vector store: runs ordinary searches and renders them as OpenAI's API."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import orjson
from starlette.responses import Response

from cache.lookup import ServedAnswer
from gateway.extension import (
    BATCH_SEARCHES_MAX,
    RequestContext,
    SearchBody,
    address_of_hit,
    decode_answer,
    freshness_of,
    full_scope,
    json_response,
    problems,
    record_served,
    require_within_limits,
    schemas,
    strictest,
)
from gateway.extensions._batches.answers_headers import answers_headers
from gateway.extensions._batches.held_answers import HeldAnswers
from gateway.extensions._batches.one_revision import search_consistently
from gateway.extensions.vector_stores.schemas.search_schemas import (
    Content,
    FoundFile,
    SearchPage,
    VectorStoreSearchBody,
)
from gateway.extensions.vector_stores.store_access import require_store
from gateway.extensions.vector_stores.vector_store_services import VectorStoreServices
from index.model.scope import Scope


async def search_vector_store(context: RequestContext[VectorStoreServices]) -> Response:
    services, trace = context.services, context.trace
    name = context.request.path_params["vector_store_id"]
    source = schemas.parse_value("vector_store_id", schemas.SOURCE, name)
    body = await context.parse_body(VectorStoreSearchBody)
    if len(body.queries) > BATCH_SEARCHES_MAX:
        raise problems.invalid_field("query", f"must have at most {BATCH_SEARCHES_MAX:,} queries")
    searches = [_search_body(source, query, body) for query in body.queries]
    for search in searches:
        require_within_limits(search)
    trace.mark("parse")
    freshness = strictest(freshness_of(search, context.min_revision) for search in searches)
    caller = await context.authenticate(freshness=freshness)
    await context.spend(len(searches) - 1)
    if body.rewrite_query:
        searches = await _rewrite_queries(context, full_scope(caller), searches)
        caller = await context.authenticate(caller.principal, freshness)
    trace.mark("revision")
    requests = [services.search.request_of(caller.principal, search) for search in searches]
    held = HeldAnswers(context.slot)
    served = await search_consistently(services.search, requests, caller.revisions, held)
    for request, answer in zip(requests, served, strict=True):
        record_served(services.search, request, answer)
    trace.mark("search")
    tenant, threads = caller.principal.tenant, services.search.builder.threads
    files = await threads.run(tenant, _found_files, tenant, source, served, body.results_max)
    if not files:
        await require_store(context, caller)  # without a hit the store may not exist
    response = json_response(
        SearchPage(search_query=tuple(search.query for search in searches), data=files)
    )
    timing = (b"server-timing", trace.server_timing().encode())
    response.raw_headers += [
        (b"cache-control", b"no-store"),
        *answers_headers(context, served, caller, timing),
    ]
    return response


async def _rewrite_queries(
    context: RequestContext[VectorStoreServices], scope: Scope, searches: Sequence[SearchBody]
) -> list[SearchBody]:
    """The searches with rewritten queries; a query that the model fails to rewrite stays."""
    steps = context.services.search.steps_for("history", "rewrite_query")
    queries = await asyncio.gather(*(steps.rewrite(scope, search.query) for search in searches))
    context.trace.mark("rewrite")
    return [
        search.model_copy(update={"query": query})
        for search, query in zip(searches, queries, strict=True)
    ]


def _search_body(source: str, query: str, body: VectorStoreSearchBody) -> SearchBody:
    """One query as the body of `POST /v1/search`. Raises a `Problem`, as that request would."""
    fields: dict[str, Any] = {
        "query": query,
        "top_k": body.results_max,
        "filter": {"sources": [source]},
        "metadata": True,
    }
    if (ranking := body.ranking_options) is not None:
        if ranking.score_threshold:
            fields["min_score"] = ranking.score_threshold
        if ranking.hybrid_search is not None:
            fields["alpha"] = ranking.hybrid_search.alpha
    search = schemas.parse(SearchBody, orjson.dumps(fields))
    if body.filters is None:
        return search
    narrowed = search.filter.model_copy(update={"attributes": body.filters})
    return search.model_copy(update={"filter": narrowed})


def _found_files(
    own_tenant: str, source: str, served: Sequence[ServedAnswer], files_max: int
) -> tuple[FoundFile, ...]:
    """In a thread: the metadata of the hits may have a million values."""
    hits = _merge_hits([decode_answer(answer.body)["hits"] for answer in served], files_max)
    return tuple(_found_file(own_tenant, source, hit) for hit in hits)


def _merge_hits(answers: Sequence[Sequence[dict[str, Any]]], hits_max: int) -> list[dict[str, Any]]:
    """The hits of several queries, best first; a hit of several queries has its best score."""
    if len(answers) == 1:
        return list(answers[0])
    best: dict[int, dict[str, Any]] = {}
    for hits in answers:
        for hit in hits:
            current = best.get(hit["chunk_id"])
            if current is None or hit["score"] > current["score"]:
                best[hit["chunk_id"]] = hit
    return sorted(best.values(), key=lambda hit: (-hit["score"], hit["chunk_id"]))[:hits_max]


def _found_file(own_tenant: str, source: str, hit: dict[str, Any]) -> FoundFile:
    file_id = address_of_hit(own_tenant, hit).removeprefix(f"{source}/")
    return FoundFile(
        file_id=file_id,
        filename=hit["title"] or file_id,
        score=hit["score"],
        attributes=dict(_attributes(hit["metadata"] or {})),
        content=(Content(text=hit["text"]),),
        scope=hit["scope"],
        tenant=hit.get("tenant"),
    )


def _attributes(metadata: dict[str, Any]) -> Iterator[tuple[str, str | float | bool]]:
    """Metadata as OpenAI's attributes: null values are left out, lists become JSON text."""
    for name, value in metadata.items():
        if value is not None:
            yield name, orjson.dumps(value).decode() if isinstance(value, list) else value
