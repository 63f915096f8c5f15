"""Web tokens of an external issuer (JWT, RFC 7519): verified with its keys, and read as claims.

Each key verifies one algorithm, whatever the token's header says. RS256, ES256 and EdDSA need a
key that the issuer publishes for that algorithm; HS256 needs the shared secret, if one is set.

A web token, and each token made with it, is valid only while the issuer publishes the key that
verified it. Keys are identified by thumbprint, because another key can have the same `kid`.
"""

import hashlib
import hmac
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import httpx2
import jwt
from pydantic import TypeAdapter

from gateway.extension import (
    ROLES,
    CommandError,
    Role,
    Settings,
    problems,
    protected_resource,
    schemas,
)
from gateway.extensions._web import tls
from gateway.extensions.web_tokens.audiences import normal_form, normal_forms
from gateway.extensions.web_tokens.jwks_client import (
    FETCH_S_MAX,
    KEY_TYPES,
    JwksClient,
    VerificationKey,
)
from index.model.identifiers import GROUPS_MAX, Groups, SubjectId
from index.model.provenance import AGENTS_MAX
from index.tenants.principals import Claims

KEYS_LIFETIME_S = 300.0  # then they are fetched again; a withdrawn key is accepted for so long
_KEYS_STALE_S_MAX = 3_600.0  # while the issuer is away; then a web token gets 503
_LEEWAY_S = 30.0  # between the issuer's clock and ours
_STRING_CLAIMS = ("scope", "scp")  # OAuth's, which are one string of names (RFC 6749, section 3.3)

_SUBJECT: TypeAdapter[str] = TypeAdapter(SubjectId)
_GROUPS: TypeAdapter[tuple[str, ...]] = TypeAdapter(Groups)
_TENANT = TypeAdapter(schemas.TenantId)


class SigningKeys(Protocol):
    async def key(self, key_id: str | None, algorithm: str, /) -> VerificationKey | None:
        """The issuer's key with this identifier, or its only key, if it fits the algorithm."""

    async def is_published(self, thumbprint: str, /) -> bool: ...


@dataclass(frozen=True, slots=True)
class ClaimMapping:
    """The names of the claims; a dot leads into an object.

    roles_default: the roles of a token that names none of `ROLES`.
    """

    tenant: str
    subject: str
    groups: str
    roles: str
    roles_default: tuple[Role, ...]


