"""Web tokens of another issuer (JWT, RFC 7519): checked by its keys, and read as claims.

A key checks one algorithm, whatever a token says: RS256, ES256 and EdDSA take one of the issuer's
published keys that is made for just that, HS256 the shared secret, and only if there is one.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import httpx2
import jwt
import structlog
from jwt import PyJWK
from pydantic import BaseModel, TypeAdapter

from gateway import problems
from gateway.errors import NotPossible
from gateway.principal import ROLES, Role
from gateway.settings import Settings
from gateway.wire import TenantId
from index.document import Owner
from index.principals import Claims

_KINDS = {"RS256": "RSA", "ES256": "EC", "EdDSA": "OKP"}
_KEYS_BYTES_MAX = 1_000_000
_FETCH_S_MAX = 5.0
_PAUSE_S = 10.0  # between two fetches for keys that nobody knows: strangers can name any
_GROUPS_MAX = 256

_NAME = TypeAdapter(Owner)
_TENANT = TypeAdapter(TenantId)

log = structlog.get_logger()


class _KeySet(BaseModel):
    keys: list[dict[str, Any]]


class Keys(Protocol):
    async def key(self, key_id: str | None, algorithm: str, /) -> PyJWK | None:
        """The issuer's key of this identifier, or its only one, if it is made for that."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """Which claims say what; a dot leads into an object. roles: of a token that names none."""

    tenant: str
    subject: str
    groups: str
    roles: str
    roles_default: tuple[Role, ...]


class WebTokens:
    def __init__(
        self,
        keys: Keys | None,
        secret: str | None,
        *,
        issuer: str,
        audience: str,
        leeway_s: float,
        mapped: Mapped,
    ) -> None:
        self._keys = keys
        self._secret = secret
        self._issuer = issuer
        self._audience = audience
        self._leeway_s = leeway_s
        self._mapped = mapped

    async def claims(self, credential: bytes) -> Claims | None:
        """None if it is no web token by its looks; a 401 `Problem` if it is not to be believed.

        A 503 while there are no keys to check it by.
        """
        if credential.count(b".") != 2:
            return None
        try:
            return await self._checked(credential)
        except jwt.InvalidTokenError as refused:
            raise problems.unauthorized(f"The web token is refused: {_why(refused)}.") from None

    async def _checked(self, token: bytes) -> Claims:
        header = jwt.get_unverified_header(token)
        algorithm, key_id = str(header.get("alg")), header.get("kid")
        key: PyJWK | str | None = None
        if algorithm == "HS256":
            key = self._secret
        elif algorithm in _KINDS and self._keys is not None:
            key = await self._keys.key(key_id, algorithm)
        if key is None:
            raise jwt.InvalidSignatureError("no key of the issuer fits it")
        said = jwt.decode(
            token,
            key,
            algorithms=[algorithm],
            issuer=self._issuer,
            audience=self._audience,
            leeway=self._leeway_s,
            options={"require": ["exp", "iss", "aud"]},
        )
        try:
            return self._read(said)
        except (ArithmeticError, OSError, TypeError, ValueError):  # pydantic's is one of them
            raise jwt.InvalidTokenError("a claim is not as it should be") from None

    def _read(self, said: Mapping[str, Any]) -> Claims:
        mapped = self._mapped
        roles = _names(claim(said, mapped.roles))
        known = tuple(role for role in ROLES if role in roles)
        return Claims(
            tenant=_TENANT.validate_python(claim(said, mapped.tenant)),
            subject=_NAME.validate_python(claim(said, mapped.subject)),
            groups=tuple(sorted({_NAME.validate_python(each) for each in self._groups(said)})),
            roles=known or mapped.roles_default,
            expires_at=datetime.fromtimestamp(int(said["exp"]), UTC)
            + timedelta(seconds=self._leeway_s),
        )

    def _groups(self, said: Mapping[str, Any]) -> list[Any]:
        groups = _names(claim(said, self._mapped.groups))
        if len(groups) > _GROUPS_MAX:
            raise ValueError(f"more than {_GROUPS_MAX} groups")
        return groups


