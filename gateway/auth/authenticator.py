"""Who asks, believed only at the access revision that it was read at."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Protocol, TypeAlias, get_args

from cachetools import LRUCache

from cache.protocol import Revisions
from cache.revision_reader import RevisionReader
from gateway import problems
from gateway.background_flush import FlushBuffer
from gateway.settings import Settings
from index.errors import DatabaseUnavailable
from index.model.scope import PUBLIC
from index.tenants.principals import Claims, Principal
from index.tenants.tenant_store import TenantRevisions as Counters

Role: TypeAlias = Literal["reader", "writer", "admin"]

ROLES: tuple[Role, ...] = get_args(Role)
# Who has one can do what those before it can; the operator administers and reads nothing.
SUFFICIENT: Mapping[str, frozenset[str]] = {
    role: frozenset(ROLES[place:]) for place, role in enumerate(ROLES)
}
_REMEMBERED_MAX = 10_000  # principals; about 10 MB
_UNKNOWN_MAX = 4  # credentials looked up at once, so that made-up ones leave connections to others
_TOUCH_S = 60.0  # between two times that it is kept which keys were used
_USED_MAX = 100_000  # keys whose use waits to be stored; 20 MB


class CredentialStore(Protocol):
    async def holder_at(self, digest: bytes, /) -> tuple[Principal, Mapping[str, int]] | None: ...
    async def bearer_at(
        self, digest: bytes, claims: Claims, /
    ) -> tuple[Principal, Mapping[str, int]] | None: ...
    async def touch(self, used: Mapping[bytes, datetime], /) -> None: ...


class WebTokenVerifier(Protocol):
    """Those of other issuers."""

    async def claims(self, credential: bytes, /) -> Claims | None:
        """None if it is none; a 401 `Problem` if it is one that nobody should believe."""

    async def check_issuer_key(self, thumbprint: str, /) -> None:
        """A 401 `Problem` if the issuer no longer publishes the key; a 503 if that is unknown."""


@dataclass(frozen=True, slots=True)
class AuthenticatedRequest:
    """A principal, and the revisions read after its request came in, of the same history.

    oldest: the revisions up to which a cached answer has to be right to be served.
    """

    principal: Principal
    revisions: Revisions
    oldest: Revisions


class Authenticator:
    """Raises a 401 `Problem` for whoever brings no live key or token."""

    def __init__(
        self,
        principals: CredentialStore,
        web_tokens: WebTokenVerifier | None,
        revisions: RevisionReader[Counters],
        now: Callable[[], datetime],
        staleness_s_max: float,
        credential_staleness_s_max: float,
    ) -> None:
        """staleness_s_max: the most that counts of a caller's own limit while the database answers.

        credential_staleness_s_max: how long credentials are believed while it does not.
        """
        self._principals = principals
        self._web_tokens = web_tokens
        self._revisions = revisions
        self._now = now
        self._staleness_s_max = staleness_s_max
        self._credential_staleness_s_max = credential_staleness_s_max
        self._remembered: LRUCache[bytes, Principal] = LRUCache(_REMEMBERED_MAX)
        self._used: FlushBuffer[bytes, datetime] = FlushBuffer(
            "keys", principals.touch, max, every_s=_TOUCH_S, items_max=_USED_MAX
        )
        self._unknown = asyncio.Semaphore(_UNKNOWN_MAX)

    def known(self, digest: bytes) -> Principal | None:
        """Who holds the credential, or held it a moment ago; None if nobody has looked yet."""
        principal = self._remembered.get(digest)
        if principal is not None:
            self._refuse_expired(principal)
        return principal

    async def identify(self, credential: bytes, digest: bytes) -> Principal:
        """The same, looked up if need be: only `admit` tells who holds it now."""
        principal = self._remembered.get(digest)
        if principal is None:
            claims = None
            if self._web_tokens is not None:
                claims = await self._web_tokens.claims(credential)
            async with self._unknown:
                principal = (await self._read_principal(digest, claims)).principal
        self._refuse_expired(principal)
        return principal

    async def admit(
        self, principal: Principal, *, max_staleness_s: float = 0.0
    ) -> AuthenticatedRequest:
        """The same principal, or what it is now, with its tenant's revisions as of that instant.

        A revocation, a rotation and a change of groups raise the access revision, which is read
        for each request: what is remembered is dropped at the next one, on every worker.
        max_staleness_s: how old an answer may be; it never makes a credential last longer.
        """
        self._refuse_expired(principal)
        if principal.issuer_key is not None:
            await self._check_issuer_key(principal.issuer_key)
        self._used.add(principal.digest, self._now())
        tenants = (principal.tenant, PUBLIC)
        try:
            read = await self._revisions.read(tenants)
        except DatabaseUnavailable:
            admitted = self._admit_from_memory(principal, max_staleness_s)
            if admitted is None:
                raise
            return admitted
        tenant, everyone = read.get(principal.tenant), read[PUBLIC]
        for known in (principal, self._remembered.get(principal.digest)):
            if tenant and known and _is_as_of(known, tenant, everyone):
                self._refuse_expired(known)
                current = {principal.tenant: tenant, PUBLIC: everyone}
                oldest = self._oldest(current, max_staleness_s)
                return AuthenticatedRequest(
                    known, _document_revisions(current), _document_revisions(oldest)
                )
        # Keys or groups have changed, and may go on to: both are read in one statement.
        self._remembered.pop(principal.digest, None)
        admitted = await self._read_principal(principal.digest, principal.claims)
        await self._confirm(admitted, read)
        self._refuse_expired(admitted.principal)
        return admitted

    def background_flush(self) -> AbstractAsyncContextManager[None]:
        """Store when each key was last used, every minute and at the end."""
        return self._used.background_flush()

    async def _confirm(self, admitted: AuthenticatedRequest, read: Mapping[str, Counters]) -> None:
        """Two connections may lead to two servers, of which one has been replaced by the other."""
        history = admitted.revisions.history
        if read[PUBLIC].history != history:  # perhaps it was remembered
            read = await self._revisions.read((PUBLIC,))
        if read[PUBLIC].history != history:
            raise DatabaseUnavailable("the caller and the revisions were read from two histories")

    async def _read_principal(self, digest: bytes, claims: Claims | None) -> AuthenticatedRequest:
        if claims is None:
            found = await self._principals.holder_at(digest)
        else:
            found = await self._principals.bearer_at(digest, claims)
        if found is None:
            raise problems.unauthorized()
        principal, numbers = found
        self._remembered[digest] = principal
        revisions = Revisions(principal.history, numbers)
        return AuthenticatedRequest(principal, revisions, revisions)

    def _refuse_expired(self, principal: Principal) -> None:
        if principal.expires_at is not None and principal.expires_at <= self._now():
            raise problems.unauthorized()

    async def _check_issuer_key(self, thumbprint: str) -> None:
        if self._web_tokens is None:
            raise problems.unauthorized()
        await self._web_tokens.check_issuer_key(thumbprint)

    def _oldest(
        self, current: Mapping[str, Counters], max_staleness_s: float
    ) -> Mapping[str, Counters]:
        """The oldest counters of these tenants within the caller's limit, of the same history."""
        if max_staleness_s == 0:
            return current
        age_max_s = min(max_staleness_s, self._staleness_s_max)
        is_usable = _is_of_history(current[PUBLIC].history)
        return self._revisions.oldest(current, age_max_s, is_usable) or current

    def _admit_from_memory(
        self, principal: Principal, max_staleness_s: float
    ) -> AuthenticatedRequest | None:
        """While the database is away; None unless what is remembered is young enough for both."""
        tenant = self._revisions.latest(principal.tenant, self._credential_staleness_s_max)
        if tenant is None:
            return None
        tenants = (principal.tenant, PUBLIC)
        is_usable = _is_of_history(tenant.history)
        oldest = self._revisions.oldest(tenants, max_staleness_s, is_usable)
        for known in (principal, self._remembered.get(principal.digest)):
            if oldest and known and _is_as_of(known, tenant, oldest[PUBLIC]):
                self._refuse_expired(known)
                revisions = _document_revisions(oldest)
                return AuthenticatedRequest(known, revisions, revisions)
        return None


