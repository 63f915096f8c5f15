"""Nearhit's own rules of the cache, of who is let in and of read leases, each broken on purpose.

The soak has to find those of CACHE, and the judge of the regions those of LEASE.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cache import keys, protocol
from cache.invalidation.registry_replica import RegistryReplica
from cache.protocol import EntryVersion, Revisions, State
from cache.redis import store
from cache.redis.store import FillResult, RedisStore
from cache.tiers.memory import MemoryTier
from gateway.auth.authenticated_request import AuthenticatedRequest
from gateway.auth.authenticator import Authenticator
from gateway.auth.freshness import STRONG, Freshness
from gateway.extensions.regions import read_lease
from gateway.extensions.regions.read_lease import HeldLease
from gateway.http import known_heads
from gateway.search import search_request
from index.model.scope import PUBLIC
from index.search import sight_reader
from index.tenants.principals import Principal


@dataclass(frozen=True, slots=True)
class Mutant:
    """what: is broken. rules: of an owner, by name, and what stands in the place of each.

    faults: that have to happen for it to matter. read_lease_s: of the gateways.
    is_control: it breaks nothing, so that the judge has to find nothing in the same time.
    """

    what: str
    rules: Sequence[tuple[Any, str, Any]] = ()
    faults: tuple[str, ...] = ()
    is_control: bool = False
    read_lease_s: float = 1.0

    def __post_init__(self) -> None:
        for owner, name, _ in self.rules:
            assert hasattr(owner, name), f"{owner} has no {name}"

    def break_rules(self) -> None:
        """In this process."""
        for owner, name, rule in self.rules:
            setattr(owner, name, rule)


_LATE_S = 0.1
_CREDENTIAL = re.compile(rb"(?i)\r\nauthorization:[^\r]*")

_fill = RedisStore.fill
_digest = known_heads._digest  # noqa: SLF001  the rule that the mutant breaks


def _are_of_one_nonce(state: State | None, version: EntryVersion | None, *_: object) -> bool:
    return state is not None and version is not None and version.nonce == state.nonce


def _of_any_server(state: State | None, _server_id: str, history: str) -> State | None:
    return state if state is not None and state.history == history else None


async def _fills_late(self: RedisStore, *arguments: Any, **options: Any) -> FillResult:
    """Others write between a search and its fill, as they do now and then on a busy machine."""
    await asyncio.sleep(_LATE_S)
    return await _fill(self, *arguments, **options)


class _RememberingGate(Authenticator):
    """Whoever was let in once is let in for good."""

    async def confirm(
        self, principal: Principal, freshness: Freshness = STRONG
    ) -> AuthenticatedRequest:
        del freshness
        counters_by_partition = await self._revisions.read((principal.tenant, PUBLIC))
        numbers = {name: counters.revision for name, counters in counters_by_partition.items()}
        revisions = Revisions(counters_by_partition[PUBLIC].history, numbers)
        return AuthenticatedRequest(principal, revisions, revisions)


CACHE: Mapping[str, Mutant] = {
    "none": Mutant("no rule is broken", is_control=True),
    "late-fills": Mutant(
        "fills come late, which breaks no rule",
        [(RedisStore, "fill", _fills_late)],
        is_control=True,
    ),
    "drain-drops-nothing": Mutant(
        "a drain sets applied without dropping what the changes doom",
        [(RegistryReplica, "invalidated", lambda _self, _news: {})],
    ),
    "fill-ignores-fence": Mutant(
        "a fill is stored though the invalidation of a change that it misses has begun",
        [
            (protocol, "may_fill", _are_of_one_nonce),
            (RedisStore, "fill", _fills_late),
        ],
    ),
    "serve-ignores-applied": Mutant(
        "an entry is served though changes have not been applied to it",
        [(protocol, "may_serve", _are_of_one_nonce)],
    ),
    "key-without-scope": Mutant(
        "the key of an answer leaves out whom it was computed for",
        [(search_request, "answer_key", lambda **of: keys.answer_key(**{**of, "scope": b""}))],
    ),
    "head-forgets-credential": Mutant(
        "heads that differ in the credential alone count as equal",
        [(known_heads, "_digest", lambda parts: _digest([_CREDENTIAL.sub(b"", p) for p in parts]))],
    ),
    "sight-counts-audiences": Mutant(
        "callers who see as many different audiences share answers",
        [(sight_reader, "sight_digest", lambda _scope, seen, _words: b"%032d" % len([*seen]))],
    ),
    "memory-ignores-revisions": Mutant(
        "a worker's own memory serves an answer at any revision",
        [(MemoryTier, "find", lambda self, key, _: getattr(self.entries.get(key), "served", None))],
    ),
    "gate-remembers": Mutant(
        "who was let in once keeps its groups, and its key works for good",
        [(Authenticator, "confirm", _RememberingGate.confirm)],
    ),
    "state-of-any-server": Mutant(
        "a state that another Redis process made is believed",
        [(store, "valid_state", _of_any_server)],
        faults=("redis started with an older memory",),
    ),
}


LEASE: Mapping[str, Mutant] = {
    "none": Mutant(
        "no rule is broken", faults=("region cut off", "region silent"), is_control=True
    ),
    "lease-for-good": Mutant(
        "a lease that was stored once counts for good",
        [(HeldLease, "is_held", lambda self, _now_s: self.since is not None)],
        faults=("region cut off", "region silent"),
    ),
    "writer-waits-for-nobody": Mutant(
        "a write is acknowledged before the holders have heard of it",
        [(read_lease, "may_acknowledge", lambda _awaiting, **_: True)],
    ),
    "holder-hears-nothing": Mutant(
        "a holder acknowledges what is announced, and answers without it",
        [(HeldLease, "heard", lambda self, _history, _counters: self)],
    ),
    "new-history-is-settled": Mutant(
        "after a failover a write is acknowledged before the lost leases have run out",
        [(read_lease, "may_acknowledge", lambda awaiting, **_: not awaiting)],
        faults=("primary failed over",),
        read_lease_s=6.0,  # a standby needs some seconds to take over
    ),
}
