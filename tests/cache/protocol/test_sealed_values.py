"""With a key, somebody who writes to Redis puts no text into an answer, and reads none there."""

import secrets
from dataclasses import dataclass

import pytest
from redis.asyncio import Redis

from cache.embedding_cache import EmbeddingCache
from cache.lookup import CacheLookup
from cache.protocol import EntryVersion
from cache.redis.codec import Codec, Entry
from cache.redis.sealing import SealingKeys
from cache.redis.store import RedisStore
from tests.cache.support.histories import HISTORY, at
from tests.cache.support.search_stub import Index
from tests.cache.support.single_store import store_on
from tests.cache.support.worker import CacheWorker, FakeChangeLog

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

OLD, NEW = secrets.token_bytes(32), secrets.token_bytes(32)


@dataclass(frozen=True, slots=True)
class Deployment:
    """The workers of one deployment on one Redis, where somebody else writes too."""

    redis: Redis
    prefix: str
    truth: FakeChangeLog
    unreadable: list[bool]

    def store(self, *keys: bytes) -> RedisStore:
        sealer = SealingKeys(keys) if keys else None
        return store_on(
            self.redis,
            prefix=self.prefix,
            sealer=sealer,
            on_unreadable=lambda: self.unreadable.append(True),
        )

    def worker(self, *keys: bytes) -> CacheWorker:
        return CacheWorker(self.store(*keys or (NEW,)), self.truth)

    def name(self, key: str, tenant: str = "acme") -> str:
        return self.store(NEW).name(tenant, key)

    async def raw(self, key: str, tenant: str = "acme") -> bytes:
        raw = await self.redis.get(self.name(key, tenant))
        assert isinstance(raw, bytes)
        return raw

    async def tier(self, key: str, *keys: bytes, tenant: str = "acme", **revisions: int) -> str:
        """Where another worker finds the right answer to what was asked before."""
        index = Index(f"{tenant} {key}".encode(), key.encode(), **revisions or {"acme": 3})
        served = await self.worker(*keys).answers.get_or_compute(
            CacheLookup(tenant, key), at(**revisions or {"acme": 3}), index
        )
        assert served.body == f"{tenant} {key}".encode()
        return served.tier


@pytest.fixture
def deployment(redis: Redis) -> Deployment:
    prefix = f"nearhit-test-{secrets.token_hex(6)}:"
    return Deployment(redis, prefix, FakeChangeLog(acme=3, beta=3), [])


async def test_a_sealed_answer_serves_other_workers(deployment: Deployment) -> None:
    assert await deployment.tier("one") == "miss"

    assert await deployment.tier("one") == "redis"
    assert deployment.unreadable == []


async def test_no_value_in_redis_shows_what_was_asked_or_answered(deployment: Deployment) -> None:
    store = deployment.store(NEW)
    one, other = (
        EmbeddingCache(store, lambda _event: None, size_bytes_max=1_000, lifetime_s=60.0)
        for _ in range(2)
    )
    await one.put("acme", "key", b"a secret vector")
    worker = CacheWorker(store, deployment.truth)
    await worker.ask("one", Index(b"a secret body", b"secret-dependency", acme=3), acme=3)

    stored = b""
    async for name in deployment.redis.scan_iter(f"{deployment.prefix}*"):
        if await deployment.redis.type(name) == b"string":
            raw = await deployment.raw("one")
            assert isinstance(raw, bytes)
            stored += raw

    assert await other.get("acme", "key") == b"a secret vector"
    assert HISTORY.encode() in stored  # it is what was written
    assert b"secret" not in stored


async def test_a_changed_document_still_ends_the_answers_that_depend_on_it(
    deployment: Deployment,
) -> None:
    for key in ("one", "two"):
        await deployment.tier(key)

    revision = deployment.truth.commit("acme", b"one")
    await deployment.worker().invalidation.drain("acme", at(acme=revision))

    assert await deployment.tier("one", acme=revision) == "miss"
    assert await deployment.tier("two", acme=revision) == "redis"


@pytest.mark.parametrize("part", ["number", "header", "record", "body", "end"])
async def test_an_answer_that_was_altered_is_computed_again(
    deployment: Deployment, part: str
) -> None:
    await deployment.tier("one")
    raw = bytearray(await deployment.raw("one"))
    first_line = raw.index(b"\n")
    places = {"number": 0, "header": 3, "record": first_line + 1, "body": -30, "end": -1}
    raw[places[part]] ^= 1
    await deployment.redis.set(deployment.name("one"), bytes(raw))

    assert await deployment.tier("one") == "miss"
    assert await deployment.tier("one") == "redis"


async def test_an_answer_under_another_key_or_of_another_tenant_is_none(
    deployment: Deployment,
) -> None:
    for key, tenant in (("one", "acme"), ("two", "acme"), ("one", "beta")):
        await deployment.tier(key, tenant=tenant, **{tenant: 3})
    one, two = await deployment.raw("one"), await deployment.raw("two")

    for place, raw in ((("one", "acme"), two), (("two", "acme"), one), (("one", "beta"), one)):
        number = (await deployment.raw(*place)).split()[0]
        await deployment.redis.set(deployment.name(*place), number + b" " + raw.partition(b" ")[2])

    assert await deployment.tier("one") == "miss"
    assert await deployment.tier("two") == "miss"
    assert await deployment.tier("one", tenant="beta", beta=3) == "miss"
    assert len(deployment.unreadable) == 3


