"""Redis as this package sees it (L2): look at an entry, swap a state, fill, list what there is.

All keys of a tenant share its hash tag, so that they lie on one node of a Redis Cluster.
Every call may raise `CacheUnavailable`.
"""

import random
import re
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from functools import partial
from importlib import resources
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import NoScriptError, RedisError, ResponseError
from redis.typing import EncodableT

from cache.errors import CacheUnavailable
from cache.protocol import State, valid_state
from cache.rate_limit import RateLimit, TakenTokens
from cache.redis import codec
from cache.redis.breaker import RedisBreaker
from cache.redis.call_timeout import CallTimeout
from cache.redis.codec import Entry, EntryHeader
from cache.redis.pipelined_connection import PipelinedConnection

PAGE_ENTRIES = 200  # half a megabyte, a few milliseconds of whoever reads it
_HEAD_BYTES = 512
_SCANNED = 1_000  # keys that one look passes over: less than a millisecond of Redis
_MAGIC = re.compile(r"[][*?^\\]")  # what a pattern takes for more than itself
_PLAIN = r"\\\g<0>"
_CLAIM_MS = 2_000  # for which others wait for whoever computes an answer, should it not come back


@dataclass(frozen=True, slots=True)
class CacheSnapshot:
    """A tenant's cache at one instant: the process, the state as stored, and one entry.

    history:  of the database, that the reader has read its revisions from.
    claimant: who is computing the entry; empty if it is there, or if nobody was asked for.
    number:   the greatest that the registry has given, if that was asked for and is known.
    """

    home: str
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
    """Whether it was done, and the tenant's cache as it is now (no entry is looked at)."""

    is_done: bool
    snapshot: CacheSnapshot


@dataclass(frozen=True, slots=True)
class FillResult(CasResult):
    """Whether an entry was stored; if so, its number in the registry, how many that holds now, and
    the names that have left it.
    """

    sequence: int = 0
    count: int = 0
    removed: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class RegistryRecord:
    """One of the registry: None instead of the head of what has gone, or can't be read."""

    key: str
    sequence: int
    header: EntryHeader | None


@dataclass(frozen=True, slots=True)
class RegistryPage:
    """What a registry holds after a number, by number, and of how many.

    is_last: whether that is all; last: the greatest number that was ever given.
    """

    records: list[RegistryRecord]
    count: int
    is_last: bool
    sequence_last: int


