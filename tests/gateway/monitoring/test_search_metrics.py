"""The metrics of searches, writes, use and state, counted by gateways and workers that run."""

import asyncio
import os
import re
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator

import httpx2
import orjson
import pytest
from pydantic import SecretStr

from gateway.configured import configured_embedders
from gateway.monitoring.metrics import Metrics
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.conftest import run_sql
from tests.gateway.support.commands import WAIT_S_MAX, environment_of, fails
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.support.unreliable_embedder import MoodyEmbedder
from tests.gateway.writes.test_queued_writes import put_later
from tests.stub_openai import TOKENS, WIDTH, stub_openai

pytestmark = pytest.mark.anyio

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."


@pytest.fixture
async def gateway(settings: Settings, embedder: Embedder) -> AsyncIterator[Gateway]:
    asked = settings.model_copy(update={"metrics_tenants_max": 1, "confidence_min": 0.3})
    async with running(asked, embedder, Metrics(asked.metrics_tenants_max)) as started:
        await started.tenant("acme")
        yield started


@pytest.fixture
async def ana(gateway: Gateway) -> Caller:
    caller = await gateway.caller("ana", tenant="acme")
    await caller.put("leave", LEAVE)
    return caller


@pytest.mark.isolated
async def test_answers_are_counted_by_outcome_from_every_tier(
    gateway: Gateway, ana: Caller
) -> None:
    async def counts() -> list[float]:
        name = "nearhit_search_answers_total"
        return [
            await gateway.counted(name, tenant="acme", outcome=outcome)
            for outcome in ("confident", "low_confidence", "empty")
        ]

    for _ in range(3):  # computed, from memory, and a repeat that is not parsed
        await ana.search("annual leave")
    await ana.search("quantum chromodynamics")
    await ana.search("annual leave", filter={"sources": ["nowhere"]})

    assert await counts() == [3, 1, 1]
    assert await gateway.counted("nearhit_search_hits_count", tenant="acme") == 3
    assert await gateway.counted("nearhit_search_hits_sum", tenant="acme") == 2
    assert await gateway.counted("nearhit_search_best_score_count", tenant="acme") == 2
    assert 0.3 < await gateway.counted("nearhit_search_best_score_sum", tenant="acme") < 2


@pytest.mark.thorough
@pytest.mark.isolated
async def test_a_second_tenant_beyond_the_limit_counts_as_other(
    gateway: Gateway, ana: Caller
) -> None:
    await ana.search("annual leave")
    await gateway.tenant("beta-of-a-secret-name")
    bob = await gateway.caller("bob", tenant="beta-of-a-secret-name")
    await bob.search("annual leave")

    text = (await gateway.client.get("/metrics")).text

    assert "beta-of-a-secret-name" not in text
    assert await gateway.counted("nearhit_search_hits_count", tenant="other") == 1


@pytest.mark.thorough
@pytest.mark.isolated
async def test_ranks_of_candidates_are_no_best_scores(gateway: Gateway, ana: Caller) -> None:
    await ana.search("annual leave", fusion="rrf")

    assert await gateway.counted("nearhit_search_hits_count", tenant="acme") == 1
    assert await gateway.counted("nearhit_search_best_score_count", tenant="acme") == 0


@pytest.mark.thorough
@pytest.mark.isolated
async def test_chunks_of_written_documents_are_observed(gateway: Gateway, ana: Caller) -> None:
    parts = "\n\n".join(f"# Part {number}\n\nWhat part {number} says." for number in range(4))
    answer = await ana.put("parts", parts)

    written = await gateway.counted("nearhit_document_chunks_count")
    assert written == 2, answer
    chunks = answer["chunks"]["added"]
    assert chunks > 1
    assert await gateway.counted("nearhit_document_chunks_sum") == chunks + 1


@pytest.mark.thorough
@pytest.mark.isolated
async def test_searches_without_an_embedder_are_counted(
    settings: Settings, embedder: Embedder
) -> None:
    moody = MoodyEmbedder(embedder)
    async with running(settings, moody) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana", tenant="acme")
        await ana.put("leave", LEAVE)
        moody.away = True
        await ana.search("annual leave")

        assert await gateway.counted("nearhit_search_degraded_total") == 1
        assert await gateway.counted("nearhit_embedding_failures_total", kind="query") == 1


