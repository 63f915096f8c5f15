"""The cache in Redis (L2): look up an entry, swap a state, fill, scan the registry.

All keys of a tenant share its hash tag, so that they are in one slot of a Redis Cluster.
Every call may raise `CacheUnavailable`.
"""

import random
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from redis.asyncio import Redis
from redis.typing import EncodableT

from cache.errors import CacheUnavailable
from cache.protocol import State, valid_state
from cache.rate_limit import RateLimit, TakenTokens
from cache.redis import registry_page
from cache.redis.codec import Codec, Entry, Sealer
from cache.redis.lua_scripts import LuaScripts
from cache.redis.node import Call, RedisNode
from cache.redis.node_status import NodeStatus, node_status
from cache.redis.registry_page import RegistryPage, to_sequence, to_text

PAGE_ENTRIES = 200  # half a megabyte, a few milliseconds of its reader
_HEADER_BYTES = 512
_SCAN_COUNT = 1_000  # keys per SCAN call: less than a millisecond of Redis
_GLOB_CHARACTERS = re.compile(r"[][*?^\\]")
_ESCAPED = r"\\\g<0>"
_FILL_LOCK_MS = 2_000  # bounds the wait of other processes if the lock's owner dies

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CacheSnapshot:
    """A tenant's cache at one instant: the server, the stored state, and one entry.

    history:         of the database that the reader has read its revisions from.
    encoded_state:   as Redis holds it; stored_state: None if it is absent or unreadable.
    fill_lock_owner: the token of the process that computes the entry; empty if the entry exists or
                     no lock was requested.
    sequence:        the greatest sequence number of the registry, if known.
    """

    tenant: str
    history: str
    server_id: str
    encoded_state: bytes
    stored_state: State | None
    entry: Entry | None = None
    fill_lock_owner: str = ""
    sequence: int | None = None

    @property
    def state(self) -> State | None:
        return valid_state(self.stored_state, self.server_id, self.history)


@dataclass(frozen=True, slots=True)
class CasResult:
    """Whether the swap was done, and the tenant's cache after it, without an entry."""

    is_done: bool
    snapshot: CacheSnapshot


@dataclass(frozen=True, slots=True)
class FillResult(CasResult):
    """Whether an entry was stored; if so, its sequence number, the size of the registry, and the
    names that were removed from it.
    """

    sequence: int = 0
    count: int = 0
    removed: Collection[str] = ()


class RedisNodes(Protocol):
    """One server, or the nodes of a cluster. Calls raise `CacheUnavailable`."""

    async def run(self, key: str, call: Call, /) -> Any:
        """Make a call to the node that has the key."""

    async def run_apart(self, key: str, call: Callable[[Redis], Awaitable[Any]], /) -> Any:
        """Make a call with a long reply to the node that has the key."""

    def owner(self, key: str, /) -> RedisNode:
        """The node that has the key, as far as is known."""

    async def holder(self, key: str, /) -> RedisNode:
        """The node that says that it has the key or would store it."""

    def slots(self) -> Mapping[RedisNode, int | None]:
        """How many slots each node owns; None if Redis is not a cluster."""


