"""`GET /v1/receipts/keys`: the public keys that verify receipts."""

from typing import Literal

import orjson
from starlette.responses import Response

from gateway import problems
from gateway.http.request_context import RequestContext
from gateway.schemas import Body
from gateway.search.search_services import SearchServices


class ReceiptKey(Body):
    """By RFC 8037, section 2."""

    kty: Literal["OKP"]
    crv: Literal["Ed25519"]
    x: str
    kid: str
    use: Literal["sig"]
    alg: Literal["EdDSA"]


class ReceiptKeySet(Body):
    keys: list[ReceiptKey]


async def get_receipt_keys(context: RequestContext[SearchServices]) -> Response:
    """A 404 `Problem` if the operator has configured no keys."""
    receipts = context.services.receipts
    if receipts is None:
        detail = "There are no keys: the operator sets NEARHIT_RECEIPT_KEYS."
        raise problems.not_found("path", detail)
    return Response(orjson.dumps(receipts.keys.published), media_type="application/json")
