"""What assists cost a search that asks for none: `python -m tests.gateway.extensions.rag.off`.

A gateway of its own, in this process; what is counted are calls of the house's functions and blocks
of memory, which are the same on every machine, and not time.
"""

import asyncio
import cProfile
import os
import sys
import tracemalloc
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import orjson
from pydantic import SecretStr

from gateway.extensions.embedded_servers import owned_servers
from gateway.monitoring import logs
from gateway.settings.settings import Settings
from index.embedders.static_embedder import StaticEmbedder
from tests.conftest import ADMIN_KEY, data_dir
from tests.gateway.support.gateways import Caller, running

ROOT = Path(__file__).parents[4]
SEARCHES = 60
_OURS = tuple(f"{ROOT}/{package}/" for package in ("gateway", "cache", "index", "ingest", "common"))
_ASSISTS = (
    "gateway/extensions/rag/",
    "gateway/extensions/answers/",
    "gateway/extensions/mcp/",
    "gateway/extensions/vector_stores/",
    "gateway/extensions/_chat/",
)
_WARM = 20
_WARM_S_MAX = 120.0


@asynccontextmanager
async def asked() -> AsyncIterator[Caller]:
    """Somebody with a document, of the servers that the environment names or of its own."""
    logs.configure("error")
    if os.environ.get("NEARHIT_DATABASE_URL"):
        async with _served(Settings()) as ana:
            yield ana
        return
    with data_dir() as folder, owned_servers.own_servers(folder) as servers:
        urls = SecretStr(servers.database_url), SecretStr(servers.redis_url)
        key = SecretStr(ADMIN_KEY)
        async with _served(Settings(database_url=urls[0], redis_url=urls[1], admin_key=key)) as ana:
            yield ana


@asynccontextmanager
async def _served(settings: Settings) -> AsyncIterator[Caller]:
    # Rates are refilled from Redis now and then, and logs written: that would blur the count.
    settings = settings.model_copy(
        update={"key_requests_per_s": 0.0, "tenant_requests_per_s": 0.0, "log_level": "error"}
    )
    async with running(settings, StaticEmbedder()) as gateway:
        async with asyncio.timeout(_WARM_S_MAX):  # what is loaded meanwhile would be counted
            while not (await gateway.client.get("/readyz")).json()["warm"]:
                await asyncio.sleep(0.05)
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        await ana.put("leave", "Everybody gets 25 days of leave.")
        yield ana


async def calls(search: Callable[[], Awaitable[object]]) -> Counter[str]:
    """How often each of our functions was called, of SEARCHES searches."""
    for _ in range(_WARM):
        await search()
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(SEARCHES):
        await search()
    profile.disable()
    called: Counter[str] = Counter()
    for entry in profile.getstats():
        code = entry.code
        if not isinstance(code, str) and code.co_filename.startswith(_OURS):
            called[f"{Path(code.co_filename).relative_to(ROOT)}: {code.co_name}"] += entry.callcount
    return called


async def blocks(search: Callable[[], Awaitable[object]]) -> Counter[str]:
    """Where our files hold memory after SEARCHES searches that they did not hold before."""
    tracemalloc.start()
    for _ in range(SEARCHES):
        await search()
    traces = tracemalloc.take_snapshot().traces
    tracemalloc.stop()
    names = (trace.traceback[-1].filename for trace in traces)
    return Counter(str(Path(name).relative_to(ROOT)) for name in names if name.startswith(_OURS))


def of_assists(names: Sequence[str]) -> list[str]:
    return [name for name in names if name.startswith(_ASSISTS)]


async def measure() -> dict[str, object]:
    async with asked() as ana:
        numbers: Iterator[int] = count()

        async def repeated() -> None:
            await ana.search("leave")

        async def cached() -> None:  # another head each time, so that it is parsed
            headers = {"X-Other": f"cached-{next(numbers)}"}
            await ana.call("POST", "/v1/search", json={"query": "leave"}, headers=headers)

        async def computed() -> None:
            await ana.search(f"leave {next(numbers)}")

        kinds = {"repeated": repeated, "cached": cached, "computed": computed}
        made = {name: await calls(search) for name, search in kinds.items()}
        held = {name: await blocks(search) for name, search in kinds.items()}
        return {
            "calls_a_search": {name: round(each.total() / SEARCHES) for name, each in made.items()},
            "calls_of_assists": {name: of_assists([*each]) for name, each in made.items()},
            "blocks_of_assists": {name: of_assists([*each]) for name, each in held.items()},
            "functions": {
                name: number // SEARCHES
                for name, number in made["cached"].most_common()
                if number >= SEARCHES
            },
        }


def main() -> None:
    told = asyncio.run(measure())
    sys.stdout.write(orjson.dumps(told, option=orjson.OPT_INDENT_2).decode() + "\n")


if __name__ == "__main__":
    main()
