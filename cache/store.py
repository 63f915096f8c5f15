"""Redis as this package sees it (L2): look at a partition, swap its state, list what it holds.

All keys of a partition share its hash tag, so that they lie on one node of a Redis Cluster.
Every call may raise `CacheUnavailable`.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from cache import codec
from cache.breaker import Breaker
from cache.codec import Entry
from cache.errors import CacheUnavailable
from cache.protocol import State, believed


@dataclass(frozen=True, slots=True)
class Sight:
    """A partition at one instant: the process, its state as stored, and one entry."""

    partition: str
    run: str
    stored: bytes
    entry: Entry | None

    @property
    def state(self) -> State | None:
        return believed(codec.decode_state(self.stored), self.run)


@dataclass(frozen=True, slots=True)
class Swap:
    """Whether a swap was done, and the partition as it is now (its entry is not looked at)."""

    done: bool
    sight: Sight


class Store:
    """budget_s bounds each call; lifetime_s bounds how long an entry takes up memory."""

    def __init__(
        self,
        client: Redis,
        breaker: Breaker,
        *,
        prefix: str,
        budget_s: float,
        lifetime_s: float,
    ) -> None:
        self._client = client
        self._breaker = breaker
        self._prefix = prefix
        self._budget_s = budget_s
        self._lifetime_s = lifetime_s
        self._look = client.register_script(_script("look"))
        self._swap = client.register_script(_script("swap"))
        self._scan = client.register_script(_script("scan"))

    async def look(self, partition: str, key: str) -> Sight:
        """The partition's state and the entry under `key`, in one atomic step."""
        keys = [self.name(partition, "state"), self.name(partition, key)]
        run, stored, entry = await self._ask(lambda: self._look(keys=keys))
        return Sight(partition, run.decode(), stored or b"", codec.decode_entry(entry))

    async def swap(
        self,
        sight: Sight,
        state: State,
        *,
        put: Mapping[str, Entry] | None = None,
        drop: Collection[str] = (),
    ) -> Swap:
        """Replace the state that was seen, put and drop entries, all or nothing.

        A new nonce empties the registry: entries of the old one are no entries.
        """
        put = put or {}
        names = ["state", "entries", *put, *drop]
        renewed = sight.state is None or sight.state.nonce != state.nonce
        arguments: list[bytes | str | int] = [
            sight.run,
            sight.stored,
            codec.encode_state(state),
            state.nonce if renewed else "",
            self._lifetime_ms(),
            len(put),
            *(codec.encode_entry(entry) for entry in put.values()),
        ]
        keys = [self.name(sight.partition, name) for name in names]
        done, run, found = await self._ask(lambda: self._swap(keys=keys, args=arguments))
        return Swap(bool(done), Sight(sight.partition, run.decode(), found, None))

    async def registered(self, sight: Sight, nonce: str, *, limit: int) -> list[str] | None:
        """The keys of all entries filled under this nonce; None if they are too many or lost.

        Only the server of the sight may say: another one's registry may lack the newest records.
        """
        start, registry = self.name(sight.partition, ""), self.name(sight.partition, "entries")
        run, members = await self._ask(lambda: self._scan(keys=[registry], args=[limit + 1]))
        if run.decode() != sight.run:
            raise CacheUnavailable("another server answered")
        names = {member.decode() for member in members}
        if nonce not in names:
            return None
        return [name.removeprefix(start) for name in names - {nonce}]

    async def eviction_policy(self) -> str:
        """Redis's `maxmemory-policy`."""
        found = await self._ask(lambda: self._client.config_get("maxmemory-policy"))
        return str(found["maxmemory-policy"])

    def name(self, partition: str, name: str) -> str:
        """The key in Redis of one thing of a partition: its state, its entries, or one of them."""
        return f"{self._prefix}{{{partition}}}:{name}"

    def _lifetime_ms(self) -> int:
        """Up to a tenth shorter than the longest, so that entries don't all end together."""
        return round(self._lifetime_s * 1000 * random.uniform(0.9, 1.0))  # noqa: S311  no secret

    async def _ask(self, call: Callable[[], Awaitable[Any]]) -> Any:
        if self._breaker.is_open:
            raise CacheUnavailable("Redis failed a moment ago")
        try:
            async with asyncio.timeout(self._budget_s):
                answer = await call()
        except (RedisError, OSError) as error:
            self._breaker.failed()
            raise CacheUnavailable(f"Redis did not answer: {type(error).__name__}") from error
        self._breaker.succeeded()
        return answer


def _script(name: str) -> str:
    """The script, which may use what `run.lua` says before it."""
    folder = resources.files("cache") / "scripts"
    return "".join((folder / f"{part}.lua").read_text(encoding="utf-8") for part in ("run", name))