@pytest.mark.thorough
@pytest.mark.isolated
async def test_tokens_and_cost_are_counted_by_tenant(settings: Settings) -> None:
    async with stub_openai() as stub:
        priced = settings.model_copy(
            update={
                "embedder": "openai",
                "openai_base_url": stub.url,
                "openai_api_key": SecretStr("key"),
                "openai_dimensions": WIDTH,
                "prices": {"embedding": 500_000.0},
            }
        )
        metrics = Metrics(tenants_max=5)
        (made,) = configured_embedders.make_all(priced, metrics.embedding_tokens)
        async with running(priced, made, metrics) as gateway:
            await gateway.tenant("acme")
            ana = await gateway.caller("ana", tenant="acme")
            await ana.search("annual leave")

            labels = {"tenant": "acme", "operation": "search"}
            assert await gateway.counted("nearhit_usage_tokens_total", **labels) == TOKENS
            assert await gateway.counted("nearhit_usage_cost_total", **labels) == TOKENS / 2


@pytest.mark.thorough
@pytest.mark.isolated
async def test_queued_and_failed_jobs_are_gauges(
    settings: Settings, embedder: Embedder, database_url: str
) -> None:
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana", tenant="acme")
        await put_later(ana, "leave", LEAVE)
        await put_later(ana, "travel", LEAVE)
        await run_sql(
            database_url,
            "UPDATE jobs SET state = 'failed', ended_at = now() WHERE target LIKE '%travel'",
        )
        await run_sql(database_url, "UPDATE jobs SET due_at = now() - interval '1 hour'")
    async with running(settings, embedder) as gateway:  # samples when it starts
        async with asyncio.timeout(WAIT_S_MAX):
            while not await gateway.counted("nearhit_jobs", state="waiting"):
                await asyncio.sleep(0.01)

        assert await gateway.counted("nearhit_jobs", state="waiting") == 1
        assert await gateway.counted("nearhit_jobs", state="failed") == 1
        assert await gateway.counted("nearhit_jobs", state="running") == 0
        assert await gateway.counted("nearhit_jobs_oldest_due_seconds") >= 3600


@pytest.mark.isolated
async def test_openmetrics_is_given_to_who_asks_for_it(gateway: Gateway, ana: Caller) -> None:
    await ana.search("annual leave")

    answer = await gateway.client.get(
        "/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"}
    )

    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert answer.text.endswith("# EOF\n")
    assert "nearhit_search_hits_bucket" in answer.text


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.isolated
async def test_a_worker_serves_its_metrics_and_counts_its_jobs(
    settings: Settings, embedder: Embedder
) -> None:
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana", tenant="acme")
        await put_later(ana, "leave", LEAVE)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", "worker"),
        env=os.environ
        | environment_of(settings)
        | {"NEARHIT_WORKER_METRICS_PORT": "0", "NEARHIT_LOG_LEVEL": "info"},
        stdout=PIPE,
        stdin=DEVNULL,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(WAIT_S_MAX):
            line: dict[str, object] = {}
            while line.get("event") != "metrics":
                line = orjson.loads(await process.stdout.readline())
            text = ""
            async with httpx2.AsyncClient(verify=False) as client:
                while "nearhit_job_duration_seconds_count" not in text:
                    text = (await client.get(f"http://127.0.0.1:{line['port']}/metrics")).text
                    await asyncio.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
    labels = r'kind="document.write",outcome="done"'
    assert re.search(rf"nearhit_job_duration_seconds_count{{{labels}}} 1.0", text)
    assert "nearhit_document_chunks_count 1.0" in text


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.isolated
async def test_a_worker_names_a_port_that_is_taken(settings: Settings) -> None:
    server = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        environment = environment_of(settings) | {"NEARHIT_WORKER_METRICS_PORT": str(port)}

        line = await fails(environment, "worker")

    assert "NEARHIT_WORKER_METRICS_PORT" in line
