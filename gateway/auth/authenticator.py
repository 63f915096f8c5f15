"""Authenticates callers; a cached principal counts only at the access revision it was read at."""

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
from index.tenants.tenant_store import TenantRevisions

Role: TypeAlias = Literal["reader", "writer", "admin"]

ROLES: tuple[Role, ...] = get_args(Role)
# Each role includes those before it; the operator administers and reads nothing.
SUFFICIENT: Mapping[str, frozenset[str]] = {
    role: frozenset(ROLES[number:]) for number, role in enumerate(ROLES)
}
_PRINCIPALS_MAX = 10_000  # principals; about 10 MB
_HISTORY_AGE_S_MAX = 1.0  # since the history was read, for `may_confirm_at`; a starting value
_LOOKUPS_MAX = 4  # concurrent lookups of unknown credentials: forged ones leave connections free
_FLUSH_S = 60.0  # between two writes of when keys were last used
_USED_MAX = 100_000  # keys whose use waits to be stored; 20 MB


class CredentialStore(Protocol):
    async def holder_at(self, digest: bytes, /) -> tuple[Principal, Mapping[str, int]] | None: ...
    async def bearer_at(
        self, digest: bytes, claims: Claims, /
    ) -> tuple[Principal, Mapping[str, int]] | None: ...
    async def touch(self, used: Mapping[bytes, datetime], /) -> None: ...


class WebTokenVerifier(Protocol):
    """Verifies the web tokens of another issuer."""

    async def claims(self, credential: bytes, /) -> Claims | None:
        """The claims; None if it is no web token. A 401 `Problem` if it is not valid."""

    async def check_issuer_key(self, thumbprint: str, /) -> None:
        """A 401 `Problem` if the issuer no longer publishes the key; a 503 if that is unknown."""


@dataclass(frozen=True, slots=True)
class AuthenticatedRequest:
    """A principal, and the revisions that were read after its request arrived, of one history.

    oldest: a cached answer must be correct up to these revisions to be served.
    """

    principal: Principal
    revisions: Revisions
    oldest: Revisions


