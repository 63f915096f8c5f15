"""The answer of `GET /v1/receipts/keys`."""

from typing import Literal

from pydantic import Field

from gateway.extension import Body


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