class RedisStore:
    """budget_s bounds each call; lifetime_s bounds how long an entry takes up memory.

    entries_max: of one tenant; what was not used for longest makes room. page_entries: of a scan.
    """

    def __init__(
        self,
        client: Redis,
        breaker: RedisBreaker,
        *,
        prefix: str,
        budget_s: float,
        lifetime_s: float,
        entries_max: int,
        page_entries: int = PAGE_ENTRIES,
    ) -> None:
        self._client = client
        self._line = PipelinedConnection(client)
        self._breaker = breaker
        self._prefix = prefix
        self._budget_s = budget_s
        self._lifetime_s = lifetime_s
        self._page_entries = page_entries
        self.entries_max = entries_max
        scripts = ("look", "swap", "fill", "scan", "drop", "take")
        self._scripts = {name: client.register_script(_script(name)) for name in scripts}

    async def lookup(self, home: str, history: str, key: str, *, claim: str = "") -> CacheSnapshot:
        """The tenant's state and the entry under `key`, in one atomic step.

        history: that the caller has read its revisions from.
        claim: the caller's token, if it is going to compute what is not there.
        """
        names = ("state", key, f"{key}:claim", "entries")
        run, stored, entry, claimant, number = await self._run(
            "look", home, names, claim, _CLAIM_MS
        )
        return CacheSnapshot(
            home,
            history,
            run.decode(),
            stored or b"",
            codec.decode_entry(entry),
            claimant.decode(),
            _to_sequence(number),
        )

    async def compare_and_swap(
        self, sight: CacheSnapshot, state: State, *, drop: Collection[str] = ()
    ) -> CasResult:
        """Replace the state that was seen and drop entries, all or nothing.

        A new nonce empties the registry: entries of the old one are no entries.
        """
        renewed = sight.state is None or sight.state.nonce != state.nonce
        done, run, stored, *number = await self._run(
            "swap",
            sight.home,
            ("state", "entries", *drop),
            sight.server_id,
            sight.encoded_state,
            codec.encode_state(state),
            state.nonce if renewed else "",
            self._lifetime_ms(),
            *drop,
        )
        now = CacheSnapshot(
            sight.home, sight.history, run.decode(), stored, sequence=_to_sequence(*number)
        )
        return CasResult(bool(done), now)

    async def fill(self, sight: CacheSnapshot, key: str, entry: Entry, *, claim: str) -> FillResult:
        """Store and register the entry if the state is still the one seen; ends the claim."""
        done, run, stored, *listed = await self._run(
            "fill",
            sight.home,
            ("state", "entries", key, f"{key}:claim"),
            sight.server_id,
            sight.encoded_state,
            entry.version.nonce,
            self._lifetime_ms(),
            key,
            codec.encode_entry(entry),
            claim,
            self.entries_max,
        )
        now = CacheSnapshot(sight.home, sight.history, run.decode(), stored)
        if not done:
            return FillResult(False, now)
        number, count, gone = listed
        return FillResult(True, now, int(number), count, [name.decode() for name in gone])

    async def scan(self, sight: CacheSnapshot, nonce: str, *, after: int) -> RegistryPage | None:
        """What was registered under this nonce after that number; None if the registry is lost.

        Only the server of the sight may say: another one's registry may lack the newest records.
        """
        keys = [self.name(sight.home, "entries")]
        arguments = (nonce, after, self._page_entries, _HEAD_BYTES)
        # On a connection of its own: half a megabyte would hold up what others ask.
        run, *found = await self._call(lambda: self._scripts["scan"](keys=keys, args=arguments))
        if run.decode() != sight.server_id:
            raise CacheUnavailable("another server answered")
        if not found:
            return None
        count, is_last, last, listed = found
        heads = zip(*(listed[at::3] for at in range(3)), strict=True)
        return RegistryPage(
            [
                RegistryRecord(key.decode(), int(number), codec.decode_header(head))
                for key, number, head in heads
            ],
            count,
            bool(is_last),
            int(last),
        )

    async def drop(self, home: str, key: str) -> None:
        """Drop an entry, whatever it holds by now."""
        await self._run("drop", home, ("entries", key), key)

    async def drop_tenant(self, home: str) -> int:
        """Drop all that there is of the tenant, listed or not; it looks through all of Redis."""
        pattern = f"{_MAGIC.sub(_PLAIN, self._prefix)}*{{{home}}}:*"
        cursor, gone = 0, 0
        while True:
            cursor, names = await self._call(
                partial(self._client.scan, cursor, match=pattern, count=_SCANNED)
            )
            if names:
                gone += await self._call(partial(self._client.unlink, *names))
            if cursor == 0:
                return gone

    async def release_fill_lock(self, home: str, key: str) -> None:
        """End a claim, so that nobody waits for what does not come."""
        await self._call(lambda: self._line.send("DEL", self.name(home, f"{key}:claim")))

    async def get(self, home: str, name: str) -> bytes | None:
        """What was kept under a name that is no entry's."""
        found: bytes | None = await self._call(
            lambda: self._line.send("GET", self.name(home, name))
        )
        return found

    async def set(self, home: str, name: str, value: bytes) -> None:
        """Until its lifetime ends; nothing ever invalidates it."""
        key, lifetime_ms = self.name(home, name), self._lifetime_ms()
        await self._call(lambda: self._line.send("SET", key, value, "PX", lifetime_ms))

    async def take_tokens(self, home: str, name: str, rate: RateLimit, wanted: int) -> TakenTokens:
        """Up to so many tokens out of a bucket."""
        taken, left, wait_ms = await self._run("take", home, (name,), rate.per_s, rate.size, wanted)
        return TakenTokens(taken, left, wait_ms / 1000)

    async def eviction_policy(self) -> str:
        """Redis's `maxmemory-policy`."""
        found = await self._call(lambda: self._client.config_get("maxmemory-policy"))
        return str(found["maxmemory-policy"])

    def name(self, home: str, name: str) -> str:
        """The key in Redis of one thing of a tenant: its state, its registry, or an entry."""
        return f"{self._prefix}{codec.FORMAT}{{{home}}}:{name}"

    def _lifetime_ms(self) -> int:
        """Up to a tenth shorter than the longest, so that entries don't all end together."""
        return round(self._lifetime_s * 1000 * random.uniform(0.9, 1.0))  # noqa: S311  no secret

    async def _run(
        self, script: str, home: str, names: Collection[str], *arguments: str | bytes | float
    ) -> Any:
        keys = [self.name(home, name) for name in names]
        return await self._call(lambda: self._evaluate(script, len(keys), *keys, *arguments))

    async def _evaluate(self, script: str, *arguments: EncodableT) -> Any:
        registered = self._scripts[script]
        try:
            return await self._line.send("EVALSHA", registered.sha, *arguments)
        except NoScriptError:  # a server that has not met it yet keeps it from now on
            return await self._line.send("EVAL", registered.script, *arguments)

    async def _call(self, call: Callable[[], Awaitable[Any]]) -> Any:
        if self._breaker.is_open:
            raise CacheUnavailable("Redis failed a moment ago")
        try:
            async with CallTimeout(self._budget_s):
                answer = await call()
        except (RedisError, OSError) as error:
            self._breaker.failed()
            if not isinstance(error, ResponseError):  # which is an answer, on a line that is well
                self._line.disconnect()
            raise CacheUnavailable(f"Redis did not answer: {type(error).__name__}") from error
        self._breaker.succeeded()
        return answer


def _to_sequence(score: bytes | None = None) -> int | None:
    return None if score is None else int(score)


def _script(name: str) -> str:
    """The script, which may use what `run.lua` says before it."""
    folder = resources.files("cache") / "redis" / "scripts"
    parts = (name,) if name == "take" else ("run", name)  # whichever server it is
    return "".join((folder / f"{part}.lua").read_text(encoding="utf-8") for part in parts)
