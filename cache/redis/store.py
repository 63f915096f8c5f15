"""The cache in Redis (L2): look up an entry, swap a state, fill, scan the registry.

All keys of a tenant share its hash tag, so that they are in one slot of a Redis Cluster.
Every call may raise `CacheUnavailable`.
"""

import hashlib
import random
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Protocol

from redis.asyncio import Redis
from redis.exceptions import NoScriptError
from redis.typing import EncodableT

from cache.errors import CacheUnavailable
from cache.protocol import State, valid_state
from cache.rate_limit import RateLimit, TakenTokens
from cache.redis import codec
from cache.redis.codec import Entry, EntryHeader
from cache.redis.node import Call, RedisNode, Send

PAGE_ENTRIES = 200  # half a megabyte, a few milliseconds of its reader
_HEADER_BYTES = 512
_SCAN_COUNT = 1_000  # keys per SCAN call: less than a millisecond of Redis
_GLOB_CHARACTERS = re.compile(r"[][*?^\\]")
_ESCAPED = r"\\\g<0>"
_FILL_LOCK_MS = 2_000  # bounds the wait of other processes if the lock's owner dies


@dataclass(frozen=True, slots=True)
class CacheSnapshot:
    """A tenant's cache at one instant: the server, the encoded state, and one entry.

    history:         of the database that the reader has read its revisions from.
    fill_lock_owner: the token of the process that computes the entry; empty if the entry exists or
                     no lock was requested.
    sequence:        the greatest sequence number of the registry, if known.
    """

    tenant: str
    history: str
    server_id: str
    encoded_state: bytes
    entry: Entry | None = None
    fill_lock_owner: str = ""
    sequence: int | None = None

    @property
    def state(self) -> State | None:
        return valid_state(codec.decode_state(self.encoded_state), self.server_id, self.history)


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


@dataclass(frozen=True, slots=True)
class RegistryRecord:
    """A record of the registry; its header is None if the entry is gone or unreadable."""

    key: str
    sequence: int
    header: EntryHeader | None


@dataclass(frozen=True, slots=True)
class RegistryPage:
    """The records of a registry after a sequence number, in order.

    count: of all records; is_last: whether no record follows.
    sequence_last: the greatest number ever assigned.
    """

    records: list[RegistryRecord]
    count: int
    is_last: bool
    sequence_last: int


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


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """What a node says of itself; if it did not answer, the reason.

    slots: None if Redis is not a cluster. memory_bytes_max: 0 for no limit.
    """

    node: str
    slots: int | None
    eviction_policy: str = ""
    memory_bytes: int = 0
    memory_bytes_max: int = 0
    failure: str = ""