def build(
    settings: Settings,
    principals: CredentialStore,
    web_tokens: WebTokenVerifier | None,
    revisions: RevisionReader[Counters],
) -> Authenticator:
    return Authenticator(
        principals,
        web_tokens,
        revisions,
        utc_now,
        settings.staleness_s_max,
        settings.credential_staleness_s_max,
    )


def _document_revisions(read: Mapping[str, Counters]) -> Revisions:
    """The counters of documents; all of them are of one history."""
    numbers = {tenant: counters.revision for tenant, counters in read.items()}
    return Revisions(read[PUBLIC].history, numbers)


def _is_of_history(history: str) -> Callable[[Counters], bool]:
    return lambda counters: counters.history == history


def _is_as_of(principal: Principal, tenant: Counters, everyone: Counters) -> bool:
    """Whether this is what the principal was read at.

    What is remembered of the tenant and of what is public may be of two histories.
    """
    return (
        principal.history == tenant.history == everyone.history
        and principal.access_revision == tenant.access_revision
    )


def bearer(authorization: bytes) -> bytes | None:
    """The credential in an Authorization header, None if it holds none."""
    scheme, _, rest = authorization.partition(b" ")
    credential = rest.strip()
    return credential if scheme.lower() == b"bearer" and credential else None


def digest_of(credential: bytes) -> bytes:
    """What is kept of a key: it has 256 random bits, so that a plain hash can't be undone."""
    return hashlib.sha256(credential).digest()


def utc_now() -> datetime:
    return datetime.now(UTC)
