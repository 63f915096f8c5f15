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
from cache.protocol import State, believed
from cache.rate_limit import Rate, Taken
from cache.redis import codec
from cache.redis.breaker import Breaker
from cache.redis.call_timeout import Budget
from cache.redis.codec import Entry, Head
from cache.redis.pipelined_connection import Line

PAGE_ENTRIES = 200  # half a megabyte, a few milliseconds of whoever reads it
_HEAD_BYTES = 512
_SCANNED = 1_000  # keys that one look passes over: less than a millisecond of Redis
_MAGIC = re.compile(r"[][*?^\\]")  # what a pattern takes for more than itself
_PLAIN = r"\\\g<0>"
_CLAIM_MS = 2_000  # for which others wait for whoever computes an answer, should it not come back


@dataclass(frozen=True, slots=True)
class Sight:
    """A tenant's cache at one instant: the process, the state as stored, and one entry.

    history:  of the database, that the reader has read its revisions from.
    claimant: who is computing the entry; empty if it is there, or if nobody was asked for.
    number:   the greatest that the registry has given, if that was asked for and is known.
    """

    home: str
    history: str
    run: str
    stored: bytes
    entry: Entry | None = None
    claimant: str = ""
    number: int | None = None

    @property
    def state(self) -> State | None:
        return believed(codec.decode_state(self.stored), self.run, self.history)


@dataclass(frozen=True, slots=True)
class Swap:
    """Whether it was done, and the tenant's cache as it is now (no entry is looked at)."""

    done: bool
    sight: Sight


@dataclass(frozen=True, slots=True)
class Filled(Swap):
    """Whether an entry was stored; if so, its number in the registry, how many that holds now, and
    the names that have left it.
    """

    number: int = 0
    count: int = 0
    gone: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Listed:
    """One of the registry: None instead of the head of what has gone, or can't be read."""

    key: str
    number: int
    head: Head | None


@dataclass(frozen=True, slots=True)
class Page:
    """What a registry holds after a number, by number, and of how many.

    is_last: whether that is all; last: the greatest number that was ever given.
    """

    listed: list[Listed]
    count: int
    is_last: bool
    last: int


