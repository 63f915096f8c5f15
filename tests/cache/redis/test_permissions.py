"""Redis's user needs the documented rules and no other, and lacking ones are named."""

import inspect
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AsyncExitStack
from importlib import resources
from pathlib import Path
from time import monotonic
from typing import TypeAlias
from urllib.parse import urlsplit, urlunsplit

import pytest
from redis.asyncio import Redis

from cache.errors import CacheUnavailable
from cache.protocol import EntryVersion, reset
from cache.rate_limit import RateLimit
from cache.redis import redis_url
from cache.redis.codec import Entry
from cache.redis.permissions import CLUSTER_COMMANDS, COMMANDS
from cache.redis.store import CacheSnapshot, RedisStore
from common.circuit_breaker import REDIS, CircuitBreaker
from gateway.extensions.embedded_servers.owned_servers import Servers
from tests.cache.support.histories import HISTORY, at

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

NAME = f"nearhit-test-{secrets.token_hex(6)}"
PREFIX = f"{NAME}:"
NEEDED = [f"+{rule}" for rule in COMMANDS]
RUN_PAGE = Path("docs/operations/run.md")


NewUser: TypeAlias = Callable[..., Awaitable[RedisStore]]


@pytest.fixture
async def new_user(redis: Redis, servers: Servers) -> AsyncIterator[NewUser]:
    """Gives the user `NAME` these rules alone, and opens a store as it."""
    parts = urlsplit(servers.redis_url)
    host = parts.netloc.rpartition("@")[2]
    url = urlunsplit(parts._replace(netloc=f"{NAME}:secret@{host}"))
    async with AsyncExitStack() as stack:

        async def create(*rules: str, entries_max: int = 100) -> RedisStore:
            await redis.execute_command(  # type: ignore[no-untyped-call]  # of the driver
                "ACL", "SETUSER", NAME, "reset", "on", ">secret", *rules
            )
            nodes = await stack.enter_async_context(
                redis_url.open_nodes(
                    url,
                    redis_url.ONE_SERVER,
                    lambda: CircuitBreaker(monotonic, REDIS),
                    budget_s=5.0,
                )
            )
            return RedisStore(nodes, prefix=PREFIX, lifetime_s=60.0, entries_max=entries_max)

        yield create
        await redis.acl_deluser(NAME)


async def use_all(store: RedisStore) -> set[str]:
    """Call all methods of a store that reach Redis; returns their names."""
    absent = await store.lookup("acme", HISTORY, "key", lock_token="me")
    state = reset(absent.server_id, "0123456789abcdef", at(acme=3))
    swapped: CacheSnapshot = (await store.compare_and_swap(absent, state)).snapshot
    entry = Entry(EntryVersion(state.nonce, at(acme=3)), b"record", b"", b"body")
    for key in ("key", "third"):
        filled = await store.fill(swapped, key, entry, lock_token="me")
        assert filled.is_done
    found = await store.lookup("acme", HISTORY, "third")
    assert found.entry == entry
    page = await store.scan(found, state.nonce, after=0)
    assert page is not None
    assert page.records
    await store.compare_and_swap(found, state, drop=["third"])
    assert await store.entry_count("acme") == 1
    await store.drop("acme", "key")
    await store.release_fill_lock("acme", "key")
    await store.set("acme", "vector:a", b"1")
    assert await store.get("acme", "vector:a") == b"1"
    assert (await store.take_tokens("acme", "rate", RateLimit(1.0, 5), 1)).tokens == 1
    assert await store.drop_everywhere("vector:*") == 1
    assert await store.drop_tenant("acme") > 0
    assert [status.failure for status in await store.node_statuses()] == [""]
    return {
        "lookup", "compare_and_swap", "fill", "scan", "entry_count", "drop", "release_fill_lock",
        "set", "get", "take_tokens", "drop_everywhere", "drop_tenant", "node_statuses",
    }  # fmt: skip


async def test_a_user_with_the_documented_rules_and_no_other_may_all_that_the_store_does(
    new_user: NewUser, redis: Redis
) -> None:
    used = await use_all(await new_user(f"~{PREFIX}*", *NEEDED, entries_max=2))

    assert not [line for line in await redis.acl_log() if line["username"] == NAME]
    methods = inspect.getmembers(RedisStore, inspect.iscoroutinefunction)
    assert used == {name for name, _ in methods if not name.startswith("_")}


def test_the_documented_rules_are_those_that_are_asked_for() -> None:
    lines = RUN_PAGE.read_text(encoding="utf-8").splitlines()
    documented = next(line for line in lines if line.startswith("ACL SETUSER nearhit "))
    cluster = next(line for line in lines if line.startswith("ACL SETUSER nearhit +asking"))

    rules = documented.split()[3:]
    assert [rule for rule in rules if rule.startswith("+")] == NEEDED
    assert "~nearhit:*" in rules
    assert cluster.split()[3:] == [f"+{rule}" for rule in CLUSTER_COMMANDS]


def test_each_command_of_a_script_is_asked_for() -> None:
    called = set()
    for script in (resources.files("cache.redis") / "scripts").iterdir():
        text = script.read_text(encoding="utf-8")
        for command, word in re.findall(r"redis\.p?call\(\s*'(\w+)'(?:, '(\w+)')?", text):
            name = command.lower()
            called.add(f"{name}|{word.lower()}" if name in ("info", "object") else name)

    assert called <= set(COMMANDS)


async def test_each_rule_that_lacks_is_named(new_user: NewUser) -> None:
    for rule in NEEDED:
        store = await new_user(f"~{PREFIX}*", *(each for each in NEEDED if each != rule))

        (status,) = await store.node_statuses()

        assert rule in status.failure.split()
        assert list(status.missing_rules) == [each for each in [rule] if each != "+info|memory"]


async def test_asking_leaves_nothing_behind(new_user: NewUser, redis: Redis) -> None:
    store = await new_user(f"~{PREFIX}*", *NEEDED)

    await store.node_statuses()

    assert await redis.keys(f"{PREFIX}*") == []


@pytest.mark.parametrize(
    ("rules", "missing"),
    [
        (["~*", "+@all", "-@dangerous"], ["+info|server"]),
        (["~other:*", "+@all"], [f"~{PREFIX}*"]),
        (["~*", "+@all", "-@scripting"], ["+eval", "+evalsha"]),
    ],
)
async def test_what_a_usual_user_lacks_is_named(
    new_user: NewUser, rules: Collection[str], missing: Collection[str]
) -> None:
    store = await new_user(*rules)

    (status,) = await store.node_statuses()

    assert status.missing_rules == missing
    with pytest.raises(CacheUnavailable, match="refused a call"):
        await store.lookup("acme", HISTORY, "key")
    assert store.is_refused
