"""Another issuer of web tokens: real keys, published over HTTP; it may rotate them and be away."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

ISSUER, AUDIENCE = "https://login.example", "nearhit"
ALGORITHMS = ("RS256", "ES256", "EdDSA")


class Issuer:
    """published: the key set as it is sent; status: what it is sent with."""

    def __init__(self) -> None:
        self.url = ""
        self.status = 200
        self.fetches = 0
        self._keys: dict[tuple[str, str], Any] = {}
        self.published: Any = {"keys": []}
        for algorithm in ALGORITHMS:
            self.rotate(algorithm, f"{algorithm}-1")

    def rotate(self, algorithm: str, key_id: str) -> None:
        """Another key for the algorithm, published beside those that are there."""
        key, public = _pair(algorithm)
        self._keys[algorithm, key_id] = key
        self.published["keys"].append({**public, "kid": key_id, "use": "sig", "alg": algorithm})

    def withdraw(self, key_id: str) -> None:
        self.published["keys"] = [key for key in self.published["keys"] if key["kid"] != key_id]

    def key(self, algorithm: str = "RS256", key_id: str | None = None) -> Any:
        return self._keys[algorithm, key_id or f"{algorithm}-1"]

    def token(self, algorithm: str = "RS256", key_id: str | None = None, **claims: Any) -> str:
        """Of ana at acme for five minutes, unless the claims say otherwise; None leaves one out."""
        key_id = key_id or f"{algorithm}-1"
        said = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "exp": int(time.time()) + 300,
            "sub": "ana",
            "tenant": "acme",
        }
        said = {name: value for name, value in (said | claims).items() if value is not None}
        return jwt.encode(
            said, self._keys[algorithm, key_id], algorithm=algorithm, headers={"kid": key_id}
        )

    async def answer(self, _: Request) -> Response:
        self.fetches += 1
        return Response(json.dumps(self.published), self.status, media_type="application/json")


@asynccontextmanager
async def issuing() -> AsyncIterator[Issuer]:
    issuer = Issuer()
    listener = socket.create_server(("127.0.0.1", 0))
    issuer.url = f"http://127.0.0.1:{listener.getsockname()[1]}/keys"
    app = Starlette(routes=[Route("/keys", issuer.answer)])
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, ws="none"))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield issuer
    finally:
        server.should_exit = True
        await serving


def _pair(algorithm: str) -> tuple[Any, dict[str, Any]]:
    match algorithm:
        case "RS256":
            rsa_key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
            return rsa_key, RSAAlgorithm.to_jwk(rsa_key.public_key(), as_dict=True)
        case "ES256":
            ec_key = ec.generate_private_key(ec.SECP256R1())
            return ec_key, ECAlgorithm.to_jwk(ec_key.public_key(), as_dict=True)
        case _:
            ed_key = ed25519.Ed25519PrivateKey.generate()
            return ed_key, OKPAlgorithm.to_jwk(ed_key.public_key(), as_dict=True)