class Store:
    """budget_s bounds each call; lifetime_s bounds how long an entry takes up memory.

    entries_max: of one tenant; what was not used for longest makes room. page_entries: of a scan.
    """

    def __init__(
        self,
        client: Redis,
        breaker: Breaker,
        *,
        prefix: str,
        budget_s: float,
        lifetime_s: float,
        entries_max: int,
        page_entries: int = PAGE_ENTRIES,
    ) -> None:
        self._client = client
        self._line = Line(client)
        self._breaker = breaker
        self._prefix = prefix
        self._budget_s = budget_s
        self._lifetime_s = lifetime_s
        self._page_entries = page_entries
        self.entries_max = entries_max
        scripts = ("look", "swap", "fill", "scan", "drop", "take")
        self._scripts = {name: client.register_script(_script(name)) for name in scripts}

    async def look(self, home: str, history: str, key: str, *, claim: str = "") -> Sight:
        """The tenant's state and the entry under `key`, in one atomic step.

        history: that the caller has read its revisions from.
        claim: the caller's token, if it is going to compute what is not there.
        """
        names = ("state", key, f"{key}:claim", "entries")
        run, stored, entry, claimant, number = await self._run(
            "look", home, names, claim, _CLAIM_MS
        )
        return Sight(
            home,
            history,
            run.decode(),
            stored or b"",
            codec.decode_entry(entry),
            claimant.decode(),
            _number(number),
        )

    async def swap(self, sight: Sight, state: State, *, drop: Collection[str] = ()) -> Swap:
        """Replace the state that was seen and drop entries, all or nothing.

        A new nonce empties the registry: entries of the old one are no entries.
        """
        renewed = sight.state is None or sight.state.nonce != state.nonce
        done, run, stored, *number = await self._run(
            "swap",
            sight.home,
            ("state", "entries", *drop),
            sight.run,
            sight.stored,
            codec.encode_state(state),
            state.nonce if renewed else "",
            self._lifetime_ms(),
            *drop,
        )
        now = Sight(sight.home, sight.history, run.decode(), stored, number=_number(*number))
        return Swap(bool(done), now)

    async def fill(self, sight: Sight, key: str, entry: Entry, *, claim: str) -> Filled:
        """Store and register the entry if the state is still the one seen; ends the claim."""
        done, run, stored, *listed = await self._run(
            "fill",
            sight.home,
            ("state", "entries", key, f"{key}:claim"),
            sight.run,
            sight.stored,
            entry.mark.nonce,
            self._lifetime_ms(),
            key,
            codec.encode_entry(entry),
            claim,
            self.entries_max,
        )
        now = Sight(sight.home, sight.history, run.decode(), stored)
        if not done:
            return Filled(False, now)
        number, count, gone = listed
        return Filled(True, now, int(number), count, [name.decode() for name in gone])

    async def scan(self, sight: Sight, nonce: str, *, after: int) -> Page | None:
        """What was registered under this nonce after that number; None if the registry is lost.

        Only the server of the sight may say: another one's registry may lack the newest records.
        """
        keys = [self.name(sight.home, "entries")]
        arguments = (nonce, after, self._page_entries, _HEAD_BYTES)
        # On a connection of its own: half a megabyte would hold up what others ask.
        run, *found = await self._ask(lambda: self._scripts["scan"](keys=keys, args=arguments))
        if run.decode() != sight.run:
            raise CacheUnavailable("another server answered")
        if not found:
            return None
        count, is_last, last, listed = found
        heads = zip(*(listed[at::3] for at in range(3)), strict=True)
        return Page(
            [
                Listed(key.decode(), int(number), codec.decode_head(head))
                for key, number, head in heads
            ],
            count,
            bool(is_last),
            int(last),
        )

    async def drop(self, home: str, key: str) -> None:
        """Drop an entry, whatever it holds by now."""
        await self._run("drop", home, ("entries", key), key)

    async def forget(self, home: str) -> int:
        """Drop all that there is of the tenant, listed or not; it looks through all of Redis."""
        pattern = f"{_MAGIC.sub(_PLAIN, self._prefix)}*{{{home}}}:*"
        cursor, gone = 0, 0
        while True:
            cursor, names = await self._ask(
                partial(self._client.scan, cursor, match=pattern, count=_SCANNED)
            )
            if names:
                gone += await self._ask(partial(self._client.unlink, *names))
            if cursor == 0:
                return gone

    async def release(self, home: str, key: str) -> None:
        """End a claim, so that nobody waits for what does not come."""
        await self._ask(lambda: self._line.ask("DEL", self.name(home, f"{key}:claim")))

    async def recall(self, home: str, name: str) -> bytes | None:
        """What was kept under a name that is no entry's."""
        found: bytes | None = await self._ask(lambda: self._line.ask("GET", self.name(home, name)))
        return found

    async def keep(self, home: str, name: str, value: bytes) -> None:
        """Until its lifetime ends; nothing ever invalidates it."""
        key, lifetime_ms = self.name(home, name), self._lifetime_ms()
        await self._ask(lambda: self._line.ask("SET", key, value, "PX", lifetime_ms))

    async def take(self, home: str, name: str, rate: Rate, wanted: int) -> Taken:
        """Up to so many tokens out of a bucket."""
        taken, left, wait_ms = await self._run("take", home, (name,), rate.per_s, rate.size, wanted)
        return Taken(taken, left, wait_ms / 1000)

    async def eviction_policy(self) -> str:
        """Redis's `maxmemory-policy`."""
        found = await self._ask(lambda: self._client.config_get("maxmemory-policy"))
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
        return await self._ask(lambda: self._evaluated(script, len(keys), *keys, *arguments))

    async def _evaluated(self, script: str, *arguments: EncodableT) -> Any:
        registered = self._scripts[script]
        try:
            return await self._line.ask("EVALSHA", registered.sha, *arguments)
        except NoScriptError:  # a server that has not met it yet keeps it from now on
            return await self._line.ask("EVAL", registered.script, *arguments)

    async def _ask(self, call: Callable[[], Awaitable[Any]]) -> Any:
        if self._breaker.is_open:
            raise CacheUnavailable("Redis failed a moment ago")
        try:
            async with Budget(self._budget_s):
                answer = await call()
        except (RedisError, OSError) as error:
            self._breaker.failed()
            if not isinstance(error, ResponseError):  # which is an answer, on a line that is well
                self._line.hang_up()
            raise CacheUnavailable(f"Redis did not answer: {type(error).__name__}") from error
        self._breaker.succeeded()
        return answer


def _number(score: bytes | None = None) -> int | None:
    return None if score is None else int(score)


def _script(name: str) -> str:
    """The script, which may use what `run.lua` says before it."""
    folder = resources.files("cache") / "redis" / "scripts"
    parts = (name,) if name == "take" else ("run", name)  # whichever server it is
    return "".join((folder / f"{part}.lua").read_text(encoding="utf-8") for part in parts)
