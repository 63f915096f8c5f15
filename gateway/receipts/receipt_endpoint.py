"""`GET /v1/receipts/keys`: the public keys that verify receipts."""

from typing import Literal

import orjson
from pydantic import Field
from starlette.responses import Response

from gateway import problems
from gateway.http.request_context import RequestContext
from gateway.schemas import Body
from gateway.search.search_services import SearchServices


class ReceiptKey(Body):
    """By RFC 8037, section 2."""

    kty: Literal["OKP"] = Field(description="kind of the key, RFC 8037")
    crv: Literal["Ed25519"] = Field(description="curve of the key")
    x: str = Field(description="the public key, base64url")
    kid: str = Field(description="identifier of the key, which a receipt names")
    use: Literal["sig"] = Field(description="always `sig`")
    alg: Literal["EdDSA"] = Field(description="algorithm of the signature")


class ReceiptKeySet(Body):
    keys: list[ReceiptKey] = Field(description="public keys of receipts; the first signs")


async def get_receipt_keys(context: RequestContext[SearchServices]) -> Response:
    """A 404 `Problem` if the operator has configured no keys."""
    receipts = context.services.receipts
    if receipts is None:
        detail = "There are no keys: the operator sets NEARHIT_RECEIPT_KEYS."
        raise problems.not_found("path", detail)
    return Response(orjson.dumps(receipts.keys.published), media_type="application/json")
