"""Cached answers are held against the truth, and one that differs is told, dropped and no more."""

import asyncio
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from redis.asyncio import Redis

from cache.redis.codec import Codec
from common.command_errors import CommandError
from gateway.settings.settings import Settings
from index.documents.visible_documents import VisibleDocuments
from index.errors import DatabaseUnavailable
from index.resident.shard import Shard
from index.search.query_embedder import Embedder
from tests.gateway.support.audits import audited
from tests.gateway.support.gateways import Caller, Gateway, running

pytestmark = [pytest.mark.anyio, pytest.mark.redis, pytest.mark.isolated, pytest.mark.slow]

CODEC = Codec(lifetime_s=86_400)
LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."


async def entry_names(settings: Settings, redis: Redis) -> list[str]:
    """The keys of Redis that hold answers of acme."""
    start = f"{settings.cache_prefix}{CODEC.format}{{acme}}:"
    names = [name for name in await redis.keys(f"{start}*") if isinstance(name, bytes)]
    return [name.decode() for name in names if len(name) == len(start) + 32]


async def make_wrong(
    settings: Settings, shown: bytes = b"25 days", wrongly: bytes = b"99 days"
) -> None:
    """Give every cached answer another body, with a stamp that fits it."""
    assert settings.redis_url is not None
    async with Redis.from_url(settings.redis_url.get_secret_value()) as redis:
        names = await entry_names(settings, redis)
        assert names
        for name in names:
            raw = await redis.get(name)
            assert isinstance(raw, bytes)
            entry = CODEC.decode_entry(name, raw)
            assert entry is not None
            wrong = replace(entry, body=entry.body.replace(shown, wrongly))
            number = raw.partition(b" ")[0]
            await redis.set(name, number + b" " + CODEC.encode_entry(name, wrong), keepttl=True)


async def test_right_answers_pass(settings: Settings, ana: Caller) -> None:
    await ana.put("leave", LEAVE)
    for question in ("annual leave", "days a year", "who gets leave"):
        await ana.search(question)

    assert await audited(settings) == {"equal": 3}


async def test_a_wrong_answer_is_found_and_dropped(
    settings: Settings, gateway: Gateway, ana: Caller, other_worker: Gateway
) -> None:
    await ana.put("leave", LEAVE)
    await ana.search("annual leave")
    await make_wrong(settings)
    assert "99 days" in (await other_worker.as_(ana).search("annual leave")).text

    assert await audited(settings, "acme") == {"other": 1}
    assert await audited(settings, "acme") == {}


@pytest.mark.thorough
async def test_an_audit_goes_on_while_others_write(settings: Settings, ana: Caller) -> None:
    await ana.put("leave", LEAVE)
    for number in range(20):
        await ana.search(f"annual leave {number}")

    async def write() -> None:
        for number in range(10):
            await ana.put("other", f"# Other\n\nVersion {number} of something else.")
            await ana.search(f"annual leave {number}")

    counts, _ = await asyncio.gather(audited(settings), write())

    assert counts["other"] == 0


async def test_an_unknown_tenant_is_named(settings: Settings, gateway: Gateway) -> None:
    with pytest.raises(CommandError, match="nobody"):
        await audited(settings, "nobody")


async def test_what_is_served_is_audited_behind_it(
    settings: Settings, gateway: Gateway, ana: Caller, embedder: Embedder
) -> None:
    await ana.put("leave", LEAVE)
    await ana.search("annual leave")
    await make_wrong(settings)

    always = settings.model_copy(update={"cache_audit_per_mille": 1000})
    async with running(always, embedder) as auditing:
        wrong = await auditing.as_(ana).search("annual leave")
        assert "99 days" in wrong.text
        async with asyncio.timeout(60):
            while not await auditing.counted("nearhit_cache_events_total", event="audit_other"):
                await asyncio.sleep(0.01)

        assert "25 days" in (await auditing.as_(ana).search("annual leave")).text


@pytest.mark.sampled('"of-ben"-1')
@pytest.mark.parametrize(("shown", "leaked"), [(b'"of-ben"', 1), (b'"of-everybody"', 0)])
async def test_a_wrong_answer_that_shows_a_hidden_document_counts_as_leaked(
    settings: Settings, gateway: Gateway, ana: Caller, embedder: Embedder, shown: bytes, leaked: int
) -> None:
    ben = await gateway.caller("ben")
    await ben.put("of-ben", "# Travel\n\nOnly Ben reads this.")
    await ben.put("of-everybody", "# Travel\n\nAll may read this.", readers=["tenant"])
    await ana.put("leave", LEAVE)
    await ana.search("annual leave", top_k=1)
    await make_wrong(settings, b'"leave"', shown)

    always = settings.model_copy(update={"cache_audit_per_mille": 1000})
    async with running(always, embedder) as auditing:
        await auditing.as_(ana).search("annual leave", top_k=1)
        async with asyncio.timeout(60):
            while not await auditing.counted("nearhit_cache_events_total", event="audit_other"):
                await asyncio.sleep(0.01)

        counted = await auditing.counted("nearhit_cache_events_total", event="audit_leaked")
        assert counted == leaked


async def test_a_wrong_answer_counts_if_nobody_can_tell_whether_it_is_leaked(
    settings: Settings,
    gateway: Gateway,
    ana: Caller,
    embedder: Embedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def unavailable(*_arguments: object) -> None:
        raise DatabaseUnavailable("it went away")

    await ana.put("leave", LEAVE)
    await ana.search("annual leave")
    await make_wrong(settings)
    monkeypatch.setattr(VisibleDocuments, "read_of", unavailable)

    always = settings.model_copy(update={"cache_audit_per_mille": 1000})
    async with running(always, embedder) as auditing:
        await auditing.as_(ana).search("annual leave")
        async with asyncio.timeout(60):
            while not await auditing.counted("nearhit_cache_events_total", event="audit_other"):
                await asyncio.sleep(0.01)


async def test_what_a_wrong_shard_leaves_out_is_found_and_dropped(
    settings: Settings,
    ana: Caller,
    embedder: Embedder,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """With the file from which other workers would take it."""
    await ana.put("leave", LEAVE)
    folder = tmp_path / "shards"
    always = settings.model_copy(
        update={
            "cache_audit_per_mille": 1000,
            "shard_bytes_max": 1 << 26,
            "shard_folder": folder,
        }
    )
    async with running(always, embedder) as auditing:
        asking = auditing.as_(ana)
        async with asyncio.timeout(60):
            number = 0
            # Until the shard of acme is there, searches read the tables.
            while not await auditing.counted("nearhit_shard_events_total", event="loaded"):
                number += 1
                assert await asking.found(f"annual leave {number}") == ["leave"]

        files = set(folder.glob("*.shard"))
        assert files

        monkeypatch.setattr(
            Shard, "admitted", lambda _shard, segment, _scope: np.zeros(len(segment), np.bool_)
        )
        assert await asking.found("days of leave") == []
        async with asyncio.timeout(60):
            # An audit that comes while another one runs is left out.
            while not await auditing.counted("nearhit_cache_events_total", event="audit_other"):
                number += 1
                await asking.found(f"days of leave {number}")
            while files & set(folder.glob("*.shard")):
                await asyncio.sleep(0.01)
        monkeypatch.undo()
        # A new question: the audit of the first may have been left out, and its answer is cached.
        assert await asking.found("leave, and how many days of it") == ["leave"]