class WebTokenReader:
    """Verifies web tokens. keys, secret: None refuses the tokens that need them.

    audience: stands for the whole service, and None for no audience.
    resource: its URL is an audience too, of tokens that count at `/mcp` only.
    """

    def __init__(
        self,
        keys: SigningKeys | None,
        secret: str | None,
        *,
        issuer: str,
        audience: str | None,
        leeway_s: float,
        mapping: ClaimMapping,
        resource: protected_resource.ProtectedResource | None = None,
    ) -> None:
        self._keys = keys
        self._secret = None if secret is None else VerificationKey(secret, _secret_id(secret))
        self._issuer = issuer
        self._audience = None if audience is None else normal_form(audience)
        urls = () if resource is None else (normal_form(resource.url),)
        self._audiences = frozenset(filter(None, (self._audience, *urls)))
        self._leeway_s = leeway_s
        self._mapping = mapping
        self._resource = resource

    async def claims(self, credential: bytes) -> Claims | None:
        """The claims of a valid web token; None if the credential does not look like one.

        Raises a 401 `Problem` if it is invalid, a 503 if no usable keys are available.
        """
        if credential.count(b".") != 2:
            return None
        try:
            return await self._verify(credential)
        except jwt.InvalidTokenError as error:
            raise problems.unauthorized(f"Invalid web token: {_reason(error)}.") from None

    async def check_issuer_key(self, thumbprint: str) -> None:
        """Raise a 401 `Problem` if the issuer no longer publishes the key; a 503 if unknown."""
        if self._secret is not None and thumbprint == self._secret.thumbprint:
            return
        if self._keys is None or not await self._keys.is_published(thumbprint):
            raise problems.unauthorized(
                "Invalid web token: its issuer has withdrawn the key that signed it."
            )

    async def _verify(self, token: bytes) -> Claims:
        header = jwt.get_unverified_header(token)
        algorithm, key_id = str(header.get("alg")), header.get("kid")
        key: VerificationKey | None = None
        if algorithm == "HS256":
            key = self._secret
        elif algorithm in KEY_TYPES and self._keys is not None:
            key = await self._keys.key(key_id, algorithm)
        if key is None:
            raise jwt.InvalidSignatureError("no key of the issuer matches")
        claims = jwt.decode(
            token,
            key.key,
            algorithms=[algorithm],
            issuer=self._issuer,
            leeway=self._leeway_s,
            options={"require": ["exp", "iss", "aud"], "verify_aud": False},
        )
        audiences = normal_forms(claims["aud"])
        if audiences.isdisjoint(self._audiences):
            raise jwt.InvalidAudienceError("none of its audiences is this service")
        try:
            return self._parse_claims(claims, key.thumbprint, audiences)
        except (
            ArithmeticError,
            OSError,
            TypeError,
            ValueError,
        ):  # or a subclass, such as pydantic's
            raise problems.unauthorized(
                "Invalid web token: a claim has the wrong type or value."
            ) from None

    def _parse_claims(
        self, claims: Mapping[str, Any], issuer_key: str, audiences: frozenset[str]
    ) -> Claims:
        mapping = self._mapping
        roles = self._names(claims, mapping.roles)
        own_roles = tuple(role for role in ROLES if role in roles)
        if own_roles == ("publisher",):  # which alone may call nothing
            own_roles = tuple(dict.fromkeys((*mapping.roles_default, *own_roles)))
        return Claims(
            tenant=_TENANT.validate_python(find_claim(claims, mapping.tenant)),
            subject=_SUBJECT.validate_python(find_claim(claims, mapping.subject)),
            groups=self._groups(claims),
            roles=own_roles or mapping.roles_default,
            expires_at=datetime.fromtimestamp(int(claims["exp"]), UTC)
            + timedelta(seconds=self._leeway_s),
            issuer_key=issuer_key,
            is_mcp_only=self._audience not in audiences,
            has_mcp_scopes=self._resource is None
            or self._resource.has_scopes(_strings(claims.get("scope") or claims.get("scp"))),
            agents=_actors(claims.get("act")),
        )

    def _groups(self, claims: Mapping[str, Any]) -> tuple[str, ...]:
        """The groups that the token lists. A 403 `Problem` if it leaves them out, or has more."""
        if _omits(claims, self._mapping.groups):
            raise problems.groups_omitted()
        names = {*self._names(claims, self._mapping.groups)}
        if len(names) > GROUPS_MAX:
            raise problems.groups_omitted(len(names))
        return tuple(sorted({*_GROUPS.validate_python(tuple(names))}))

    def _names(self, claims: Mapping[str, Any], path: str) -> list[str]:
        """The strings of a claim. Raises `ValueError` if it has another type."""
        names = find_claim(claims, path)
        if names is None:
            return []
        if isinstance(names, str) and path in _STRING_CLAIMS:
            return names.split()
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError(f"{path} must be a list of strings")
        return names


def check(settings: Settings) -> None:
    """Raises `CommandError` for settings of web tokens that a gateway can't have together.

    A worker may: it reads no tokens, so that the chart gives it no `NEARHIT_JWT_SECRET`.
    """
    resource, issuer = settings.mcp_resource_url, settings.jwt_issuer
    audience = settings.jwt_audience
    if settings.jwt_jwks_url is None and settings.jwt_secret is None:
        if resource or issuer or audience:
            raise CommandError(
                "NEARHIT_JWT_ISSUER, NEARHIT_JWT_AUDIENCE and NEARHIT_MCP_RESOURCE_URL need the "
                "keys of web tokens: set NEARHIT_JWT_JWKS_URL or NEARHIT_JWT_SECRET"
            )
    elif issuer is None or (audience is None and resource is None):
        raise CommandError(
            "web tokens need NEARHIT_JWT_ISSUER and NEARHIT_JWT_AUDIENCE: the issuer that a token "
            "must name, and the audience that stands for this service"
        )
    elif resource is not None and not issuer.startswith(("https://", "http://")):
        raise CommandError(
            "NEARHIT_MCP_RESOURCE_URL needs a URL in NEARHIT_JWT_ISSUER: clients log in there"
        )


