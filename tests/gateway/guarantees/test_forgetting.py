"""A document that is deleted is gone: out of every table and key, with its words and vectors."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr

from gateway.monitoring.metrics import Metrics
from gateway.services import Services, open_services
from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from index.documents.document_store import DocumentStore
from index.search.query_embedder import Embedder
from ingest.write.writer import Writer
from tests.conftest import run_sql
from tests.gateway.servers.own_redis import own_redis
from tests.gateway.support.gateways import Caller, Gateway, problem, running
from tests.gateway.support.stored_remains import in_redis, in_tables, vectors
from tests.gateway.support.workers import worker_services
from tests.gateway.writes.test_queued_writes import job

pytestmark = [pytest.mark.anyio, pytest.mark.redis, pytest.mark.isolated, pytest.mark.slow]

SHARED = "Everybody gets twenty-five days of annual leave a year, and nobody has to ask."
SECRET = "Zorbified quuxes are kept by Hieronymus."
EARLIER = "Before that, Wilhelmina kept the frobnicated ones."
WORDS = ("zorbified", "quuxes", "hieronymus", "wilhelmina", "frobnicated")
BOOK = "\n\n".join(f"# Part {n}\n\n{SECRET} Part {n}. " + "And so on. " * 40 for n in range(12))


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"job_retry_delay_s": 0.01})


@pytest.fixture
async def services(settings: Settings, embedder: Embedder) -> AsyncIterator[Services]:
    async with worker_services(settings, embedder) as opened:
        yield opened


async def delete(caller: Caller, document_id: str, status: int = 200) -> dict[str, Any]:
    answer = await caller.call("DELETE", f"/v1/documents/{document_id}")
    assert answer.status_code == status, answer.text
    receipt: dict[str, Any] = answer.json()
    return receipt


async def ask(*callers: Caller, **fields: Any) -> None:
    for caller in callers:
        for query in ("zorbified quuxes", "who keeps them", "annual leave", "and so on"):
            await caller.search(query, **fields)


async def work(services: Services) -> None:
    await worker_loop.make_worker(services.worker).drain()


async def test_nothing_of_a_deleted_document_is_in_any_table_or_key(
    settings: Settings, gateway: Gateway, other_worker: Gateway, services: Services
) -> None:
    ana = await gateway.caller("ana", roles=["writer", "publisher"])
    await gateway.tenant("beta")
    await gateway.receive_public("beta")
    ben = await gateway.caller("ben", tenant="beta")
    fields = {"readers": ["public"], "summaries": "extract", "title": "Of Hieronymus"}
    await ana.put("other", SHARED, readers=["tenant"])
    await ana.put("book", f"{BOOK}\n\n# Earlier\n\n{EARLIER}", **fields)
    before = await vectors(settings, "book")
    await ana.put("book", f"{BOOK}\n\n# Leave\n\n{SHARED}", **fields)
    now = await vectors(settings, "book")
    before += now
    await ask(ana, other_worker.as_(ana), ben, expand=True, summaries=True)
    assert await in_redis(settings, *WORDS)

    receipt = await delete(ana, "book")
    in_redis_at_once = await in_redis(settings, "Hieronymus", "quuxes are kept")
    rows_at_once = await in_tables(settings, *WORDS, *before)
    await work(services)

    assert receipt["deleted"]["chunks"] == len(now)
    assert in_redis_at_once == []
    assert set(rows_at_once) == {"vocabulary"}
    assert await in_tables(settings, *WORDS, *before, "'book'", ",book,") == {}
    assert await ben.found("zorbified quuxes") == []
    assert (await job(ana, receipt["pending"]["vocabulary"].rpartition("/")[2]))["state"] == "done"


@pytest.mark.thorough
async def test_what_another_document_says_too_is_not_paid_for_again(
    ana: Caller, services: Services
) -> None:
    await ana.put("one", SHARED, readers=["tenant"])
    await ana.put("two", SHARED, readers=["tenant"])

    receipt = await delete(ana, "one")
    await work(services)
    written = await ana.put("three", SHARED)

    assert receipt["deleted"]["embeddings"] == 0
    assert written["chunks"]["embedded"] == 0
    assert "two" in await ana.found("anual leave", alpha=0)


@pytest.mark.thorough
async def test_the_last_document_takes_the_vectors_along(ana: Caller) -> None:
    await ana.put("one", SHARED)
    await ana.put("two", SHARED)

    first, second = await delete(ana, "one"), await delete(ana, "two")
    written = await ana.put("three", SHARED)

    assert first["deleted"] == {"chunks": 1, "embeddings": 0, "jobs": 0}
    assert second["deleted"] == {"chunks": 1, "embeddings": 1, "jobs": 0}
    assert written["chunks"]["embedded"] == 1


@pytest.mark.thorough
async def test_a_reading_that_prunes_keeps_vectors(
    settings: Settings, ana: Caller, services: Services
) -> None:
    await ana.put("one", SHARED)

    await services.documents.writer.remove("acme", "one", lambda stored: stored)

    assert (await ana.put("two", SHARED))["chunks"]["embedded"] == 0


async def test_a_write_planned_with_a_vector_that_is_forgotten_meanwhile_keeps_it(
    settings: Settings, ana: Caller, embedder: Embedder, services: Services
) -> None:
    await ana.put("one", SHARED)

    class Late(DocumentStore):
        async def apply_all(self, *arguments: Any) -> Any:
            await delete(ana, "one")
            return await super().apply_all(*arguments)

    writer = Writer(Late(services.stores.database), embedder, services.caches.invalidation)
    stored = await services.stores.documents.stored("acme", "one")
    assert stored is not None
    copy = stored.document
    await writer.put("acme", "two", lambda _: replace(copy, document_id="two"))

    assert (await ana.put("three", SHARED))["chunks"]["embedded"] == 0


async def test_words_that_others_still_use_are_corrected_to(
    ana: Caller, other_worker: Gateway, services: Services
) -> None:
    """On workers that remember what the vocabulary was."""
    await ana.put("one", "The Zorbified lighthouse.", readers=["tenant"])
    await ana.put("two", "A lighthouse by the sea.", readers=["tenant"])
    await ana.put("mine", "Zorbified thoughts of my own.")
    elsewhere = other_worker.as_(ana)
    for caller in (ana, elsewhere):
        assert "mine" in await caller.found("zorbifeid", alpha=0, min_score=0.01)

    await delete(ana, "one")
    await work(services)
    unlearned = [await caller.found("zorbifeid", alpha=0) for caller in (ana, elsewhere)]
    known = [await caller.found("lihgthouse", alpha=0) for caller in (ana, elsewhere)]
    await ana.put("three", "Zorbified once more.", readers=["tenant"])
    learned = [await caller.found("zorbifeid", alpha=0) for caller in (ana, elsewhere)]

    assert unlearned == [[], []]
    assert known == [["two"], ["two"]]
    assert learned[0] == learned[1]
    assert set(learned[0]) == {"three", "mine"}


@pytest.mark.thorough
async def test_a_failed_attempt_at_a_document_goes_with_it(
    settings: Settings, database_url: str, ana: Caller
) -> None:
    await ana.put("leave", SHARED)
    later = {"Prefer": "respond-async"}
    body = {"text": SECRET}
    await ana.call("PUT", "/v1/documents/leave", json=body, headers=later)
    failed = "UPDATE jobs SET state = 'failed', ended_at = now()"
    await run_sql(database_url, failed)

    receipt = await delete(ana, "leave")

    assert receipt["deleted"]["jobs"] == 1
    assert await in_tables(settings, SECRET.encode().hex(), SECRET) == {}


async def test_while_redis_is_away_the_receipt_says_what_is_pending(
    settings: Settings, embedder: Embedder
) -> None:
    async with own_redis() as redis:
        own = settings.model_copy(
            update={"redis_url": SecretStr(redis.url), "redis_timeout_s": 0.2}
        )
        async with (
            running(own, embedder) as gateway,
            open_services(own, Metrics(), embedder) as services,
        ):
            await gateway.tenant("acme")
            ana = await gateway.caller("ana")
            await ana.put("one", SECRET)
            await ask(ana)
            assert await in_redis(own, "Hieronymus")
            redis.hang()
            receipt = await delete(ana, "one", 202)
            during = await ana.found("zorbified quuxes")
            redis.go_on()

            await work(services)
            done = await job(ana, receipt["pending"]["cached_answers"].rpartition("/")[2])

            assert during == []
            assert done["state"] == "done"
            assert await in_redis(own, "Hieronymus") == []


@pytest.mark.thorough
async def test_after_a_restart_from_disk_nothing_forgotten_is_left(
    settings: Settings, embedder: Embedder
) -> None:
    """Nobody believes what an older Redis has kept, and it goes all the same."""
    async with own_redis() as redis:
        own = settings.model_copy(update={"redis_url": SecretStr(redis.url)})
        async with running(own, embedder) as gateway:
            await gateway.tenant("acme")
            ana = await gateway.caller("ana")
            await ana.put("one", SECRET)
            await ask(ana)
            await redis.save()
            await redis.start()
            assert await in_redis(own, "Hieronymus")

        async with running(own, embedder) as gateway:
            await delete(gateway.as_(ana), "one")

            assert await in_redis(own, "Hieronymus") == []


async def test_a_source_that_is_removed_is_forgotten(
    settings: Settings, ana: Caller, admin: Caller, services: Services
) -> None:
    await ana.put("one", SECRET, source="wiki", readers=["tenant"])
    before = await vectors(settings, "one")

    asked = await admin.call("DELETE", "/v1/sources/wiki")
    await work(services)

    assert asked.status_code == 202
    assert await in_tables(settings, *WORDS, *before) == {}


@pytest.mark.thorough
async def test_nothing_is_deleted_whose_words_nobody_would_forget(
    settings: Settings, database_url: str, ana: Caller
) -> None:
    """The queue is full, and the caller told so: it can try again."""
    await ana.put("one", SECRET)
    await run_sql(
        database_url,
        "INSERT INTO jobs (job_id, tenant, kind, target, attempts_max) "
        "SELECT 'job_' || n, 'acme', 'consistency.check', 'index', 1 "
        "FROM generate_series(1, 10000) AS n",
    )

    refused = await ana.call("DELETE", "/v1/documents/one")

    problem(refused, 503)
    assert await ana.found("zorbified quuxes") == ["one"]
