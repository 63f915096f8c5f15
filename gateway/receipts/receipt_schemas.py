"""The response of `GET /v1/receipts/keys`."""

from typing import Literal

from gateway.schemas import Body


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