@asynccontextmanager
async def open_client(settings: Settings) -> AsyncIterator[WebTokenReader | None]:
    """The configured reader; None if no keys are configured. Raises what `check` raises."""
    check(settings)
    url, secret = settings.jwt_jwks_url, settings.jwt_secret
    if url is None and secret is None:
        yield None
        return
    assert settings.jwt_issuer is not None
    resource = protected_resource.build(settings)
    async with AsyncExitStack() as stack:
        keys = None
        if url is not None:
            client = httpx2.AsyncClient(
                timeout=FETCH_S_MAX, follow_redirects=False, verify=tls.verifying()
            )
            await stack.enter_async_context(client)
            keys = JwksClient(
                client,
                url,
                time.monotonic,
                lifetime_s=KEYS_LIFETIME_S,
                stale_s_max=_KEYS_STALE_S_MAX,
            )
            stack.push_async_callback(keys.close)
        yield WebTokenReader(
            keys,
            None if secret is None else secret.get_secret_value(),
            issuer=settings.jwt_issuer,
            audience=settings.jwt_audience,
            leeway_s=_LEEWAY_S,
            mapping=ClaimMapping(
                settings.claim("tenant"),
                settings.claim("subject"),
                settings.claim("groups"),
                settings.claim("roles"),
                settings.jwt_default_roles,
            ),
            resource=resource,
        )


def find_claim(claims: Mapping[str, Any], path: str) -> Any:
    """The claim of this name, such as a URL, or else the value at the dotted path, or None."""
    if path in claims:
        return claims[path]
    value: Any = claims
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _omits(claims: Mapping[str, Any], name: str) -> bool:
    """Whether the issuer has left a claim out because it would be too long.

    It names a service to ask instead (OpenID Connect Core, section 5.6.2), or, in a short token,
    says only that there are groups: Entra ID sends these from 201, 151 or 6 groups on. Whatever has
    another form than the standard's may leave out any claim.
    """
    elsewhere = claims.get("_claim_names")
    return (
        (name in elsewhere if isinstance(elsewhere, Mapping) else elsewhere is not None)
        or any(str(claim).startswith(f"{name}:src") for claim in claims)
        or (name == "groups" and str(claims.get("hasgroups") or False).lower() != "false")
    )


def _actors(act: Any) -> tuple[str, ...]:
    """Who acts for the subject, the current one first: RFC 8693, section 4.1.

    Raises `ValueError` for what names nobody: an agent must not pass for a person.
    """
    actors = list[str]()
    while act is not None:
        if not isinstance(act, Mapping) or len(actors) == AGENTS_MAX:
            raise ValueError(f"act must name at most {AGENTS_MAX} actors")
        actors.append(_SUBJECT.validate_python(act.get("sub") or act.get("client_id")))
        act = act.get("act")
    return tuple(actors)


def _strings(claim: Any) -> list[Any]:
    """The parts of a claim that is a list, or one string with parts separated by spaces."""
    return claim.split() if isinstance(claim, str) else claim if isinstance(claim, list) else []


def _secret_id(secret: str) -> str:
    """An identifier of the secret. It helps a guesser no more than a signed token does."""
    return hmac.new(secret.encode(), b"nearhit issuer key", hashlib.sha256).hexdigest()


def _reason(error: jwt.InvalidTokenError) -> str:
    match error:
        case jwt.ExpiredSignatureError():
            return "it has expired"
        case jwt.ImmatureSignatureError():
            return "it is not valid yet"
        case jwt.InvalidAudienceError():
            return "its audience is another service"
        case jwt.InvalidIssuerError():
            return "its issuer is another one"
        case jwt.MissingRequiredClaimError():
            return f"it lacks the claim {error.claim}"
        case jwt.InvalidSignatureError():
            return "no key of the issuer verifies its signature"
        case _:
            return "it is malformed"
