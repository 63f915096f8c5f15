"""What a collector gets of searches, writes and jobs, and what it does not get."""

import ast
import asyncio
import secrets
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import orjson
import pytest
from pydantic import SecretStr

from gateway.configured import configured_embedders
from gateway.monitoring import logs
from gateway.monitoring.metrics import Metrics
from gateway.settings.settings import Settings
from tests.conftest import ADMIN_KEY
from tests.gateway.extensions.opentelemetry.collector import Collector, collector
from tests.gateway.support.commands import refused, without_settings
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.support.raw_http import RawConnection, raw
from tests.gateway.writes.test_queued_writes import put_later
from tests.packages import link_packages
from tests.stub_openai import WIDTH, StubOpenAI, stub_openai

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."
SAMPLED, UNSAMPLED = "01", "00"
WAIT_S_MAX = 60.0
DELAY_S_MAX = 20.0  # of searches that would wait for a collector
ROOT = Path(__file__).parents[4]


@pytest.fixture
async def receiver() -> AsyncIterator[Collector]:
    async with collector() as made:
        yield made


@pytest.fixture
async def stub() -> AsyncIterator[StubOpenAI]:
    async with stub_openai() as made:
        yield made


@pytest.fixture
def settings(settings: Settings, receiver: Collector, stub: StubOpenAI) -> Settings:
    """An embedding service; only requests that say so themselves are sampled."""
    return settings.model_copy(
        update={
            "otlp_endpoint": receiver.url,
            "trace_share": 0.0,
            "embedder": "openai",
            "openai_base_url": stub.url,
            "openai_api_key": SecretStr("key-of-the-service"),
            "openai_dimensions": WIDTH,
        }
    )


@asynccontextmanager
async def traced(settings: Settings, **update: Any) -> AsyncIterator[tuple[Gateway, Caller]]:
    """A gateway and a caller; at the end all spans have been received."""
    own = settings.model_copy(update=update)
    metrics = Metrics()
    (embedder,) = configured_embedders.make_all(own, metrics.embedding_tokens)
    async with running(own, embedder, metrics) as gateway:
        made = await gateway.operator.call("POST", "/v1/tenants", json={"id": "acme"})
        assert made.status_code in {201, 409}  # of an earlier gateway of the test
        yield gateway, await gateway.caller("ana", tenant="acme")


def new_parent(flags: str = SAMPLED) -> tuple[str, str, dict[str, str]]:
    """A trace, a span of the caller, and the header that names them."""
    trace_id, span_id = secrets.token_hex(16), secrets.token_hex(8)
    return trace_id, span_id, {"traceparent": f"00-{trace_id}-{span_id}-{flags}"}


async def search(caller: Caller, headers: dict[str, str], query: str = "annual leave") -> None:
    answer = await caller.call("POST", "/v1/search", json={"query": query}, headers=headers)
    assert answer.status_code == 200, answer.text


async def test_a_search_continues_the_callers_trace_down_to_statements_and_the_embedder(
    settings: Settings, receiver: Collector, stub: StubOpenAI
) -> None:
    trace_id, span_id, headers = new_parent()
    async with traced(settings) as (_, ana):
        await ana.put("leave", LEAVE)
        await search(ana, headers)

    assert {span.trace_id for span in receiver.spans} == {trace_id}
    assert {span.service for span in receiver.spans} == {"nearhit"}
    (request,) = receiver.named("POST /v1/search")
    assert request.parent_id == span_id
    assert request.attributes["http.response.status_code"] == 200
    assert request.attributes["nearhit.cache.tier"] == "miss"
    (statement,) = receiver.named("search.exact")
    (embedding,) = receiver.named("embed query")
    assert receiver.path(statement) == ["search.exact", "POST /v1/search"]
    assert receiver.path(embedding) == ["embed query", "POST /v1/search"]
    phases = [each for name in ("parse", "revision", "search") for each in receiver.named(name)]
    assert all(receiver.path(phase) == [phase.name, "POST /v1/search"] for phase in phases)
    parsed, confirmed, searched = phases
    assert parsed.ended_ns == confirmed.began_ns
    assert searched.began_ns <= embedding.began_ns <= statement.began_ns <= searched.ended_ns
    assert stub.asked[-1].traceparent == f"00-{trace_id}-{embedding.span_id}-01"
    assert stub.asked[0].traceparent[-2:] != "01"  # that of the write, which is not sampled
    for span in receiver.spans:
        assert request.began_ns <= span.began_ns <= span.ended_ns <= request.ended_ns


