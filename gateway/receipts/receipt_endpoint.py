"""`GET /v1/receipts/keys`: the public keys that verify receipts."""

import orjson
from starlette.responses import Response

from gateway import problems
from gateway.http.request_context import RequestContext
from gateway.search.search_services import SearchServices


async def get_receipt_keys(context: RequestContext[SearchServices]) -> Response:
    """A 404 `Problem` if the operator has configured no keys."""
    receipts = context.services.receipts
    if receipts is None:
        detail = "There are no keys: the operator sets NEARHIT_RECEIPT_KEYS."
        raise problems.not_found("path", detail)
    return Response(orjson.dumps(receipts.keys.published), media_type="application/json")
