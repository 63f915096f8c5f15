"""Another issuer of web tokens: real keys, published over HTTP; it may rotate them and be away.

It is an OAuth 2.1 authorization server too: metadata, registration, the code flow with PKCE.
"""

import asyncio
import base64
import hashlib
import json
import secrets
import socket
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlencode

import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

ISSUER, AUDIENCE = "https://login.example", "nearhit"
ALGORITHMS = ("RS256", "ES256", "EdDSA")

Pair: TypeAlias = tuple[Any, dict[str, Any]]  # a private key, and its public key as a JSON Web Key


class Issuer:
    """published: the key set as it is sent; status: what it is sent with.

    base: its identifier as an authorization server. granted: the scopes of the logins to come, the
    last one for all that follow; empty: those that the client asks for.
    asked: the query of each login.
    pairs: its first keys, by their algorithm; others than any issuer's unless they are given.
    """

    def __init__(self, pairs: Mapping[str, Pair] | None = None) -> None:
        self.url = ""
        self.status = 200
        self.fetches = 0
        self.drips = False
        self.asked_for_keys, self.sends_keys = asyncio.Event(), asyncio.Event()
        self.sends_keys.set()
        self.base = ""
        self.granted: list[str] = []
        self.asked: list[dict[str, str]] = []
        self._clients: dict[str, list[str]] = {}
        self._codes: dict[str, dict[str, str]] = {}
        self._keys: dict[tuple[str, str], Any] = {}
        self.published: Any = {"keys": []}
        for algorithm in ALGORITHMS:
            pair = pairs[algorithm] if pairs else _pair(algorithm)
            self._publish(algorithm, f"{algorithm}-1", pair)

    def rotate(self, algorithm: str, key_id: str) -> None:
        """Another key for the algorithm, published beside those that are there."""
        self._publish(algorithm, key_id, _pair(algorithm))

    def _publish(self, algorithm: str, key_id: str, pair: Pair) -> None:
        key, public = pair
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
        self.asked_for_keys.set()
        if self.drips:
            return StreamingResponse(_drip())
        await self.sends_keys.wait()
        return Response(json.dumps(self.published), self.status, media_type="application/json")

    async def metadata(self, _: Request) -> Response:
        """By RFC 8414."""
        return JSONResponse(
            {
                "issuer": self.base,
                "authorization_endpoint": f"{self.base}/authorize",
                "token_endpoint": f"{self.base}/token",
                "registration_endpoint": f"{self.base}/register",
                "jwks_uri": self.url,
                "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
                "authorization_response_iss_parameter_supported": True,
            }
        )

    async def register(self, request: Request) -> Response:
        """By RFC 7591."""
        registered = await request.json()
        client_id = secrets.token_urlsafe(8)
        self._clients[client_id] = registered["redirect_uris"]
        public = {"client_id": client_id, "token_endpoint_auth_method": "none"}
        return JSONResponse({**registered, **public}, 201)

    async def authorize(self, request: Request) -> Response:
        """Ana logs in and agrees."""
        asked = dict(request.query_params)
        if asked["redirect_uri"] not in self._clients.get(asked["client_id"], []):
            return Response("unknown client", 400)
        if asked["response_type"] != "code" or asked["code_challenge_method"] != "S256":
            return Response("not by OAuth 2.1", 400)
        self.asked.append(asked)
        code = secrets.token_urlsafe(16)
        scope = asked.get("scope", "")
        if self.granted:
            scope = self.granted.pop(0) if len(self.granted) > 1 else self.granted[0]
        self._codes[code] = {**asked, "scope": scope}
        back = urlencode({"code": code, "state": asked["state"], "iss": self.base})
        return RedirectResponse(f"{asked['redirect_uri']}?{back}", 302)

    async def exchange(self, request: Request) -> Response:
        """A code for a token, once, for whoever holds the verifier of the login (RFC 7636)."""
        form = dict(parse_qsl((await request.body()).decode()))
        asked = self._codes.pop(form["code"], None)
        proof = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(proof).rstrip(b"=").decode()
        same = ("client_id", "redirect_uri", "resource")
        if (
            asked is None
            or challenge != asked["code_challenge"]
            or any(form.get(name) != asked.get(name) for name in same)
        ):
            return JSONResponse({"error": "invalid_grant"}, 400)
        token = self.token(iss=self.base, aud=asked.get("resource"), scope=asked["scope"])
        return JSONResponse(
            {
                "access_token": token,
                "token_type": "Bearer",
                "expires_in": 300,
                "scope": asked["scope"],
            }
        )


@asynccontextmanager
async def issuing() -> AsyncIterator[Issuer]:
    issuer = Issuer(_shared_pairs())
    listener = socket.create_server(("127.0.0.1", 0))
    issuer.base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    issuer.url = f"{issuer.base}/keys"
    app = Starlette(
        routes=[
            Route("/keys", issuer.answer),
            Route("/.well-known/oauth-authorization-server", issuer.metadata),
            Route("/register", issuer.register, methods=["POST"]),
            Route("/authorize", issuer.authorize),
            Route("/token", issuer.exchange, methods=["POST"]),
        ]
    )
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, ws="none"))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield issuer
    finally:
        server.should_exit = True
        await serving


async def _drip() -> AsyncIterator[bytes]:
    while True:
        yield b" "
        await asyncio.sleep(0.01)


@cache
def _shared_pairs() -> Mapping[str, Pair]:
    """Of all tests in a process: to make a key of RSA takes 60 ms."""
    return {algorithm: _pair(algorithm) for algorithm in ALGORITHMS}


def _pair(algorithm: str) -> Pair:
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