@pytest.mark.thorough
async def test_a_write_has_spans_of_its_embedding_statements_and_drain(
    settings: Settings, receiver: Collector
) -> None:
    _, _, headers = new_parent()
    async with traced(settings) as (_, ana):
        await ana.put("leave", LEAVE)
        await ana.search("annual leave")
        answer = await ana.call(
            "PUT", "/v1/documents/leave", json={"text": LEAVE + " Or 26."}, headers=headers
        )
        assert answer.status_code == 200

    route = "PUT /v1/documents/{document_id:path}"
    for name in ("embed passages", "documents.put", "drain"):
        paths = [receiver.path(span) for span in receiver.named(name)]
        assert paths, name
        assert all(path[-2:] == ["write", route] for path in paths), paths


async def test_a_job_is_in_the_trace_of_the_request_that_enqueued_it(
    settings: Settings, receiver: Collector
) -> None:
    trace_id, span_id, headers = new_parent()
    async with traced(settings) as (_, ana):
        headers |= {"tracestate": "vendor=1", "Prefer": "respond-async"}
        answer = await ana.call("PUT", "/v1/documents/leave", json={"text": LEAVE}, headers=headers)
        job = answer.json()["job_id"]
    async with traced(settings, serve_jobs=True) as (_, ana):  # a later process does it
        await done(ana, job)

    (request,) = receiver.named("PUT /v1/documents/{document_id:path}")
    (span,) = receiver.named("process document.write")
    assert (request.trace_id, request.parent_id) == (trace_id, span_id)
    assert (span.trace_id, span.parent_id) == (trace_id, request.span_id)
    assert span.began_ns >= request.ended_ns
    assert span.attributes | {"nearhit.tenant": "acme"} == {
        "messaging.system": "nearhit",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": "document.write",
        "messaging.message.id": job,
        "nearhit.tenant": "acme",
        "nearhit.job.attempt": 1,
    }
    path = ["embed passages", "process document.write", request.name]
    assert path in map(receiver.path, receiver.spans)


@pytest.mark.thorough
async def test_a_job_of_a_request_that_is_not_sampled_is_not_sampled_either(
    settings: Settings, receiver: Collector
) -> None:
    _, _, headers = new_parent(UNSAMPLED)
    async with traced(settings, trace_share=1.0, serve_jobs=True) as (_, ana):
        headers |= {"Prefer": "respond-async"}
        body = {"text": LEAVE}
        answer = await ana.call("PUT", "/v1/documents/leave", json=body, headers=headers)
        await done(ana, answer.json()["job_id"])

    assert receiver.named("process document.write") == []


@pytest.mark.thorough
async def test_a_job_without_a_trace_begins_one(settings: Settings, receiver: Collector) -> None:
    async with traced(settings, otlp_endpoint=None) as (_, ana):
        job = await put_later(ana, "leave", LEAVE)
    async with traced(settings, trace_share=1.0, serve_jobs=True) as (_, ana):
        await done(ana, job)

    (span,) = receiver.named("process document.write")
    assert span.parent_id == ""


async def done(caller: Caller, job: str) -> None:
    async with asyncio.timeout(WAIT_S_MAX):
        while (await caller.call("GET", f"/v1/jobs/{job}")).json()["state"] != "done":
            await asyncio.sleep(0.05)


@pytest.mark.thorough
async def test_what_is_not_sampled_is_not_sent(settings: Settings, receiver: Collector) -> None:
    async with traced(settings) as (_, ana):
        await ana.put("leave", LEAVE)
        for headers in ({}, new_parent(UNSAMPLED)[2]):
            await search(ana, headers)

    assert receiver.spans == []