class IssuersKeys:
    """A JSON Web Key Set (RFC 7517), fetched when it is needed and is old or lacks a key."""

    def __init__(
        self,
        client: httpx2.AsyncClient,
        url: str,
        clock_s: Callable[[], float],
        *,
        lifetime_s: float,
    ) -> None:
        self._client = client
        self._url = url
        self._clock_s = clock_s
        self._lifetime_s = lifetime_s
        self._held: list[dict[str, Any]] | None = None
        self._fetched_s = self._tried_s = float("-inf")
        self._fetching = asyncio.Lock()

    async def key(self, key_id: str | None, algorithm: str) -> PyJWK | None:
        """None if there is none, or more than one. A 503 `Problem` if there are no keys at all."""
        if self._held is None or self._clock_s() - self._fetched_s > self._lifetime_s:
            await self._fetch()
        found = self._fitting(key_id, algorithm)
        if found is None:
            await self._fetch()
            found = self._fitting(key_id, algorithm)
        return found

    def _fitting(self, key_id: str | None, algorithm: str) -> PyJWK | None:
        fitting = [
            key
            for key in self._held or ()
            if key.get("kty") == _KINDS[algorithm]
            and key.get("use", "sig") == "sig"
            and key.get("alg", algorithm) == algorithm
            and (key_id is None or key.get("kid") == key_id)
        ]
        if len(fitting) != 1:  # whoever names none means the only one
            return None
        try:
            return PyJWK(fitting[0], algorithm)
        except jwt.PyJWTError:
            return None

    async def _fetch(self) -> None:
        """Unless that was tried a moment ago; keys that are there stay if it fails."""
        asked_s = self._clock_s()
        async with self._fetching:
            if self._tried_s > asked_s - _PAUSE_S:
                if self._held is None:
                    raise problems.issuer_away()
                return
            self._tried_s = self._clock_s()
            try:
                self._held = await self._read()
                self._fetched_s = self._tried_s
            except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as failed:
                log.warning("issuer", state="away", detail=f"{type(failed).__name__}: {failed}")
                if self._held is None:
                    raise problems.issuer_away() from failed

    async def _read(self) -> list[dict[str, Any]]:
        received = bytearray()
        async with self._client.stream("GET", self._url) as response:
            response.raise_for_status()
            async for part in response.aiter_bytes():
                received += part
                if len(received) > _KEYS_BYTES_MAX:
                    raise ValueError("too many keys")
        return _KeySet.model_validate_json(bytes(received)).keys


@asynccontextmanager
async def opened(
    settings: Settings, clock_s: Callable[[], float]
) -> AsyncIterator[WebTokens | None]:
    """What the settings say; None if they name no issuer. Raises `NotPossible`."""
    url, secret = settings.jwt_jwks_url, settings.jwt_secret
    if url is None and secret is None:
        yield None
        return
    if settings.jwt_issuer is None or settings.jwt_audience is None:
        raise NotPossible(
            "web tokens need NEARHIT_JWT_ISSUER and NEARHIT_JWT_AUDIENCE: whose they are, and that "
            "they are meant for this service"
        )
    async with AsyncExitStack() as meanwhile:
        keys = None
        if url is not None:
            client = httpx2.AsyncClient(timeout=_FETCH_S_MAX, follow_redirects=False)
            await meanwhile.enter_async_context(client)
            keys = IssuersKeys(client, url, clock_s, lifetime_s=settings.jwt_jwks_lifetime_s)
        yield WebTokens(
            keys,
            None if secret is None else secret.get_secret_value(),
            issuer=settings.jwt_issuer,
            audience=settings.jwt_audience,
            leeway_s=settings.jwt_leeway_s,
            mapped=Mapped(
                settings.jwt_tenant_claim,
                settings.jwt_subject_claim,
                settings.jwt_groups_claim,
                settings.jwt_roles_claim,
                settings.jwt_roles,
            ),
        )


def claim(said: Mapping[str, Any], path: str) -> Any:
    """By its whole name, as URLs are, or else by the parts of it."""
    if path in said:
        return said[path]
    found: Any = said
    for part in path.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _names(claim: Any) -> list[Any]:
    """A list, or a text with spaces between."""
    if claim is None:
        return []
    return claim.split() if isinstance(claim, str) else list(claim)


def _why(refused: jwt.InvalidTokenError) -> str:
    match refused:
        case jwt.ExpiredSignatureError():
            return "it has expired"
        case jwt.ImmatureSignatureError():
            return "it is not valid yet"
        case jwt.InvalidAudienceError():
            return "it is meant for somebody else"
        case jwt.InvalidIssuerError():
            return "another issuer made it"
        case jwt.MissingRequiredClaimError():
            return f"it lacks the claim {refused.claim}"
        case jwt.InvalidSignatureError():
            return "no key of the issuer has signed it"
        case _:
            return "it can't be read"