class Authenticator:
    """Raises a 401 `Problem` for a credential that is unknown, expired or revoked."""

    def __init__(
        self,
        principals: CredentialStore,
        web_tokens: WebTokenVerifier | None,
        revisions: RevisionReader[TenantRevisions],
        now: Callable[[], datetime],
        staleness_s_max: float,
        credential_staleness_s_max: float,
    ) -> None:
        """staleness_s_max: upper bound on a caller's limit while PostgreSQL is available.

        credential_staleness_s_max: how long cached principals count while it is not.
        """
        self._principals = principals
        self._web_tokens = web_tokens
        self._revisions = revisions
        self._now = now
        self._staleness_s_max = staleness_s_max
        self._credential_staleness_s_max = credential_staleness_s_max
        self._principals_by_digest: LRUCache[bytes, Principal] = LRUCache(_PRINCIPALS_MAX)
        self._used: FlushBuffer[bytes, datetime] = FlushBuffer(
            "keys", principals.touch, max, every_s=_FLUSH_S, items_max=_USED_MAX
        )
        self._lookups = asyncio.Semaphore(_LOOKUPS_MAX)

    def known(self, digest: bytes) -> Principal | None:
        """The holder of the credential as last read; None if this worker has not read it."""
        principal = self._principals_by_digest.get(digest)
        if principal is not None:
            self._refuse_expired(principal)
        return principal

    async def identify(self, credential: bytes, digest: bytes) -> Principal:
        """As `known`, read from the store if necessary; only `confirm` says who holds it now."""
        principal = self._principals_by_digest.get(digest)
        if principal is None:
            claims = None
            if self._web_tokens is not None:
                claims = await self._web_tokens.claims(credential)
            async with self._lookups:
                principal = (await self._read_principal(digest, claims)).principal
        self._refuse_expired(principal)
        return principal

    async def confirm(
        self, principal: Principal, *, max_staleness_s: float = 0.0
    ) -> AuthenticatedRequest:
        """The principal as it is now, with the revisions of its tenant at the same instant.

        A revocation, a rotation and a change of groups raise the access revision. Each request
        reads it, so every worker drops the outdated principal at its next request.
        max_staleness_s: how old an answer may be; it never extends the life of a credential.
        """
        self._refuse_expired(principal)
        if principal.issuer_key is not None:
            await self._check_issuer_key(principal.issuer_key)
        try:
            read = await self.read_revisions(principal)
        except DatabaseUnavailable:
            admitted = self._admit_from_memory(principal, max_staleness_s)
            if admitted is None:
                raise
            return admitted
        admitted = self.admit(principal, read, max_staleness_s)
        if admitted is not None:
            return admitted
        # Keys or groups have changed and may change again: one statement reads both.
        self._principals_by_digest.pop(principal.digest, None)
        admitted = await self._read_principal(principal.digest, principal.claims)
        await self._require_same_history(admitted, read)
        self._refuse_expired(admitted.principal)
        return admitted

    def read_revisions(
        self, principal: Principal
    ) -> "asyncio.Future[Mapping[str, TenantRevisions]]":
        """The counters of the principal's tenant and of the public partition, read after this call.

        Records that the key is used. The future may raise `DatabaseUnavailable`.
        """
        self._used.add(principal.digest, self._now())
        return self._revisions.read((principal.tenant, PUBLIC))

    def admit(
        self,
        principal: Principal,
        read: Mapping[str, TenantRevisions],
        max_staleness_s: float = 0.0,
    ) -> AuthenticatedRequest | None:
        """The principal at these revisions; None if it was read at others.

        A 401 `Problem` for an expired credential.
        """
        tenant, everyone = read.get(principal.tenant), read[PUBLIC]
        for candidate in (principal, self._principals_by_digest.get(principal.digest)):
            if tenant and candidate and _is_current(candidate, tenant, everyone):
                self._refuse_expired(candidate)
                current = {principal.tenant: tenant, PUBLIC: everyone}
                revisions = _document_revisions(current)
                oldest = self._oldest(current, max_staleness_s)
                return AuthenticatedRequest(
                    candidate,
                    revisions,
                    revisions if oldest is current else _document_revisions(oldest),
                )
        return None

    def may_confirm_at(self, principal: Principal) -> bool:
        """Whether `confirm_at` can say who the principal is now.

        It compares numbers of one server, and does not notice that another one has taken its place.
        So the usual way must have seen the principal's history lately. Nor does it check the key of
        an issuer.
        """
        latest = self._revisions.latest(PUBLIC, _HISTORY_AGE_S_MAX)
        is_lately_seen = latest is not None and latest.history == principal.history
        return is_lately_seen and principal.issuer_key is None

    def confirm_at(self, principal: Principal, history: str, access_revision: int | None) -> bool:
        """Confirm the principal at an access revision that was read since its request arrived.

        False if the principal was read at another one; see `may_confirm_at`. A 401 `Problem` for an
        expired credential.
        """
        if (principal.history, principal.access_revision) != (history, access_revision):
            return False
        self._refuse_expired(principal)
        self._used.add(principal.digest, self._now())
        return True

    def background_flush(self) -> AbstractAsyncContextManager[None]:
        """Store when each key was last used, every minute and at the end."""
        return self._used.background_flush()

    async def _require_same_history(
        self, admitted: AuthenticatedRequest, read: Mapping[str, TenantRevisions]
    ) -> None:
        """Refuse two histories: after a failover two connections may lead to two servers."""
        history = admitted.revisions.history
        if read[PUBLIC].history != history:  # it may have been cached
            read = await self._revisions.read((PUBLIC,))
        if read[PUBLIC].history != history:
            raise DatabaseUnavailable("the caller and the revisions were read from two histories")

    async def _read_principal(self, digest: bytes, claims: Claims | None) -> AuthenticatedRequest:
        if claims is None:
            holder = await self._principals.holder_at(digest)
        else:
            holder = await self._principals.bearer_at(digest, claims)
        if holder is None:
            raise problems.unauthorized()
        principal, numbers = holder
        self._principals_by_digest[digest] = principal
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
        self, current: Mapping[str, TenantRevisions], max_staleness_s: float
    ) -> Mapping[str, TenantRevisions]:
        """The oldest counters of these tenants within the caller's limit, of the same history."""
        if max_staleness_s == 0:
            return current
        age_max_s = min(max_staleness_s, self._staleness_s_max)
        is_usable = _is_of_history(current[PUBLIC].history)
        return self._revisions.oldest(current, age_max_s, is_usable) or current

    def _admit_from_memory(
        self, principal: Principal, max_staleness_s: float
    ) -> AuthenticatedRequest | None:
        """The cached principal, without PostgreSQL; None if it or its revisions are too old."""
        tenant = self._revisions.latest(principal.tenant, self._credential_staleness_s_max)
        if tenant is None:
            return None
        tenants = (principal.tenant, PUBLIC)
        is_usable = _is_of_history(tenant.history)
        oldest = self._revisions.oldest(tenants, max_staleness_s, is_usable)
        for candidate in (principal, self._principals_by_digest.get(principal.digest)):
            if oldest and candidate and _is_current(candidate, tenant, oldest[PUBLIC]):
                self._refuse_expired(candidate)
                revisions = _document_revisions(oldest)
                return AuthenticatedRequest(candidate, revisions, revisions)
        return None


def build(
    settings: Settings,
    principals: CredentialStore,
    web_tokens: WebTokenVerifier | None,
    revisions: RevisionReader[TenantRevisions],
) -> Authenticator:
    return Authenticator(
        principals,
        web_tokens,
        revisions,
        utc_now,
        settings.staleness_s_max,
        settings.credential_staleness_s_max,
    )


def _document_revisions(read: Mapping[str, TenantRevisions]) -> Revisions:
    """The revisions of the documents; all counters are of one history."""
    numbers = {tenant: counters.revision for tenant, counters in read.items()}
    return Revisions(read[PUBLIC].history, numbers)


def _is_of_history(history: str) -> Callable[[TenantRevisions], bool]:
    return lambda counters: counters.history == history


def _is_current(principal: Principal, tenant: TenantRevisions, everyone: TenantRevisions) -> bool:
    """Whether the principal was read at these counters.

    The cached counters of the tenant and of the public partition may be of two histories.
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
    """What is stored of a key. A key has 256 random bits, so a plain hash cannot be reversed."""
    return hashlib.sha256(credential).digest()


def utc_now() -> datetime:
    return datetime.now(UTC)
