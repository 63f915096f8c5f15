"""Who asks: an API key's principal, believed only at the access revision that it was read at."""

import hashlib
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Protocol, TypeAlias, get_args

from cachetools import LRUCache

from cache.revision import RevisionReader
from gateway import problems
from index.errors import DatabaseUnavailable
from index.scope import PUBLIC
from index.tenants import KeyHolder, NewKey, Revisions

Role: TypeAlias = Literal["reader", "writer", "admin"]

ROLES: tuple[Role, ...] = get_args(Role)
KEY_START = "nh_"
_REMEMBERED_MAX = 10_000  # principals; about 10 MB


class Keys(Protocol):
    async def key_holder(self, digest: bytes, /) -> KeyHolder | None: ...
    async def key_holder_at(
        self, digest: bytes, /
    ) -> tuple[KeyHolder, Mapping[str, int]] | None: ...


@dataclass(frozen=True, slots=True)
class Admitted:
    """A principal, and the revisions read after its request came in."""

    holder: KeyHolder
    revisions: Mapping[str, int]


class Gate:
    """Raises a 401 `Problem` for whoever holds no live key."""

    def __init__(
        self,
        keys: Keys,
        revisions: RevisionReader[Revisions],
        now: Callable[[], datetime],
        staleness_s_max: float,
    ) -> None:
        self._keys = keys
        self._revisions = revisions
        self._now = now
        self._staleness_s_max = staleness_s_max
        self._remembered: LRUCache[bytes, KeyHolder] = LRUCache(_REMEMBERED_MAX)

    async def identify(self, digest: bytes | None) -> KeyHolder:
        """Who holds the key, or held it a moment ago: only `admit` tells which."""
        holder = None if digest is None else self._remembered.get(digest)
        if holder is None and digest is not None:
            holder = await self._keys.key_holder(digest)
            if holder is not None:
                self._remembered[digest] = holder
        if holder is None:
            raise problems.unauthorized()
        return holder

    async def admit(
        self, holder: KeyHolder, *, max_staleness_s: float = 0.0, at_once: bool = True
    ) -> Admitted:
        """The same holder, or what it is now, with its tenant's revisions as of the same instant.

        A revocation and a change of groups raise the access revision, so that what is remembered
        is dropped at the next request, on every worker.
        max_staleness_s: how old the instant may be if the database is away, and within the
        operator's limit also `at_once`, without asking it: nobody may keep a lost right for long.
        """
        self._refuse_expired(holder)
        read = await self._read((holder.tenant, PUBLIC), max_staleness_s, at_once=at_once)
        tenant = read.get(holder.tenant)
        if tenant is not None and tenant.access_revision == holder.access_revision:
            return Admitted(holder, {holder.tenant: tenant.revision, PUBLIC: read[PUBLIC].revision})
        # Keys or groups have changed, and may go on to: both are read in one statement.
        self._remembered.pop(holder.digest, None)
        found = await self._keys.key_holder_at(holder.digest)
        if found is None:
            raise problems.unauthorized()
        admitted = Admitted(*found)
        self._refuse_expired(admitted.holder)
        self._remembered[holder.digest] = admitted.holder
        return admitted

    def _refuse_expired(self, holder: KeyHolder) -> None:
        if holder.expires_at is not None and holder.expires_at <= self._now():
            raise problems.unauthorized()

    async def _read(
        self, tenants: tuple[str, str], max_staleness_s: float, *, at_once: bool
    ) -> Mapping[str, Revisions]:
        young_s = min(max_staleness_s, self._staleness_s_max) if at_once else 0.0
        try:
            return await self._revisions.read(tenants, max_staleness_s=young_s)
        except DatabaseUnavailable:
            remembered = self._revisions.remembered(tenants, max_staleness_s)
            if remembered is None:
                raise
            return remembered


def bearer_digest(authorization: bytes) -> bytes | None:
    """The digest of the key in an Authorization header, None if it holds none."""
    scheme, _, rest = authorization.partition(b" ")
    key = rest.strip()
    if scheme.lower() != b"bearer" or not key:
        return None
    return hashlib.sha256(key).digest()


def key_digest(key: str) -> bytes:
    """What is kept of a key: it has 256 random bits, so that a plain hash can't be undone."""
    return hashlib.sha256(key.encode()).digest()


def make_key(
    *,
    subject: str,
    groups: tuple[str, ...],
    roles: tuple[Role, ...],
    expires_at: datetime | None,
) -> tuple[str, NewKey]:
    """A key of 256 random bits, shown once, and what is kept of it."""
    key = KEY_START + secrets.token_urlsafe(32)
    key_id = f"key_{secrets.token_hex(8)}"
    return key, NewKey(key_id, key_digest(key), subject, groups, roles, expires_at)


def utc_now() -> datetime:
    return datetime.now(UTC)