class RedisStore:
    """lifetime_s bounds the life of an entry.

    entries_max: of one tenant; the least recently used are evicted. page_entries: of a scan.
    """

    def __init__(
        self,
        nodes: RedisNodes,
        *,
        prefix: str,
        lifetime_s: float,
        entries_max: int,
        page_entries: int = PAGE_ENTRIES,
    ) -> None:
        self._nodes = nodes
        self._prefix = prefix
        self._lifetime_s = lifetime_s
        self._page_entries = page_entries
        self.entries_max = entries_max
        scripts = ("look", "swap", "fill", "scan", "drop", "take")
        self._scripts = {name: _Script(_script(name)) for name in scripts}

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
        return CacheSnapshot(
            tenant,
            history,
            server_id.decode(),
            state or b"",
            codec.decode_entry(entry),
            lock_owner.decode(),
            _to_sequence(sequence),
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
            codec.encode_state(state),
            state.nonce if has_new_nonce else "",
            self._lifetime_ms(),
            *drop,
        )
        current = CacheSnapshot(
            snapshot.tenant,
            snapshot.history,
            server_id.decode(),
            stored_state,
            sequence=_to_sequence(*sequence),
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
            codec.encode_entry(entry),
            lock_token,
            self.entries_max,
        )
        current = CacheSnapshot(snapshot.tenant, snapshot.history, server_id.decode(), stored_state)
        if not is_done:
            return FillResult(False, current)
        sequence, count, removed = registration
        return FillResult(True, current, int(sequence), count, [name.decode() for name in removed])

    async def scan(self, snapshot: CacheSnapshot, nonce: str, *, after: int) -> RegistryPage | None:
        """A page of the records under this nonce after a number; None if the registry is lost.

        Raises `CacheUnavailable` if another server than the snapshot's answers: its registry may
        lack the newest records.
        """
        key = self.name(snapshot.tenant, "entries")
        arguments = (1, key, nonce, after, self._page_entries, _HEADER_BYTES)
        # On a separate connection: half a megabyte would delay other calls.
        server_id, *reply = await self._nodes.run_apart(
            key, lambda client: self._evaluate(client.execute_command, "scan", *arguments)
        )
        if server_id.decode() != snapshot.server_id:
            raise CacheUnavailable("another server answered")
        if not reply:
            return None
        count, is_last, sequence_last, records = reply
        headers = zip(*(records[column::3] for column in range(3)), strict=True)
        return RegistryPage(
            [
                RegistryRecord(key.decode(), int(sequence), codec.decode_header(header))
                for key, sequence, header in headers
            ],
            count,
            bool(is_last),
            int(sequence_last),
        )

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
        prefix = _GLOB_CHARACTERS.sub(_ESCAPED, f"{self._prefix}{codec.FORMAT}")
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
        value: bytes | None = await self._nodes.run(key, _command("GET", key))
        return value

    async def set(
        self, tenant: str, name: str, value: bytes, *, lifetime_s: float | None = None
    ) -> None:
        """Store a value for a lifetime, that of an entry unless named; it is never invalidated."""
        key, lifetime_ms = self.name(tenant, name), self._lifetime_ms(lifetime_s)
        await self._nodes.run(key, _command("SET", key, value, "PX", lifetime_ms))

    async def take_tokens(self, tenant: str, name: str, rate: RateLimit, count: int) -> TakenTokens:
        """Take up to `count` tokens from a bucket."""
        tokens, tokens_left, wait_ms = await self._run(
            "take", tenant, (name,), rate.per_s, rate.size, count
        )
        return TakenTokens(tokens, tokens_left, wait_ms / 1000)

    async def node_statuses(self) -> list[NodeStatus]:
        """The status of each node, by name."""
        statuses = [await _status(node, slots) for node, slots in self._nodes.slots().items()]
        return sorted(statuses, key=lambda status: status.node)

    def name(self, tenant: str, name: str) -> str:
        """The Redis key of a tenant's state, registry, entry or other value."""
        return f"{self._prefix}{codec.FORMAT}{{{tenant}}}:{name}"

    def _lifetime_ms(self, lifetime_s: float | None = None) -> int:
        """Up to a tenth shorter than the lifetime, so that entries do not all expire together."""
        whole_ms = 1000 * (self._lifetime_s if lifetime_s is None else lifetime_s)
        return max(1, round(whole_ms * random.uniform(0.9, 1.0)))  # noqa: S311  no secret

    async def _run(
        self, script: str, tenant: str, names: Collection[str], *arguments: str | bytes | float
    ) -> Any:
        keys = [self.name(tenant, name) for name in names]
        words = (len(keys), *keys, *arguments)
        return await self._nodes.run(keys[0], lambda send: self._evaluate(send, script, *words))

    async def _evaluate(self, send: Send, name: str, *arguments: EncodableT) -> Any:
        script = self._scripts[name]
        try:
            return await send("EVALSHA", script.digest, *arguments)
        except NoScriptError:  # EVAL also stores the script on the server
            return await send("EVAL", script.source, *arguments)


class _Script:
    """digest: by which a server knows the source."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.digest = hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()


def _command(*words: EncodableT) -> Call:
    return lambda send: send(*words)


def _scan_keys(cursor: int, pattern: str) -> Callable[[Redis], Awaitable[Any]]:
    return lambda client: client.scan(cursor, match=pattern, count=_SCAN_COUNT)


async def _status(node: RedisNode, slots: int | None) -> NodeStatus:
    try:
        memory = await node.run_apart(lambda client: client.info("memory"))
    except CacheUnavailable as failure:
        return NodeStatus(node.name, slots, failure=str(failure))
    policy, used, limit = (
        memory[name] for name in ("maxmemory_policy", "used_memory", "maxmemory")
    )
    return NodeStatus(node.name, slots, str(policy), int(used), int(limit))


def _to_sequence(score: bytes | None = None) -> int | None:
    return None if score is None else int(score)


def _script(name: str) -> str:
    """The source of a script, with `run.lua` before it unless it does not need the server's id."""
    folder = resources.files(__package__) / "scripts"
    parts = (name,) if name == "take" else ("run", name)
    return "".join((folder / f"{part}.lua").read_text(encoding="utf-8") for part in parts)