@pytest.mark.thorough
async def test_a_bad_traceparent_is_ignored(settings: Settings, receiver: Collector) -> None:
    headers = ("", "00-0-0-01", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "x")
    async with traced(settings, trace_share=1.0) as (_, ana):
        for header in headers:
            await search(ana, {"traceparent": header})

    requests = receiver.named("POST /v1/search")
    assert [request.parent_id for request in requests] == [""] * len(headers)


async def test_a_failure_is_marked_and_a_refusal_is_not(
    settings: Settings, receiver: Collector
) -> None:
    async with traced(settings, trace_share=1.0) as (gateway, ana):
        await ana.call("POST", "/v1/search", json={"query": ""})
        await ana.call("POST", "/v1/search", json={"query": "x"}, headers={"Request-Timeout": "1e"})
        await gateway.client.get("/nothing")

    assert [span.attributes["http.response.status_code"] for span in receiver.named("GET")] == [404]
    assert len(receiver.named("POST /v1/search")) == 2
    assert not any(span.is_failed for span in receiver.spans)


async def test_no_question_no_text_and_no_key_leaves_the_gateway(
    settings: Settings, receiver: Collector
) -> None:
    async with traced(settings, trace_share=1.0) as (_, ana):
        await ana.put("leave", "# Leave\n\nThe secret word is wombat.")
        await ana.search("where is the wombat?")
        key = ana.key

    assert receiver.named("POST /v1/search")
    assert key is not None
    sent = b"".join(receiver.bodies)
    for secret in (b"wombat", key.encode(), ADMIN_KEY.encode(), b"key-of-the-service"):
        assert secret not in sent


@pytest.mark.thorough
async def test_a_repeat_is_a_span_too_and_each_trace_its_own(
    settings: Settings, receiver: Collector
) -> None:
    async with traced(settings, trace_share=1.0) as (gateway, ana):
        await ana.put("leave", LEAVE)
        async with raw(gateway) as connection:
            for _ in range(4):
                await ask(connection, ana, "")

    requests = receiver.named("POST /v1/search")
    tiers = [span.attributes["nearhit.cache.tier"] for span in requests]
    assert sorted(tiers) == ["memory", "memory", "memory", "miss"]
    assert len({span.trace_id for span in requests}) == 4


async def test_a_repeat_in_the_same_bytes_belongs_to_the_trace_that_it_names(
    settings: Settings, receiver: Collector
) -> None:
    trace_id, span_id, headers = new_parent()
    async with traced(settings) as (gateway, ana):
        await ana.put("leave", LEAVE)
        async with raw(gateway) as connection:
            for _ in range(3):
                await ask(connection, ana, f"traceparent: {headers['traceparent']}\r\n")

    requests = receiver.named("POST /v1/search")
    assert [(span.trace_id, span.parent_id) for span in requests] == [(trace_id, span_id)] * 3


async def ask(connection: RawConnection, caller: Caller, header: str) -> None:
    body = b'{"query":"annual leave"}'
    head = (
        "POST /v1/search HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {caller.key}\r\n{header}Content-Length: {len(body)}\r\n\r\n"
    )
    await connection.send(head.encode() + body)
    assert (await connection.answer()).status == 200


