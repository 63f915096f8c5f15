"""A receipt: a statement about one answer, signed as a JSON Web Signature (RFC 7515).

It names the answer by digests, and holds no text. Whoever has the answer, the request and the
public keys can verify it without asking the gateway; see `nearhit verify`.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import jwt
from jwt import PyJWK, PyJWS
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gateway.extension import decode_answer
from gateway.extensions.receipts.receipt_keys import ALGORITHM, ReceiptKeys

TYPE = "nearhit-receipt+jws"
CHUNKS_MAX = 100  # digests in one receipt, which is a header: 60 bytes each
RECEIPT_BYTES_MAX = 64_000

_JWS = PyJWS(algorithms=[ALGORITHM])


class AuditLogHead(BaseModel):
    """The last row of the tenant's audit log when the receipt was made."""

    model_config = ConfigDict(frozen=True)

    number: int
    hash: str


class Statement(BaseModel):
    """What a receipt states. Digests are SHA-256, in hexadecimal digits, unless they say otherwise.

    request:  digest of the request's body as it was sent.
    query:    Nearhit's own digest of the search, with the filter of the caller's token.
    scope:    Nearhit's own fingerprint of what the caller may see.
    revision: `Nearhit-Revision` of the answer.
    answer:   digest of the response's body.
    chunks:   digests of the texts of the first `CHUNKS_MAX` hits, in their order.
    """

    model_config = ConfigDict(frozen=True)

    iat: int = Field(description="seconds since 1970")
    tenant: str
    request: str
    query: str
    scope: str
    revision: str
    answer: str
    chunks: tuple[str, ...]
    audit_log: AuditLogHead | None


class InvalidReceipt(Exception):
    """Says what is wrong."""


def sign(statement: Statement, keys: ReceiptKeys) -> str:
    payload = statement.model_dump_json().encode()
    headers = {"kid": keys.key_id, "typ": TYPE}
    return _JWS.encode(payload, keys.signing, ALGORITHM, headers)


def verify(
    receipt: str, published: Mapping[str, Any], *, request: bytes | None, answer: bytes | None
) -> Statement:
    """The statement of a valid receipt. Raises `InvalidReceipt`.

    published: a JSON Web Key Set that the caller trusts. request, answer: None is not compared.
    """
    if len(receipt) > RECEIPT_BYTES_MAX:
        raise InvalidReceipt(f"it is longer than {RECEIPT_BYTES_MAX:,} bytes")
    statement = _open(receipt, published)
    if request is not None and digest(request) != statement.request:
        raise InvalidReceipt("it was made for another request")
    if answer is not None and digest(answer) != statement.answer:
        raise InvalidReceipt("it was made for another answer")
    if answer is not None and chunk_digests(decode_answer(answer)) != statement.chunks:
        raise InvalidReceipt("its chunks are not those of the answer")
    return statement


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def chunk_digests(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """answer: decoded."""
    return tuple(digest(hit["text"].encode()) for hit in answer["hits"][:CHUNKS_MAX])


def _open(receipt: str, published: Mapping[str, Any]) -> Statement:
    try:
        header = jwt.get_unverified_header(receipt)
        if header.get("typ") != TYPE:
            raise InvalidReceipt("it is a signature of another kind")
        keys = [key for key in published["keys"] if key["kid"] == header.get("kid")]
        if len(keys) != 1:
            raise InvalidReceipt("none of the keys has signed it")
        payload = _JWS.decode(receipt, PyJWK(keys[0], ALGORITHM), algorithms=[ALGORITHM])
        return Statement.model_validate_json(payload)
    except jwt.InvalidSignatureError:
        raise InvalidReceipt("its signature is wrong") from None
    except (jwt.PyJWTError, ValidationError, KeyError, TypeError, ValueError):
        raise InvalidReceipt("it, or the key set, is malformed") from None
