"""Web tokens of another issuer (JWT, RFC 7519): checked by its keys, and read as claims.

A key checks one algorithm, whatever a token says: RS256, ES256 and EdDSA take one of the issuer's
published keys that is made for just that, HS256 the shared secret, and only if there is one.

A web token, and each token made with it, works only while the issuer publishes the key that
verified it. The key is known by its thumbprint, so that another key under the same name is another.
"""

import asyncio
import base64
import hashlib
import hmac
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import httpx2
import jwt
import orjson
import structlog
from jwt import PyJWK
from pydantic import BaseModel, TypeAdapter

from gateway import problems
from gateway.auth.authenticator import ROLES, Role
from gateway.errors import CommandError
from gateway.schemas import TenantId
from gateway.settings import Settings
from index.model.document import Owner
from index.tenants.principals import Claims

_KINDS = {"RS256": "RSA", "ES256": "EC", "EdDSA": "OKP"}
_THUMBPRINT_MEMBERS = {"RSA": ("e", "kty", "n"), "EC": ("crv", "kty", "x", "y"),
                       "OKP": ("crv", "kty", "x")}  # fmt: skip
_KEYS_BYTES_MAX = 1_000_000
_FETCH_S_MAX = 5.0
_PAUSE_S = 10.0  # between two fetches for keys that nobody knows: strangers can name any
_GROUPS_MAX = 256

_NAME = TypeAdapter(Owner)
_TENANT = TypeAdapter(TenantId)

log = structlog.get_logger()


class _KeySet(BaseModel):
    keys: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class VerificationKey:
    """A key that verifies signatures, and its thumbprint (RFC 7638)."""

    key: PyJWK | str
    thumbprint: str


class SigningKeys(Protocol):
    async def key(self, key_id: str | None, algorithm: str, /) -> VerificationKey | None:
        """The issuer's key of this identifier, or its only one, if it is made for that."""

    async def is_published(self, thumbprint: str, /) -> bool: ...


@dataclass(frozen=True, slots=True)
class ClaimMapping:
    """Which claims say what; a dot leads into an object. roles_default: of a token that names none.

    strings_allowed: whether groups and roles may also be one string, with spaces between names.
    """

    tenant: str
    subject: str
    groups: str
    roles: str
    roles_default: tuple[Role, ...]
    strings_allowed: bool = False


class WebTokenReader:
    def __init__(
        self,
        keys: SigningKeys | None,
        secret: str | None,
        *,
        issuer: str,
        audience: str,
        leeway_s: float,
        mapped: ClaimMapping,
    ) -> None:
        self._keys = keys
        self._secret = None if secret is None else VerificationKey(secret, _secret_id(secret))
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

    async def check_issuer_key(self, thumbprint: str) -> None:
        """A 401 `Problem` if the issuer no longer publishes the key; a 503 if that is unknown."""
        if self._secret is not None and thumbprint == self._secret.thumbprint:
            return
        if self._keys is None or not await self._keys.is_published(thumbprint):
            raise problems.unauthorized(
                "The web token is refused: its issuer has withdrawn the key that signed it."
            )

    async def _checked(self, token: bytes) -> Claims:
        header = jwt.get_unverified_header(token)
        algorithm, key_id = str(header.get("alg")), header.get("kid")
        key: VerificationKey | None = None
        if algorithm == "HS256":
            key = self._secret
        elif algorithm in _KINDS and self._keys is not None:
            key = await self._keys.key(key_id, algorithm)
        if key is None:
            raise jwt.InvalidSignatureError("no key of the issuer fits it")
        claims = jwt.decode(
            token,
            key.key,
            algorithms=[algorithm],
            issuer=self._issuer,
            audience=self._audience,
            leeway=self._leeway_s,
            options={"require": ["exp", "iss", "aud"]},
        )
        try:
            return self._read(claims, key.thumbprint)
        except (ArithmeticError, OSError, TypeError, ValueError):  # pydantic's is one of them
            raise problems.unauthorized(
                "The web token is refused: a claim has not the form that it should have."
            ) from None

    def _read(self, said: Mapping[str, Any], issuer_key: str) -> Claims:
        mapped = self._mapped
        roles = self._names(said, mapped.roles)
        groups = self._names(said, mapped.groups)
        if len(groups) > _GROUPS_MAX:
            raise ValueError(f"more than {_GROUPS_MAX} groups")
        known = tuple(role for role in ROLES if role in roles)
        return Claims(
            tenant=_TENANT.validate_python(claim(said, mapped.tenant)),
            subject=_NAME.validate_python(claim(said, mapped.subject)),
            groups=tuple(sorted({_NAME.validate_python(each) for each in groups})),
            roles=known or mapped.roles_default,
            expires_at=datetime.fromtimestamp(int(said["exp"]), UTC)
            + timedelta(seconds=self._leeway_s),
            issuer_key=issuer_key,
        )

    def _names(self, said: Mapping[str, Any], path: str) -> list[str]:
        """Of a list of strings; raises `ValueError` for anything else that the claim may be."""
        names = claim(said, path)
        if names is None:
            return []
        if isinstance(names, str) and self._mapped.strings_allowed:
            return names.split()
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError(f"{path} must be a list of strings")
        return names