async def test_log_lines_name_the_trace(
    settings: Settings, capfd: pytest.CaptureFixture[str]
) -> None:
    trace_id, _, headers = new_parent(UNSAMPLED)
    logging = settings.model_copy(update={"log_level": "info"})
    async with traced(logging) as (_, ana):
        await ana.put("leave", LEAVE)
        await search(ana, headers)

    lines = [orjson.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [line["route"] for line in lines if line.get("trace_id") == trace_id] == ["/v1/search"]
    assert all(len(line["trace_id"]) == 32 for line in lines if line["event"] == "request")


@pytest.mark.thorough
async def test_other_log_lines_of_a_request_name_its_trace(
    settings: Settings, stub: StubOpenAI, capfd: pytest.CaptureFixture[str]
) -> None:
    trace_id, _, headers = new_parent(UNSAMPLED)
    async with traced(settings) as (_, ana):
        await stub.kill()
        logs.configure("warning")
        try:
            await search(ana, headers)
        finally:
            logs.configure("error")

    lines = [orjson.loads(line) for line in capfd.readouterr().out.splitlines()]
    (line,) = (line for line in lines if line["event"] == "embedder")
    assert line["trace_id"] == trace_id
    assert len(line["span_id"]) == 16


@pytest.mark.thorough
async def test_a_sampled_requests_latency_has_its_trace_as_an_exemplar(
    settings: Settings,
) -> None:
    sampled, _, headers = new_parent()
    unsampled, _, others = new_parent(UNSAMPLED)
    async with traced(settings) as (gateway, ana):
        await search(ana, headers)
        await search(ana, others)
        text = (
            await gateway.client.get("/metrics", headers={"Accept": "application/openmetrics-text"})
        ).text

    lines = [line for line in text.splitlines() if "# {" in line]
    assert lines
    assert all(f'trace_id="{sampled}"' in line for line in lines)
    assert all(line.startswith("nearhit_http_request_duration_seconds_bucket") for line in lines)
    assert unsampled not in text


@pytest.mark.thorough
async def test_statements_of_sampled_requests_name_their_trace_and_no_others(
    settings: Settings, database_url: str
) -> None:
    sampled, _, headers = new_parent()
    unsampled, _, others = new_parent(UNSAMPLED)
    async with traced(settings) as (_, ana):
        await search(ana, others, "first")
        before = await last_statements(database_url)
        await search(ana, headers, "second")
        after = await last_statements(database_url)

    assert not any("traceparent" in statement for statement in before)
    commented = [statement for statement in after if "traceparent" in statement]
    assert commented
    assert all(f"/*traceparent='00-{sampled}-" in statement for statement in commented)
    assert unsampled not in "".join(after)


async def last_statements(database_url: str) -> list[str]:
    """Of each connection to the database."""
    connection = await asyncpg.connect(database_url)
    try:
        rows = await connection.fetch(
            "SELECT query FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    finally:
        await connection.close()
    return [row["query"] for row in rows]


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_collector_that_is_away_delays_nobody(settings: Settings) -> None:
    started_s = asyncio.get_running_loop().time()
    async with traced(settings, otlp_endpoint="http://127.0.0.1:9", trace_share=1.0) as (_, ana):
        await ana.put("leave", LEAVE)
        for number in range(20):
            await ana.search(f"annual leave {number}")
        answered_s = asyncio.get_running_loop().time()

    assert answered_s - started_s < DELAY_S_MAX


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("command", ["serve", "worker"])
def test_without_opentelemetry_only_an_endpoint_is_refused(tmp_path: Path, command: str) -> None:
    """Other packages load it if it is there, such as redis; none of ours does."""
    packages = link_packages(tmp_path / "site-packages", without={"opentelemetry"})
    program = f"""
import runpy, sys
import gateway.api.app, gateway.worker.worker_loop, gateway.cli.operations
print([name for name in sys.modules if name.startswith("gateway.extensions.opentelemetry")])
sys.argv = ["nearhit", {command!r}]
runpy.run_module("gateway", run_name="__main__")
"""
    done = subprocess.run(  # noqa: S603  our own
        [sys.executable, "-S", "-c", program],
        env=without_settings()
        | {
            "PYTHONPATH": f"{packages}:{ROOT}",
            "NEARHIT_OTLP_ENDPOINT": "http://127.0.0.1:9",
            "NEARHIT_DATABASE_URL": "postgresql://x/x",
            "NEARHIT_REDIS_URL": "redis://x",
        },
        capture_output=True,
        check=False,
        text=True,
    )

    assert ast.literal_eval(done.stdout) == []
    assert done.returncode == 1
    assert done.stderr == (
        "nearhit: NEARHIT_OTLP_ENDPOINT needs the extra `otel`: pip install '.[otel]' in a "
        "checkout\n"
    )


@pytest.mark.parametrize("url", ["collector:4318", "grpc://collector", "http://a b"])
async def test_an_endpoint_that_is_no_url_is_refused(url: str) -> None:
    line = await refused({"NEARHIT_OTLP_ENDPOINT": url}, "serve")

    assert "NEARHIT_OTLP_ENDPOINT" in line.upper()