class RedisStore:
    """lifetime_s bounds the life of an entry.

    entries_max: of one tenant; the least recently used are evicted. page_entries: of a scan.
    sealer: seals all values but the buckets of rates, with which Redis itself computes; None: the
        values are in plain.
    on_unreadable: is called for each value that is altered, or that the sealer has not sealed.
    """

    def __init__(
        self,
        nodes: RedisNodes,
        *,
        prefix: str,
        lifetime_s: float,
        entries_max: int,
        page_entries: int = PAGE_ENTRIES,
        sealer: Sealer | None = None,
        on_unreadable: Callable[[], None] = lambda: None,
    ) -> None:
        self._nodes = nodes
        self._codec = Codec(sealer, lifetime_s=lifetime_s)
        self._on_unreadable = on_unreadable
        self._prefix = prefix
        self._lifetime_s = lifetime_s
        self._page_entries = page_entries
        self.entries_max = entries_max
        self._scripts = LuaScripts()

    async def lookup(
        self, tenant: str, history: str, key: str, *, lock_token: str = ""
    ) -> CacheSnapshot:
        """The tenant's state and the entry under `key`, in one atomic step.

        history: that the caller has read its revisions from.
        lock_token: acquires the fill lock if the entry is absent; empty for no lock.
        """
        names = ("state", key, f"{key}:fill-lock", "entries")
        server_id, state, entry, lock_owner, sequence = await self._run(
            "look", tenant, names, lock_token, _FILL_LOCK_MS, key
        )
        return self._snapshot(
            tenant,
            history,
            server_id,
            state,
            entry=self._read(self._codec.decode_entry, self.name(tenant, key), entry),
            fill_lock_owner=to_text(lock_owner),
            sequence=to_sequence(sequence),
        )

    async def compare_and_swap(
        self, snapshot: CacheSnapshot, state: State, *, drop: Collection[str] = ()
    ) -> CasResult:
        """Replace the state if it is unchanged since the snapshot, and drop entries, in one step.

        A new nonce empties the registry.
        """
        has_new_nonce = snapshot.state is None or snapshot.state.nonce != state.nonce
        is_done, server_id, stored_state, *sequence = await self._run(
            "swap",
            snapshot.tenant,
            ("state", "entries", *drop),
            snapshot.server_id,
            snapshot.encoded_state,
            self._codec.encode_state(self.name(snapshot.tenant, "state"), state),
            state.nonce if has_new_nonce else "",
            self._lifetime_ms(),
            *drop,
        )
        current = self._snapshot(
            snapshot.tenant,
            snapshot.history,
            server_id,
            stored_state,
            sequence=to_sequence(*sequence),
        )
        return CasResult(bool(is_done), current)

    async def fill(
        self, snapshot: CacheSnapshot, key: str, entry: Entry, *, lock_token: str
    ) -> FillResult:
        """Store and register the entry if the state is unchanged; release the fill lock."""
        is_done, server_id, stored_state, *registration = await self._run(
            "fill",
            snapshot.tenant,
            ("state", "entries", key, f"{key}:fill-lock"),
            snapshot.server_id,
            snapshot.encoded_state,
            entry.version.nonce,
            self._lifetime_ms(),
            key,
            self._codec.encode_entry(self.name(snapshot.tenant, key), entry),
            lock_token,
            self.entries_max,
        )
        current = self._snapshot(snapshot.tenant, snapshot.history, server_id, stored_state)
        if not is_done:
            return FillResult(False, current)
        number, count, removed = registration
        sequence = to_sequence(number)
        if sequence is None:  # no look-up takes the entry
            return FillResult(False, current)
        return FillResult(True, current, sequence, count, [to_text(name) for name in removed])

    async def scan(self, snapshot: CacheSnapshot, nonce: str, *, after: int) -> RegistryPage | None:
        """A page of the records under this nonce after a number.

        None if the registry is lost, or holds what Nearhit does not write.

        Raises `CacheUnavailable` if another server than the snapshot's answers: its registry may
        lack the newest records.
        """
        key = self.name(snapshot.tenant, "entries")
        arguments = (1, key, nonce, after, self._page_entries, _HEADER_BYTES)
        # On a separate connection: half a megabyte would delay other calls.
        server_id, *reply = await self._nodes.run_apart(
            key, lambda client: self._scripts.evaluate(client.execute_command, "scan", *arguments)
        )
        if server_id.decode() != snapshot.server_id:
            raise CacheUnavailable("another server answered")
        if not reply:
            return None
        page = registry_page.decode_page(
            reply,
            lambda key, header: self._read(
                self._codec.decode_header, self.name(snapshot.tenant, key), header
            ),
        )
        if page is None:
            self._on_unreadable()
        return page

    async def entry_count(self, tenant: str) -> int:
        """How many answers the tenant's registry lists. Raises `CacheUnavailable`."""
        key = self.name(tenant, "entries")
        listed: int = await self._nodes.run(key, _command("ZCARD", key))
        return max(0, listed - 1)  # its nonce is listed too

    async def drop(self, tenant: str, key: str) -> None:
        """Drop an entry."""
        await self._run("drop", tenant, ("entries", key), key)

    async def drop_tenant(self, tenant: str) -> int:
        """Delete all keys of the tenant, registered or not; scans all keys of their node.

        In a cluster their slot may move meanwhile: then the node that receives it is scanned too.
        Returns the number of deleted keys.
        """
        absent = self.name(tenant, "")
        scanned: set[RedisNode] = set()
        node, deleted = self._nodes.owner(absent), 0
        while node not in scanned:
            deleted += await self._drop_tenant_on(node, tenant)
            scanned.add(node)
            node = await self._nodes.holder(absent)
        return deleted

    async def _drop_tenant_on(self, node: RedisNode, tenant: str) -> int:
        pattern = f"{_GLOB_CHARACTERS.sub(_ESCAPED, self._prefix)}*{{{tenant}}}:*"
        cursor, deleted = 0, 0
        while True:
            cursor, names = await node.run_apart(_scan_keys(cursor, pattern))
            if names:
                key = self.name(tenant, "")
                deleted += await self._nodes.run(key, _command("UNLINK", *names))
            if cursor == 0:
                return deleted

    async def drop_everywhere(self, name_pattern: str) -> int:
        """Delete the values of all tenants whose names match; scans all keys of all nodes.

        name_pattern: as of the command SCAN. Returns the number of deleted keys.
        """
        prefix = _GLOB_CHARACTERS.sub(_ESCAPED, f"{self._prefix}{self._codec.format}")
        deleted = 0
        for node in list(self._nodes.slots()):
            cursor = None
            while cursor != 0:
                scan = _scan_keys(cursor or 0, f"{prefix}{{*}}:{name_pattern}")
                cursor, names = await node.run_apart(scan)
                for name in names:  # in a cluster, each in a slot of its own
                    deleted += await self._nodes.run(name.decode(), _command("UNLINK", name))
        return deleted

    async def release_fill_lock(self, tenant: str, key: str) -> None:
        """Release the fill lock, so that other processes stop waiting for the entry."""
        name = self.name(tenant, f"{key}:fill-lock")
        await self._nodes.run(name, _command("DEL", name))

    async def get(self, tenant: str, name: str) -> bytes | None:
        """The value that `set` stored under this name."""
        key = self.name(tenant, name)
        raw: bytes | None = await self._nodes.run(key, _command("GET", key))
        return self._read(self._codec.decode_value, key, raw)

    async def set(
        self, tenant: str, name: str, value: bytes, *, lifetime_s: float | None = None
    ) -> None:
        """Store a value for a lifetime, that of an entry unless named; it is never invalidated."""
        key, lifetime_ms = self.name(tenant, name), self._lifetime_ms(lifetime_s)
        sealed = self._codec.encode_value(key, value)
        await self._nodes.run(key, _command("SET", key, sealed, "PX", lifetime_ms))

    async def take_tokens(self, tenant: str, name: str, rate: RateLimit, count: int) -> TakenTokens:
        """Take up to `count` tokens from a bucket."""
        tokens, tokens_left, wait_ms = await self._run(
            "take", tenant, (name,), rate.per_s, rate.size, count
        )
        return TakenTokens(tokens, tokens_left, wait_ms / 1000)

    async def node_statuses(self) -> list[NodeStatus]:
        """The status of each node, by name."""
        key, pattern = self.name("public", "permissions"), f"{self._prefix}*"
        statuses = [
            await node_status(node, slots, probed_key=key, key_pattern=pattern)
            for node, slots in self._nodes.slots().items()
        ]
        return sorted(statuses, key=lambda status: status.node)

    @property
    def is_refused(self) -> bool:
        """Whether a node has refused its last call for want of a permission."""
        return any(node.is_refused for node in self._nodes.slots())

    def name(self, tenant: str, name: str) -> str:
        """The Redis key of a tenant's state, registry, entry or other value."""
        return f"{self._prefix}{self._codec.format}{{{tenant}}}:{name}"

    def _snapshot(
        self,
        tenant: str,
        history: str,
        server_id: bytes,
        state: bytes | None,
        *,
        entry: Entry | None = None,
        fill_lock_owner: str = "",
        sequence: int | None = None,
    ) -> CacheSnapshot:
        stored_state = self._read(self._codec.decode_state, self.name(tenant, "state"), state)
        return CacheSnapshot(
            tenant,
            history,
            server_id.decode(),
            state or b"",
            stored_state,
            entry,
            fill_lock_owner,
            sequence,
        )

    def _read(
        self, decode: Callable[[str, bytes], T | None], name: str, raw: bytes | None
    ) -> T | None:
        """None if Redis holds nothing, or what can't be read."""
        if not raw:
            return None
        value = decode(name, raw)
        if value is None:
            self._on_unreadable()
        return value

    def _lifetime_ms(self, lifetime_s: float | None = None) -> int:
        """Up to a tenth shorter than the lifetime, so that entries do not all expire together."""
        whole_ms = 1000 * (self._lifetime_s if lifetime_s is None else lifetime_s)
        return max(1, round(whole_ms * random.uniform(0.9, 1.0)))  # noqa: S311  no secret

    async def _run(
        self, script: str, tenant: str, names: Collection[str], *arguments: str | bytes | float
    ) -> Any:
        keys = [self.name(tenant, name) for name in names]
        words = (len(keys), *keys, *arguments)
        return await self._nodes.run(
            keys[0], lambda send: self._scripts.evaluate(send, script, *words)
        )


def _command(*words: EncodableT) -> Call:
    return lambda send: send(*words)


def _scan_keys(cursor: int, pattern: str) -> Callable[[Redis], Awaitable[Any]]:
    return lambda client: client.scan(cursor, match=pattern, count=_SCAN_COUNT)