class JwksClient:
    """A JSON Web Key Set (RFC 7517), fetched when it is needed and is old or lacks a key.

    lifetime_s: after which it is fetched again before it is used.
    stale_s_max: how old it may be at most while the issuer can't be reached.
    """

    def __init__(
        self,
        client: httpx2.AsyncClient,
        url: str,
        clock_s: Callable[[], float],
        *,
        lifetime_s: float,
        stale_s_max: float,
    ) -> None:
        self._client = client
        self._url = url
        self._clock_s = clock_s
        self._lifetime_s = min(lifetime_s, stale_s_max)
        self._stale_s_max = stale_s_max
        self._held: list[dict[str, Any]] = []
        self._thumbprints: frozenset[str] = frozenset()
        self._fetched_s = self._tried_s = float("-inf")
        self._is_away = False
        self._fetching = asyncio.Lock()

    async def key(self, key_id: str | None, algorithm: str) -> VerificationKey | None:
        """None if there is none, or more than one. A 503 `Problem` if no keys can be believed."""
        await self._refresh()
        found = self._fitting(key_id, algorithm)
        if found is None:
            await self._fetch()
            found = self._fitting(key_id, algorithm)
        return found

    async def is_published(self, thumbprint: str) -> bool:
        """Whether the key is in the set. A 503 `Problem` if no keys can be believed."""
        await self._refresh()
        return thumbprint in self._thumbprints

    def _fitting(self, key_id: str | None, algorithm: str) -> VerificationKey | None:
        fitting = [
            key
            for key in self._held
            if key.get("kty") == _KINDS[algorithm]
            and key.get("use", "sig") == "sig"
            and key.get("alg", algorithm) == algorithm
            and (key_id is None or key.get("kid") == key_id)
        ]
        if len(fitting) != 1:  # whoever names none means the only one
            return None
        thumbprint = _thumbprint(fitting[0])
        if thumbprint is None:
            return None
        try:
            return VerificationKey(PyJWK(fitting[0], algorithm), thumbprint)
        except jwt.PyJWTError:
            return None

    async def _refresh(self) -> None:
        """Fetch the keys if they are old. While the issuer is away, one request at a time tries."""
        if self._age_s() > self._lifetime_s:
            if not (self._is_away and self._fetching.locked()):
                await self._fetch()
            if self._age_s() > self._stale_s_max:
                raise problems.issuer_unavailable()

    def _age_s(self) -> float:
        return self._clock_s() - self._fetched_s

    async def _fetch(self) -> None:
        """Unless that was tried a moment ago; keys that are there stay if it fails."""
        asked_s = self._clock_s()
        async with self._fetching:
            if self._tried_s > asked_s - min(_PAUSE_S, self._lifetime_s):
                return
            self._tried_s = self._clock_s()
            try:
                self._held = await self._read()
            except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as failed:
                self._is_away = True
                log.warning(
                    "issuer", state="unavailable", detail=f"{type(failed).__name__}: {failed}"
                )
                return
            self._thumbprints = frozenset(filter(None, map(_thumbprint, self._held)))
            self._fetched_s, self._is_away = self._tried_s, False

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
async def open_client(
    settings: Settings, clock_s: Callable[[], float]
) -> AsyncIterator[WebTokenReader | None]:
    """What the settings say; None if they name no issuer. Raises `NotPossible`."""
    url, secret = settings.jwt_jwks_url, settings.jwt_secret
    if url is None and secret is None:
        yield None
        return
    if settings.jwt_issuer is None or settings.jwt_audience is None:
        raise CommandError(
            "web tokens need NEARHIT_JWT_ISSUER and NEARHIT_JWT_AUDIENCE: whose they are, and that "
            "they are meant for this service"
        )
    async with AsyncExitStack() as meanwhile:
        keys = None
        if url is not None:
            client = httpx2.AsyncClient(timeout=_FETCH_S_MAX, follow_redirects=False)
            await meanwhile.enter_async_context(client)
            keys = JwksClient(
                client,
                url,
                clock_s,
                lifetime_s=settings.jwt_jwks_lifetime_s,
                stale_s_max=settings.jwt_jwks_stale_s_max,
            )
        yield WebTokenReader(
            keys,
            None if secret is None else secret.get_secret_value(),
            issuer=settings.jwt_issuer,
            audience=settings.jwt_audience,
            leeway_s=settings.jwt_leeway_s,
            mapped=ClaimMapping(
                settings.jwt_tenant_claim,
                settings.jwt_subject_claim,
                settings.jwt_groups_claim,
                settings.jwt_roles_claim,
                settings.jwt_default_roles,
                strings_allowed=settings.jwt_string_claims_allowed,
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


def _thumbprint(key: Mapping[str, Any]) -> str | None:
    """By RFC 7638: of the key alone, whatever it is called. None if it lacks a part."""
    members = {name: key.get(name) for name in _THUMBPRINT_MEMBERS.get(str(key.get("kty")), ())}
    if not members or not all(isinstance(value, str) for value in members.values()):
        return None
    digest = hashlib.sha256(orjson.dumps(members, option=orjson.OPT_SORT_KEYS)).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _secret_id(secret: str) -> str:
    """Another one for another secret. Each token that it signs lets its holder test a guess too."""
    return hmac.new(secret.encode(), b"nearhit issuer key", hashlib.sha256).hexdigest()


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
