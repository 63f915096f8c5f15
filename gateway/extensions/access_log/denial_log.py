"""Counts refused requests by caller and reason, and appends the counts to the audit log.

Memory and rows are bounded, however many requests are refused. The counts are stored each minute;
a process that is killed loses those of its last FLUSH_S seconds.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

from common.audit_actor import UNKNOWN, AuditActor
from gateway.extension import BackgroundFlush
from gateway.extensions.access_log.access_log_store import Denial
from gateway.extensions.access_log.ended_keys import EndedKey
from index.audit.audit_log import NO_TENANT
from index.tenants.principals import Principal

FLUSH_S = 60.0
# Starting values, not measured. A worker adds at most so many rows a minute to a tenant's log.
TENANT_CALLERS_MAX = 20  # pairs of a caller and a reason; further ones are counted together
CALLERS_MAX = 2_000  # the same, of all tenants
CREDENTIALS_MAX = 200  # refused credentials that are looked up among ended keys, the first ones
_ROUTES_MAX = 10  # named by one row

Reason = str  # the audit log's word, such as `missing-role` or `expired-key`


class DeniedCaller(NamedTuple):
    """subject, key_id: see `AuditActor`."""

    tenant: str
    subject: str | None
    key_id: str | None
    reason: Reason


@dataclass(slots=True)
class _Requests:
    """Refused requests that are not stored yet; times in seconds since 1970."""

    first_s: float
    last_s: float
    requests: int = 0
    routes: set[str] = field(default_factory=set)

    def add(self, other: "_Requests") -> None:
        self.first_s = min(self.first_s, other.first_s)
        self.last_s = max(self.last_s, other.last_s)
        self.requests += other.requests
        self.routes.update(sorted(other.routes)[: _ROUTES_MAX - len(self.routes)])


class DenialStore(Protocol):
    async def append_denials(self, denials: Sequence[Denial], /) -> None: ...


class EndedKeyLookup(Protocol):
    async def find(self, digests: Sequence[bytes], /) -> Mapping[bytes, EndedKey]: ...


class DenialLog:
    """now_s: seconds since 1970. every_s: time between flushes."""

    def __init__(
        self,
        store: DenialStore,
        keys: EndedKeyLookup,
        now_s: Callable[[], float],
        *,
        every_s: float = FLUSH_S,
    ) -> None:
        self._store = store
        self._keys = keys
        self._now_s = now_s
        self._callers: dict[DeniedCaller, _Requests] = {}
        self._callers_by_tenant: Counter[str] = Counter()
        self._credentials: dict[bytes, _Requests] = {}
        self._flushes = BackgroundFlush("denial_log", self.flush, every_s=every_s)

    def add(self, principal: Principal, reason: Reason, route: str) -> None:
        """Record that a request of the principal was refused."""
        caller = DeniedCaller(principal.tenant, principal.subject, principal.key_id, reason)
        self._record(caller, route)

    def add_stranger(self, actor: AuditActor, reason: Reason, route: str) -> None:
        """Record that a request was refused that belongs to no tenant."""
        self._record(DeniedCaller(NO_TENANT, actor.subject, actor.key_id, reason), route)

    def add_credential(self, digest: bytes, route: str) -> None:
        """Record that a request with this credential was refused; who held it is looked up later.

        Its digest stays in memory until then and is stored nowhere.
        """
        if digest in self._credentials or len(self._credentials) < CREDENTIALS_MAX:
            requests = self._credentials.setdefault(digest, self._no_requests())
            requests.add(self._request(route))
        else:
            self.add_stranger(UNKNOWN, "unknown-credential", route)

    async def flush(self) -> None:
        """Store the pending counts. Raises `DatabaseUnavailable`; the counts stay for the next."""
        if self._credentials:
            ended = await self._keys.find(list(self._credentials))
            credentials, self._credentials = self._credentials, {}
            for digest, requests in credentials.items():
                self._count(_holder(ended.get(digest)), requests)
        callers, self._callers = self._callers, {}
        self._callers_by_tenant.clear()
        if not callers:
            return
        try:
            await self._store.append_denials(
                [_denial(caller, requests) for caller, requests in callers.items()]
            )
        except BaseException:
            for caller, requests in callers.items():
                self._count(caller, requests)
            raise

    def background_flush(self) -> AbstractAsyncContextManager[None]:
        """Flush each minute during the block, and once at its end."""
        return self._flushes.running()

    def _record(self, caller: DeniedCaller, route: str) -> None:
        self._count(caller, self._request(route))

    def _count(self, caller: DeniedCaller, requests: _Requests) -> None:
        """Add to the caller's count, or to that of all further callers of its tenant."""
        if caller not in self._callers:
            if len(self._callers) >= CALLERS_MAX:
                caller = _others(NO_TENANT)
            elif self._callers_by_tenant[caller.tenant] >= TENANT_CALLERS_MAX:
                caller = _others(caller.tenant)
        if caller not in self._callers:
            self._callers[caller] = self._no_requests()
            self._callers_by_tenant[caller.tenant] += 1
        self._callers[caller].add(requests)

    def _request(self, route: str) -> _Requests:
        now_s = self._now_s()
        return _Requests(now_s, now_s, 1, {route})

    def _no_requests(self) -> _Requests:
        now_s = self._now_s()
        return _Requests(now_s, now_s)


def _others(tenant: str) -> DeniedCaller:
    return DeniedCaller(tenant, UNKNOWN.subject, UNKNOWN.key_id, "further-callers")


def _holder(key: EndedKey | None) -> DeniedCaller:
    if key is None:
        return DeniedCaller(NO_TENANT, UNKNOWN.subject, UNKNOWN.key_id, "unknown-credential")
    reason = "revoked-key" if key.is_revoked else "expired-key"
    return DeniedCaller(key.tenant, key.subject, key.key_id, reason)


def _denial(caller: DeniedCaller, requests: _Requests) -> Denial:
    return Denial(
        caller.tenant,
        AuditActor(caller.subject, caller.key_id),
        caller.reason,
        {
            "requests": requests.requests,
            "first": datetime.fromtimestamp(requests.first_s, UTC),
            "last": datetime.fromtimestamp(requests.last_s, UTC),
            "routes": sorted(requests.routes),
        },
    )
