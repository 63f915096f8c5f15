"""What tenants use is counted and priced, held against a limit, and shown; and how much waits."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import SecretStr

from gateway.configured import configured_embedders
from gateway.extensions._tenants.shown_usage import ShownUsage
from gateway.extensions._tenants.usage_store import UsageAmounts
from gateway.extensions.jobs.job_store import JobStore
from gateway.extensions.reembed.backfill_job import backfill_job
from gateway.monitoring.metrics import Metrics
from gateway.services import Services
from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from tests.conftest import run_sql
from tests.gateway.support.gateways import Caller, Gateway, problem, running
from tests.gateway.support.workers import worker_services
from tests.gateway.writes.test_queued_writes import LATER, job, put_later
from tests.stub_openai import TOKENS, WIDTH, StubOpenAI, stub_openai

pytestmark = pytest.mark.anyio

PARTS = "\n\n".join(f"# Part {number}\n\nWhat part {number} says." for number in range(10))


@pytest.fixture
async def stub() -> AsyncIterator[StubOpenAI]:
    async with stub_openai() as made:
        yield made


@pytest.fixture
def settings(settings: Settings, stub: StubOpenAI) -> Settings:
    """An embedding service that takes 1,000 for each token."""
    return settings.model_copy(
        update={
            "embedder": "openai",
            "openai_base_url": stub.url,
            "openai_api_key": SecretStr("key"),
            "openai_dimensions": WIDTH,
            "prices": {"embedding": 1_000_000_000.0},
            "job_retry_delay_s": 0.01,
        }
    )


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Services]:
    counted = Metrics()
    made = configured_embedders.make_all(settings, counted.embedding_tokens)
    async with worker_services(settings, *made, metrics=counted) as services:
        yield services


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[Gateway]:
    counted = Metrics()
    made = configured_embedders.make_all(settings, counted.embedding_tokens)
    async with running(settings, made[0], counted) as gateway:
        await gateway.tenant("acme")
        yield gateway


async def usage(admin: Caller, query: str = "") -> dict[str, Any]:
    answer = await admin.call("GET", f"/v1/usage{query}")
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()
    return shown


async def status(admin: Caller) -> dict[str, Any]:
    shown: dict[str, Any] = (await admin.call("GET", "/v1/ingest/status")).json()
    return shown


async def put_budget(gateway: Gateway, budget: float | None, tenant: str = "acme") -> int:
    path, body = f"/v1/tenants/{tenant}/budget", {"budget_month": budget}
    return (await gateway.operator.call("PUT", path, json=body)).status_code


@pytest.mark.thorough
@pytest.mark.slow
async def test_tokens_and_money_are_counted_by_day_and_operation(settings: Settings) -> None:
    async with serving(settings) as gateway:
        ana = await gateway.caller("ana")
        admin = await gateway.caller("ada", roles=["admin"])
        await ana.put("parts", PARTS, source="handbook")
        await ana.put("parts", PARTS + "\n\n# Part 10\n\nOne more.", source="handbook")
        await ana.put("parts", PARTS + "\n\n# Part 10\n\nOne more.", source="handbook")
        await ana.search("part 7")
        await ana.search("part 7")  # cached

        shown = await usage(admin)
        days = {each["operation"]: each for each in shown["days"]}
        empty = await usage(admin, "?from=2020-01-01&to=2020-12-31")
        in_all = await status(admin)

    assert days["ingest"]["tokens"] == 11 * TOKENS
    assert days["ingest"]["cost"] == 11 * TOKENS * 1_000
    assert (days["ingest"]["texts_embedded"], days["ingest"]["embeddings_reused"]) == (11, 10 + 11)
    assert days["search"]["tokens"] == TOKENS
    assert shown["cost_month"] == 12 * TOKENS * 1_000
    assert shown["budget_month"] is None
    assert empty["days"] == []
    assert (in_all["texts_embedded"], in_all["embeddings_reused"]) == (11, 21)
    assert in_all["sources"][0]["source"] == "handbook"


@pytest.mark.slow
async def test_each_tenant_pays_for_its_own(settings: Settings) -> None:
    async with serving(settings) as gateway:
        await gateway.tenant("beta")
        ana = await gateway.caller("ana")
        await asyncio.gather(*(ana.put(f"part-{n}", f"What part {n} says.") for n in range(10)))
        other = await gateway.caller("ada", tenant="beta", roles=["admin"])
        own = await gateway.caller("ada", roles=["admin"])

        assert (await usage(other))["days"] == []
        assert (await usage(own))["days"][0]["tokens"] == 10 * TOKENS
        problem(await ana.call("GET", "/v1/usage"), 403)
        problem(await ana.call("GET", "/v1/ingest/status"), 403)


@pytest.mark.thorough
@pytest.mark.slow
async def test_days_that_make_no_sense_are_told(settings: Settings) -> None:
    async with serving(settings) as gateway:
        admin = await gateway.caller("ada", roles=["admin"])

        for query in ("from=yesterday", "from=2026-02-30", "from=2020-01-01", "to=1"):
            problem(await admin.call("GET", f"/v1/usage?{query}"), 422)


class TestLimits:
    @pytest.mark.slow
    async def test_what_has_to_be_embedded_waits_once_the_month_is_spent(
        self, settings: Settings, stub: StubOpenAI
    ) -> None:
        limited = settings.model_copy(update={"budget_month": TOKENS * 1_000.0})
        async with serving(limited) as gateway, opened(limited) as services:
            ana = await gateway.caller("ana")
            admin = await gateway.caller("ada", roles=["admin"])
            await ana.put("first", "Paid for.")
            await services.usage_meter.flush()
            assert (await usage(admin))["cost_month"] == TOKENS * 1_000
            asked = len(stub.asked)
            stop = asyncio.Event()
            at_work = asyncio.create_task(worker_loop.make_worker(services.worker).run(stop))

            body = {"text": "Not paid for."}
            waits = await ana.call("PUT", "/v1/documents/second", json=body)
            free = await ana.call(
                "PUT", "/v1/documents/third", json={"text": "Paid for.", "title": "Known already"}
            )
            line = b'{"document_id": "line", "text": "Neither."}\n'
            batch = await ana.call("POST", "/v1/documents/batch", content=line)
            deferred = await job(ana, waits.json()["job_id"])
            while "budget" not in (deferred["error"] or ""):
                deferred = await job(ana, waits.json()["job_id"])
                await asyncio.sleep(0.01)
            embedded_meanwhile = len(stub.asked) - asked
            found = await ana.search("paid")  # questions are still embedded
            raised = await put_budget(gateway, 1_000_000.0)
            services.usage_meter.drop_cached("acme")
            while (await job(ana, waits.json()["job_id"]))["state"] != "done":
                await asyncio.sleep(0.01)
            stop.set()
            await at_work
            shown = await usage(admin)

        assert waits.status_code == 202
        assert waits.headers["nearhit-budget"] == "exceeded"
        assert free.status_code == 200  # nothing of it had to be embedded
        assert batch.json()["budget"] == "exceeded"
        assert batch.json()["status_url"].startswith("/v1/jobs/")
        assert (deferred["state"], deferred["attempts"]) == ("waiting", 0)
        assert embedded_meanwhile == 0
        assert "nearhit-degraded" not in found.headers
        assert raised == 204
        assert shown["budget_month"] == 1_000_000.0

    @pytest.mark.slow
    async def test_a_limit_is_the_operators_to_set(self, settings: Settings) -> None:
        async with serving(settings) as gateway:
            admin = await gateway.caller("ada", roles=["admin"])

            path, body = "/v1/tenants/acme/budget", {"budget_month": 1.0}
            problem(await admin.call("PUT", path, json=body), 403)
            problem(await gateway.operator.call("PUT", path, json={"budget_month": -1}), 422)
            assert await put_budget(gateway, 1.0, tenant="nobody") == 404
            assert await put_budget(gateway, 5.0) == 204
            assert (await usage(admin))["budget_month"] == 5.0
            assert await put_budget(gateway, None) == 204
            assert (await usage(admin))["budget_month"] is None


@pytest.mark.thorough
@pytest.mark.slow
async def test_the_status_says_what_waits_and_how_far_behind_the_index_is(
    settings: Settings, database_url: str
) -> None:
    one_by_one = settings.model_copy(update={"worker_jobs": 2})
    async with serving(settings) as gateway, opened(one_by_one) as services:
        ana = await gateway.caller("ana")
        admin = await gateway.caller("ada", roles=["admin"])
        nothing = await status(admin)
        await put_later(ana, "one", source="handbook")
        await put_later(ana, "two", source="wiki")
        await ana.call("PUT", "/v1/documents/three", json={"text": "x"}, headers=LATER)
        await run_sql(
            database_url,
            "UPDATE jobs SET created_at = now() - interval '1 hour' WHERE source = 'wiki'",
        )
        behind = await status(admin)
        await worker_loop.make_worker(services.worker).drain()
        await services.usage_meter.flush()
        done = await status(admin)

    sources = {each["source"]: each for each in behind["sources"]}
    assert (nothing["waiting"], nothing["lag_s"], nothing["oldest_waiting_s"]) == (0, 0, None)
    assert (behind["waiting"], behind["running"], behind["failed"]) == (3, 0, 0)
    assert 3_600 <= behind["lag_s"] < 3_700
    assert 3_600 <= behind["oldest_waiting_s"] < 3_700
    assert sources["handbook"]["lag_s"] < 60
    assert sources["wiki"]["waiting"] == 1
    assert (done["waiting"], done["lag_s"]) == (0, 0)
    assert {each["source"]: each["texts_embedded"] for each in done["sources"]} == {
        "api": 1,
        "handbook": 1,
        "wiki": 0,  # the same text as of the handbook
    }


@pytest.mark.thorough
@pytest.mark.slow
async def test_backfill_embeds_what_has_no_vector_and_nothing_else(
    settings: Settings, stub: StubOpenAI, database_url: str
) -> None:
    async with serving(settings) as gateway, opened(settings) as services:
        ana = await gateway.caller("ana")
        await ana.put("parts", PARTS)
        await run_sql(
            database_url,
            "DELETE FROM embeddings WHERE digest IN (SELECT digest FROM embeddings LIMIT 3)",
        )
        asked = len(stub.asked)
        first = await services.stores.jobs.enqueue_once(backfill_job("acme", 3))
        assert await services.stores.jobs.enqueue_once(backfill_job("acme", 3)) == first
        await worker_loop.make_worker(services.worker).drain()
        shown = await JobStore(services.stores.database).get("acme", first)

    assert shown is not None
    assert shown.result == {"documents": 1, "embedded": 3}
    assert sum(len(each.body["input"]) for each in stub.asked[asked:]) == 3


async def test_what_can_not_be_kept_now_is_kept_later(settings: Settings) -> None:
    async with opened(settings) as services:
        await services.stores.tenants.create("acme", "Acme")
        services.usage_meter.chunks("acme", "handbook", 2, 3)
        services.usage_meter.chunks("nobody", "handbook", 2, 3)  # gone: nobody pays
        await services.usage_meter.flush()
        services.usage_meter.chunks("acme", "handbook", 1, 0)
        await services.usage_meter.flush()
        (kept,) = await ShownUsage(services.stores.database).status("acme")

    assert (kept.source, kept.embedded, kept.reused) == ("handbook", 3, 3)


def test_amounts_add_up() -> None:
    amounts = UsageAmounts(1, 2.0, 3, 4)
    amounts.add(UsageAmounts(10, 20.0, 30, 40))

    assert amounts == UsageAmounts(11, 22.0, 33, 44)
