"""Authenticates callers; a cached principal counts only at the access revision it was read at.

In a gateway of a region, a caller that accepts it is authenticated at counters that were read
earlier (`recall`): a revocation may then take as long as the tenant's admin and the deployment
allow. Every other request reads the counters after it has arrived.
"""

import asyncio
import hashlib
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple, Protocol

from cache.protocol import Revisions
from cache.revision_reader import RevisionReader
from common.shares.cache import FairCache
from common.shares.slots import FairSlots
from gateway.auth.authenticated_request import AuthenticatedRequest
from gateway.auth.freshness import STRONG, Freshness
from gateway.auth.staleness import AGE_S_MIN, Staleness, staleness_s_max
from gateway.auth.tenant_counters import document_revisions, is_current
from gateway.background.background_flush import FlushBuffer
from gateway.problems import problems
from gateway.settings.settings import Settings
from index.errors import DatabaseUnavailable
from index.model.scope import PUBLIC
from index.tenants.principals import Claims, Principal
from index.tenants.tenant_store import TenantRevisions

_PRINCIPALS_MAX = 10_000  # principals; about 10 MB
_HISTORY_AGE_S_MAX = 1.0  # since the history was read, for `may_confirm_at`; a starting value
# Concurrent lookups of unknown credentials: forged ones leave connections free, and those of one
# client address a lookup to other addresses.
_LOOKUPS_MAX = 4
_ADDRESS_LOOKUPS_MAX = 3
_LOOKUPS_WAITING_MAX = 4_096  # of one address
_LOOKUP_WAIT_S_MAX = 5.0  # starting values, not measured
_FLUSH_S = 60.0  # between two writes of when keys were last used
_USED_MAX = 100_000  # keys whose use waits to be stored; 20 MB

utc_now = partial(datetime.now, UTC)


class CredentialStore(Protocol):
    async def holder_at(
        self, digest: bytes, /
    ) -> tuple[Principal, Mapping[str, TenantRevisions]] | None: ...
    async def bearer_at(
        self, digest: bytes, claims: Claims, /
    ) -> tuple[Principal, Mapping[str, TenantRevisions]] | None: ...
    async def touch(self, used: Mapping[bytes, datetime], /) -> None: ...


class HistoryStore(Protocol):
    async def held_revisions(self, tenants: Collection[str], /) -> dict[str, dict[str, int]]: ...


class WebTokenVerifier(Protocol):
    """Verifies the web tokens of another issuer."""

    async def claims(self, credential: bytes, /) -> Claims | None:
        """The claims; None if it is no web token. A 401 `Problem` if it is not valid."""

    async def check_issuer_key(self, thumbprint: str, /) -> None:
        """A 401 `Problem` if the issuer no longer publishes the key; a 503 if that is unknown."""


class _Admission(NamedTuple):
    """What `admit` says of a principal at these counters, of a request that asks for no more."""

    principal: Principal
    tenant: TenantRevisions
    everyone: TenantRevisions
    admitted: AuthenticatedRequest


