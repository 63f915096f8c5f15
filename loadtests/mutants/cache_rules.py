"""Nearhit's own rules of the cache and of who is let in, broken, which the soak has to find."""

import asyncio
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from cache import keys, protocol
from cache.invalidation import registry_replica
from cache.lookup import ServedAnswer
from cache.protocol import EntryVersion, Revisions, State
from cache.redis import store
from cache.tiers import memory
from gateway.auth import authenticator
from gateway.auth.authenticated_request import AuthenticatedRequest
from gateway.auth.authenticator import Authenticator
from gateway.auth.freshness import STRONG, Freshness
from gateway.http import known_heads
from gateway.search import search_request
from index.model.scope import PUBLIC, Scope
from index.search import sight_reader
from index.tenants.principals import Principal
from loadtests.mutants.mutant import Mutant

_LATE_S = 0.1
_CREDENTIAL = re.compile(rb"(?i)\r\nauthorization:[^\r]*")


def _drops_nothing(_self: registry_replica.RegistryReplica[Any], _news: Any) -> dict[str, int]:
    return {}


def _fills_whatever_the_fence(state: State | None, mark: EntryVersion) -> bool:
    return state is not None and state.nonce == mark.nonce


def _serves_whatever_is_applied(
    state: State | None, mark: EntryVersion | None, _: Revisions
) -> bool:
    return state is not None and mark is not None and mark.nonce == state.nonce


def _key_without_scope(*, tenant: str, scope: bytes, query: bytes, edition: str) -> str:
    del scope
    return keys.answer_key(tenant=tenant, scope=b"", query=query, edition=edition)


def _finds_at_any_revision(
    self: memory.MemoryTier, key: str, _revisions: Revisions
) -> ServedAnswer | None:
    entry = self.entries.get(key)
    return None if entry is None else entry.served


def _believes_any_server(state: State | None, _run: str, history: str) -> State | None:
    return state if state is not None and state.history == history else None


def _sight_of_how_many(
    _scope: Scope, audiences: Iterable[Collection[str]], _words: Collection[str]
) -> bytes:
    return b"%032d" % len([*audiences])


_fill = store.RedisStore.fill


async def _fills_late(self: store.RedisStore, *arguments: Any, **options: Any) -> store.FillResult:
    """Others write between a search and its fill, as they do now and then on a busy machine."""
    await asyncio.sleep(_LATE_S)
    return await _fill(self, *arguments, **options)


_digest = known_heads._digest  # noqa: SLF001  the rule that the mutant breaks


def _digest_without_credential(parts: list[bytes]) -> bytes:
    return _digest([_CREDENTIAL.sub(b"", part) for part in parts])


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


MUTANTS: Mapping[str, Mutant] = {
    "none": Mutant("no rule is broken", is_control=True),
    "late-fills": Mutant(
        "fills come late, which breaks no rule",
        [(store.RedisStore, "fill", _fills_late)],
        is_control=True,
    ),
    "drain-drops-nothing": Mutant(
        "a drain sets applied without dropping what the changes doom",
        [(registry_replica.RegistryReplica, "invalidated", _drops_nothing)],
    ),
    "fill-ignores-fence": Mutant(
        "a fill is stored though the invalidation of a change that it misses has begun",
        [
            (protocol, "may_fill", _fills_whatever_the_fence),
            (store.RedisStore, "fill", _fills_late),
        ],
    ),
    "serve-ignores-applied": Mutant(
        "an entry is served though changes have not been applied to it",
        [(protocol, "may_serve", _serves_whatever_is_applied)],
    ),
    "key-without-scope": Mutant(
        "the key of an answer leaves out whom it was computed for",
        [(search_request, "answer_key", _key_without_scope)],
    ),
    "head-forgets-credential": Mutant(
        "heads that differ in the credential alone count as equal",
        [(known_heads, "_digest", _digest_without_credential)],
    ),
    "sight-counts-audiences": Mutant(
        "callers who see as many different audiences share answers",
        [(sight_reader, "sight_digest", _sight_of_how_many)],
    ),
    "memory-ignores-revisions": Mutant(
        "a worker's own memory serves an answer at any revision",
        [(memory.MemoryTier, "find", _finds_at_any_revision)],
    ),
    "gate-remembers": Mutant(
        "who was let in once keeps its groups, and its key works for good",
        [(authenticator.Authenticator, "confirm", _RememberingGate.confirm)],
    ),
    "state-of-any-server": Mutant(
        "a state that another Redis process made is believed",
        [(store, "valid_state", _believes_any_server)],
        faults=("redis started with an older memory",),
    ),
}
