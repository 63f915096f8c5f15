"""An extension: titles for a search field, in the form that browsers and desktops ask for.

`GET /v1/suggest?q=annual` answers `["annual", ["Annual leave", …], [], ["https://…", …]]`, the
OpenSearch Suggestions form. It searches as the caller: nobody sees the title of a document that
they may not read. Cached answers are used as in any search.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson
from nearhit.gateway.extension import (
    ApiRoute,
    Extension,
    Parameter,
    RequestContext,
    SearchBody,
    SearchServices,
    Services,
    schemas,
    search_as_caller,
)
from pydantic_settings import BaseSettings
from starlette.responses import Response

_SUGGESTIONS_MAX = 10
_CALL = "/v1/suggest"


async def suggest(context: RequestContext[SearchServices]) -> Response:
    """Raises a 422 `Problem` about `query` if there is no `q`, or if it is too long."""
    asked = context.request.query_params.get("q", "")
    fields = {"query": asked, "top_k": _SUGGESTIONS_MAX}
    body = schemas.parse(SearchBody, orjson.dumps(fields))
    answered = await search_as_caller(context, context.services, body)
    titled = {hit["title"]: hit["uri"] or "" for hit in orjson.loads(answered.answer.body)["hits"]}
    titled.pop(None, None)
    suggestions = [asked, [*titled], [], [*titled.values()]]
    return Response(orjson.dumps(suggestions), media_type="application/x-suggestions+json")


@asynccontextmanager
async def _open(services: Services, _: BaseSettings) -> AsyncIterator[SearchServices]:
    yield services.search


EXTENSION = Extension(
    summary="suggests titles to a search field",
    routes=(
        ApiRoute(
            "GET",
            _CALL,
            suggest,
            needs="reader",
            summary="Suggest titles of documents that the caller may read",
            media_type="application/x-suggestions+json",
            parameters={"q": Parameter({"type": "string", "description": "what was typed"}, True)},
        ),
    ),
    open=_open,
)