async def test_an_answer_is_none_under_a_later_nonce(deployment: Deployment) -> None:
    await deployment.tier("one")
    raw = await deployment.raw("one")
    await deployment.redis.delete(deployment.name("state"), deployment.name("entries"))
    await deployment.tier("one")
    current = await deployment.raw("one")
    assert current.split()[2] != raw.split()[2]

    renamed = raw.replace(raw.split()[2], current.split()[2], 1)
    for old in (raw, renamed):
        number = (await deployment.raw("one")).split()[0]
        await deployment.redis.set(deployment.name("one"), number + b" " + old.partition(b" ")[2])
        assert await deployment.tier("one") == "miss"


async def test_what_is_in_plain_counts_for_nothing_once_there_is_a_key(
    deployment: Deployment,
) -> None:
    await deployment.tier("one")
    name = deployment.name("one")
    raw = await deployment.raw("one")
    entry = Codec(SealingKeys([NEW]), lifetime_s=60).decode_entry(name, raw)
    assert entry is not None
    plain = raw.split()[0] + b" " + Codec(lifetime_s=60).encode_entry(name, entry)

    await deployment.redis.set(name, plain)
    await deployment.redis.set(deployment.name("vector:key"), b"plain")

    assert await deployment.tier("one") == "miss"
    assert await deployment.store(NEW).get("acme", "vector:key") is None
    assert len(deployment.unreadable) == 2


async def test_a_state_that_somebody_has_written_counts_as_none(deployment: Deployment) -> None:
    """A state at a later revision would otherwise tell of a database that has lost changes."""
    await deployment.tier("one")
    state = await deployment.raw("state")
    assert b" acme:3:3 " in state
    asked = deployment.truth.asked

    await deployment.redis.set(deployment.name("state"), state.replace(b"acme:3:3", b"acme:9:9"))

    assert await deployment.tier("one") == "miss"
    assert deployment.truth.asked == asked
    assert deployment.truth.history == HISTORY


@pytest.mark.parametrize("garbage", [b"", b"\xff\xfe", b"5 a 0123456789abcdef a1 acme:3:3 zz"])
async def test_whatever_stands_in_redis_no_request_fails(
    deployment: Deployment, garbage: bytes
) -> None:
    await deployment.tier("one")
    await deployment.redis.set(deployment.name("one"), garbage)
    await deployment.redis.set(deployment.name("other:fill-lock"), garbage)

    assert await deployment.tier("one") == "miss"
    assert await deployment.tier("other") == "miss"
    await deployment.redis.zadd(deployment.name("entries"), {garbage: 2.5})
    revision = deployment.truth.commit("acme", b"one")
    await deployment.worker().invalidation.drain("acme", at(acme=revision))
    nonce = (await deployment.raw("state")).split()[2]
    await deployment.redis.zadd(deployment.name("entries"), {nonce: 0.5})
    await deployment.tier("two", acme=revision)
    await deployment.redis.set(deployment.name("state"), garbage)
    assert await deployment.tier("one", acme=revision) == "miss"
    assert await deployment.tier("one", acme=revision) == "redis"


async def test_keys_are_rotated_without_losing_an_answer(deployment: Deployment) -> None:
    assert await deployment.tier("one", OLD) == "miss"

    assert await deployment.tier("one", OLD, NEW) == "redis"  # 1. each worker opens the new one
    assert await deployment.tier("one", NEW, OLD) == "redis"  # 2. which seals from then on
    assert await deployment.tier("two", NEW, OLD) == "miss"
    assert await deployment.tier("two", OLD, NEW) == "redis"
    assert deployment.unreadable == []
    revision = deployment.truth.commit("acme", b"nothing")  # whose drain writes the state anew
    await deployment.worker(NEW, OLD).invalidation.drain("acme", at(acme=revision))
    assert await deployment.tier("two", NEW, acme=revision) == "redis"
    assert await deployment.tier("one", NEW, acme=revision) == "miss"  # 3. the old one is gone


async def test_workers_with_other_keys_compute_for_themselves(deployment: Deployment) -> None:
    await deployment.tier("one", OLD)

    assert await deployment.tier("one", NEW) == "miss"
    assert deployment.unreadable != []


async def test_workers_with_a_key_and_without_share_nothing_and_do_not_disturb_each_other(
    deployment: Deployment,
) -> None:
    plain = CacheWorker(deployment.store(), deployment.truth)
    await plain.ask("one", Index(b"acme one", acme=3), acme=3)

    assert await deployment.tier("one") == "miss"
    assert await deployment.tier("one") == "redis"
    other = CacheWorker(deployment.store(), deployment.truth)
    assert (await other.ask("one", Index(b"acme one", acme=3), acme=3)).tier == "redis"
    assert await deployment.store().drop_tenant("acme") > 4  # of both


def test_an_answer_that_somebody_puts_back_is_none_after_its_lifetime() -> None:
    now_s = 1_000.0
    codec = Codec(SealingKeys([NEW]), lifetime_s=60, clock_s=lambda: now_s)
    entry = Entry(EntryVersion("0123456789abcdef", at(acme=3)), b"record", b"question", b"body")
    raw = b"7 " + codec.encode_entry("name", entry)

    now_s += 60
    assert codec.decode_entry("name", raw) == entry
    now_s += 1
    assert codec.decode_entry("name", raw) is None
