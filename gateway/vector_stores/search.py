"""The search of a vector store: searches like any other, told in another form."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import orjson
from starlette.responses import Response

from gateway import problems, schemas
from gateway.http.request_context import RequestContext, full_scope, json_response
from gateway.search.answer_service import record_served
from gateway.search.batch_endpoint import good_of, search_consistently
from gateway.search.search_endpoint import degraded_header, revision_of, to_search_request
from gateway.search.search_request import require_within_limits
from gateway.search.search_schemas import FilterBody, SearchBody
from gateway.vector_stores.stores import require_store
from gateway.vector_stores.vector_store_schemas import (
    Content,
    FoundFile,
    SearchPage,
    VectorStoreSearchBody,
)
from index.model.scope import Scope


async def search_vector_store(context: RequestContext) -> Response:
    services, trace = context.services, context.trace
    settings = services.settings
    name = context.request.path_params["vector_store_id"]
    source = schemas.parse_value("vector_store_id", schemas.SOURCE, name)
    body = context.parse_body(VectorStoreSearchBody)
    if len(body.queries) > settings.searches_max:
        raise problems.invalid_field("query", f"must be at most {settings.searches_max:,}")
    asked = [_asked(source, query, body) for query in body.queries]
    for each in asked:
        require_within_limits(each, settings)
    trace.mark("parse")
    caller = await context.authenticate()
    await services.admission.spend(trace.counters, len(asked) - 1)
    if body.rewrite_query:
        asked = await _rewritten(context, full_scope(caller), asked)
        caller = await context.authenticate(caller.principal)
    trace.mark("revision")
    wanted = [to_search_request(context, caller.principal, each) for each in asked]
    served = await search_consistently(services, wanted, caller.revisions)
    for one, told in zip(wanted, served, strict=True):
        record_served(services, one, told)
    trace.mark("search")
    hits = _best([orjson.loads(each.body)["hits"] for each in served], body.max_num_results)
    if not hits:
        await require_store(context, caller)  # what nobody finds may not be there at all
    page = SearchPage(
        search_query=tuple(each.query for each in asked),
        data=tuple(_found(source, hit) for hit in hits),
    )
    response = json_response(page)
    revision = revision_of(good_of(served), caller.principal.tenant)
    response.headers["Nearhit-Revision"] = revision.decode()
    response.headers["Cache-Control"] = "no-store"
    timing = (b"server-timing", trace.server_timing().encode())
    response.raw_headers += context.cache_headers(timing)
    response.raw_headers += next(filter(None, map(degraded_header, served)), [])
    return response


async def _rewritten(
    context: RequestContext, seen: Scope, asked: Sequence[SearchBody]
) -> list[SearchBody]:
    """With the queries that a language model makes of these, where it makes any."""
    rewriter = (await context.services.rag_tools.tools()).rewriter
    made = await asyncio.gather(
        *(rewriter.rewrite(seen, (), each.query, alone=True) for each in asked)
    )
    context.trace.mark("rewrite")
    return [
        each.model_copy(update={"query": rewritten.query})
        for each, rewritten in zip(asked, made, strict=True)
    ]


def _asked(source: str, query: str, body: VectorStoreSearchBody) -> SearchBody:
    """Raises a `Problem`, as for a body that says the same."""
    told: dict[str, Any] = {
        "query": query,
        "top_k": body.max_num_results,
        "filter": {"sources": [source]},
        "metadata": True,
    }
    if body.ranking_options.score_threshold:
        told["min_score"] = body.ranking_options.score_threshold
    asked = schemas.parse(SearchBody, orjson.dumps(told))
    if body.filters is None:
        return asked
    return asked.model_copy(
        update={"filter": FilterBody(sources=(source,), attributes=body.filters)}
    )


def _best(answers: Sequence[Sequence[dict[str, Any]]], most: int) -> list[dict[str, Any]]:
    """Of what several queries found, each hit once, by the best of its scores."""
    if len(answers) == 1:
        return list(answers[0])
    best: dict[int, dict[str, Any]] = {}
    for hits in answers:
        for hit in hits:
            known = best.get(hit["chunk_id"])
            if known is None or hit["score"] > known["score"]:
                best[hit["chunk_id"]] = hit
    return sorted(best.values(), key=lambda hit: (-hit["score"], hit["chunk_id"]))[:most]


def _found(source: str, hit: dict[str, Any]) -> FoundFile:
    file_id = hit["document_id"].removeprefix(f"{source}/")
    return FoundFile(
        file_id=file_id,
        filename=hit["title"] or file_id,
        score=hit["score"],
        attributes=dict(_attributes(hit["metadata"])),
        content=(Content(text=hit["text"]),),
    )


def _attributes(metadata: dict[str, Any]) -> Iterator[tuple[str, str | float | bool]]:
    """OpenAI's have no lists and no null; a list is told as the JSON that it is."""
    for name, value in metadata.items():
        if value is not None:
            yield name, orjson.dumps(value).decode() if isinstance(value, list) else value