class Authenticator:
    """Raises a 401 `Problem` for a credential that is unknown, expired or revoked."""

    def __init__(
        self,
        principals: CredentialStore,
        web_tokens: WebTokenVerifier | None,
        revisions: RevisionReader[TenantRevisions],
        histories: HistoryStore,
        now: Callable[[], datetime],
        staleness_s_max: float,
        credential_staleness_s_max: float,
        *,
        recalls: bool = False,
        collect: Callable[[], None] = lambda: None,
    ) -> None:
        """staleness_s_max: upper bound on a caller's limit while PostgreSQL is available.

        credential_staleness_s_max: how long cached principals count while it is not.
        recalls: whether earlier readings may answer a request, as in a gateway of a region.
        collect: as in `FlushBuffer`, for the uses of keys.
        """
        self._principals = principals
        self._web_tokens = web_tokens
        self._revisions = revisions
        self._histories = histories
        self._now = now
        self._staleness = Staleness(revisions, staleness_s_max)
        self._credential_staleness_s_max = credential_staleness_s_max
        self._recalls = recalls
        self._principals_by_digest: FairCache[bytes, Principal] = FairCache(_PRINCIPALS_MAX)
        self._admissions: FairCache[bytes, _Admission] = FairCache(_PRINCIPALS_MAX)
        self._used: FlushBuffer[bytes, datetime] = FlushBuffer(
            "keys",
            principals.touch,
            max,
            every_s=_FLUSH_S,
            items_max=_USED_MAX,
            collect=collect,
        )
        self._lookups = FairSlots(
            _LOOKUPS_MAX,
            tenant_slots_max=_ADDRESS_LOOKUPS_MAX,
            waiting_max=_LOOKUPS_WAITING_MAX,
            wait_s_max=_LOOKUP_WAIT_S_MAX,
        )

    def known(self, digest: bytes) -> Principal | None:
        """The holder of the credential as last read; None if this worker has to read it.

        One that has expired is read again: a failover may have lost the rotation that ends it.
        """
        principal = self._principals_by_digest.get(digest)
        if principal is not None and self._is_expired(principal):
            self._principals_by_digest.pop(digest)
            return None
        return principal

    async def identify(self, credential: bytes, digest: bytes, address: str = "") -> Principal:
        """As `known`, read from the store if necessary; only `confirm` says who holds it now.

        address: of the client, since nobody knows yet whose tenant it is. Raises `Saturated`.
        """
        principal = self.known(digest)
        if principal is None:
            claims = None
            if self._web_tokens is not None:
                claims = await self._web_tokens.claims(credential)
            async with self._lookups.slot(address):
                principal = (await self._read_principal(digest, claims)).principal
        self._refuse_expired(principal)
        return principal

    async def confirm(
        self, principal: Principal, freshness: Freshness = STRONG
    ) -> AuthenticatedRequest:
        """The principal as it is now, with the revisions of its tenant at the same instant.

        A revocation, a rotation and a change of groups raise the access revision. Each request
        reads it, so every worker drops the outdated principal at its next request; see `recall`
        for the exception. A 409 `Problem` if the revision that the caller names is not reached.
        """
        self.record_use(principal, self._now())
        if principal.issuer_key is not None:
            await self._check_issuer_key(principal.issuer_key)
        recalled = self.recall(principal, freshness)
        if recalled is not None:
            return recalled
        try:
            read = await self.read_revisions(principal, freshness)
        except DatabaseUnavailable:
            admitted = self._admit_from_memory(principal, freshness)
            if admitted is None:
                raise
            return admitted
        freshness = await self._continued(principal.tenant, freshness, read[PUBLIC].history)
        admitted = self.admit(principal, read, freshness)
        if admitted is not None:
            return admitted
        # Keys or groups have changed and may change again: one statement reads both.
        self._principals_by_digest.pop(principal.digest)
        admitted = await self._read_principal(principal.digest, principal.claims)
        await self._require_same_history(admitted, read)
        self._refuse_expired(admitted.principal)
        freshness.require_reached(principal.tenant, admitted.revisions)
        return admitted

    def recall(self, principal: Principal, freshness: Freshness) -> AuthenticatedRequest | None:
        """The principal at counters that this gateway knows; None if it has to ask the primary.

        Under a read lease they are those of now, else of an earlier reading. The principal must be
        the one of their access revision. A 401 `Problem` for an expired credential.
        """
        if not self._recalls or freshness.consistency == "strong":
            return None
        tenants = (principal.tenant, PUBLIC)
        known, age_s = self._revisions.known(tenants), 0.0
        if known is None and (age_s_max := self._staleness.age_s_max(principal, freshness)) > 0:
            earlier = self._revisions.newest(tenants, age_s_max)
            if earlier is not None:
                known, age_s = earlier.values, max(earlier.age_s, AGE_S_MIN)
        if known is None or not freshness.accepts(principal.tenant, document_revisions(known)):
            return None
        return self.admit(principal, known, freshness, age_s)

    def read_revisions(
        self, principal: Principal, freshness: Freshness = STRONG
    ) -> "asyncio.Future[Mapping[str, TenantRevisions]]":
        """The counters of the principal's tenant and of the public partition, read after this call.

        Only the primary can say that a revision is not reached: a read lease tells of those that
        are acknowledged. The future may raise `DatabaseUnavailable`.
        """
        tenant = principal.tenant
        if freshness.min_revision is None:
            return self._revisions.read((tenant, PUBLIC))
        return self._revisions.read(
            (tenant, PUBLIC), lambda known: freshness.accepts(tenant, document_revisions(known))
        )

    def admit(
        self,
        principal: Principal,
        read: Mapping[str, TenantRevisions],
        freshness: Freshness = STRONG,
        age_s: float = 0.0,
    ) -> AuthenticatedRequest | None:
        """The principal at these counters; None if it was read at others.

        age_s: 0 if they were read after the request arrived.
        A 401 `Problem` for an expired credential, a 409 if they do not reach the revision that the
        caller names.
        """
        tenant, everyone = read.get(principal.tenant), read[PUBLIC]
        is_of_now = freshness.min_revision is None and not age_s
        if is_of_now and (
            freshness.consistency == "strong"
            or not self._staleness.has_older(principal, freshness, read)
        ):
            freshness = STRONG  # nothing older may answer, or nothing is older
            known = self._admissions.get(principal.digest)
            if (
                known is not None
                and known.principal is principal
                and known.tenant is tenant  # counters that have not changed are the same objects
                and known.everyone is everyone
            ):
                self._refuse_expired(principal)
                return known.admitted
        for candidate in (principal, self._principals_by_digest.get(principal.digest)):
            if tenant and candidate and is_current(candidate, tenant, everyone):
                self._refuse_expired(candidate)
                revisions = document_revisions({principal.tenant: tenant, PUBLIC: everyone})
                freshness.require_reached(principal.tenant, revisions)
                oldest = self._staleness.oldest(candidate, revisions, freshness, age_s)
                admitted = AuthenticatedRequest(
                    candidate, revisions, oldest.revisions, freshness, age_s, oldest.age_s
                )
                if freshness is STRONG and not age_s:
                    admission = _Admission(candidate, tenant, everyone, admitted)
                    self._admissions.put(candidate.tenant, candidate.digest, admission)
                return admitted
        return None

    def may_confirm_at(self, principal: Principal, freshness: Freshness = STRONG) -> bool:
        """Whether `confirm_at` can say who the principal is now, and the request needs no more.

        It compares numbers of one server, and does not notice that another one has taken its place.
        So the usual way must have seen the principal's history lately. Nor does it check the key of
        an issuer.
        """
        if freshness.min_revision is not None:
            return False
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
        return True

    def record_use(self, principal: Principal, at: datetime) -> None:
        """Record that the key was used then; `confirm` does."""
        self._used.add(principal.tenant, principal.digest, at)

    def background_flush(self) -> AbstractAsyncContextManager[None]:
        """Store when each key was last used, every minute and at the end."""
        return self._used.background_flush()

    async def _continued(self, tenant: str, freshness: Freshness, history: str) -> Freshness:
        """The same with a revision of the current history; a 409 `Problem` if it is lost."""
        named = freshness.min_revision
        if named is None or named.is_of(tenant, history):
            return freshness
        held = await self._histories.held_revisions((tenant, PUBLIC))
        return replace(freshness, min_revision=named.continued(tenant, held, history))

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
        principal, counters = holder
        self._principals_by_digest.put(principal.tenant, digest, principal)
        revisions = document_revisions(counters)
        return AuthenticatedRequest(principal, revisions, revisions)

    def _is_expired(self, principal: Principal) -> bool:
        return principal.expires_at is not None and principal.expires_at <= self._now()

    def _refuse_expired(self, principal: Principal) -> None:
        if principal.expires_at is not None and self._is_expired(principal):
            raise problems.unauthorized()

    async def _check_issuer_key(self, thumbprint: str) -> None:
        if self._web_tokens is None:
            raise problems.unauthorized()
        await self._web_tokens.check_issuer_key(thumbprint)

    def _admit_from_memory(
        self, principal: Principal, freshness: Freshness
    ) -> AuthenticatedRequest | None:
        """The cached principal, without PostgreSQL; None if it or its revisions are too old."""
        tenant = self._revisions.latest(principal.tenant, self._credential_staleness_s_max)
        if tenant is None or freshness.consistency != "bounded":
            return None
        for candidate in (principal, self._principals_by_digest.get(principal.digest)):
            if candidate is None or not is_current(candidate, tenant, tenant):
                continue
            self._refuse_expired(candidate)
            age_s_max = min(freshness.max_staleness_s, staleness_s_max(candidate))
            audiences = {candidate.tenant: tenant.audience_revision}
            current = Revisions(tenant.history, {candidate.tenant: tenant.revision}, audiences)
            oldest = self._staleness.read_within(candidate, age_s_max, current, freshness)
            if oldest is not None:
                read, age_s = oldest.revisions, oldest.age_s
                return AuthenticatedRequest(candidate, read, read, freshness, age_s, age_s)
        return None


def build(
    settings: Settings,
    principals: CredentialStore,
    web_tokens: WebTokenVerifier | None,
    revisions: RevisionReader[TenantRevisions],
    histories: HistoryStore,
    collect: Callable[[], None],
    *,
    in_region: bool,
) -> Authenticator:
    return Authenticator(
        principals,
        web_tokens,
        revisions,
        histories,
        utc_now,
        settings.staleness_s_max,
        settings.credential_staleness_s_max,
        recalls=in_region,
        collect=collect,
    )


def digest_of(credential: bytes) -> bytes:
    """What is stored of a key. A key has 256 random bits, so a plain hash cannot be reversed."""
    return hashlib.sha256(credential).digest()
