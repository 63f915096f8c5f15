"""A tenant that is deleted: closed at once, gone in the background, and never to be met again."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL
from dataclasses import replace
from typing import Any

import pytest

from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from index.documents.partitions import MovedTenant, Partitions
from index.postgres import database
from index.search.query_embedder import Embedder
from index.search.tables import strategy
from tests.conftest import run_sql
from tests.gateway.guarantees.test_forgetting import SECRET, WORDS, ask
from tests.gateway.support.commands import environment_of
from tests.gateway.support.gateways import Caller, Gateway, problem
from tests.gateway.support.stored_remains import in_redis, in_tables
from tests.gateway.support.workers import worker_services

PUBLISHER = ["reader", "writer", "publisher"]

pytestmark = [pytest.mark.anyio, pytest.mark.redis, pytest.mark.isolated, pytest.mark.slow]

LEASES_END = "UPDATE jobs SET leased_until = now() WHERE state = 'running'"
LEFT = {
    "jobs",
    "audit_log",
    "audit_log_heads",
}  # the receipt, and the log, which outlives its tenant
MANY = 230  # documents: three pieces


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"job_retry_delay_s": 0.01})


async def leave(gateway: Gateway, tenant: str = "acme") -> str:
    """The job that does it."""
    answer = await gateway.operator.call("DELETE", f"/v1/tenants/{tenant}")
    assert answer.status_code == 202, answer.text
    job_id: str = answer.json()["job_id"]
    assert answer.headers["location"] == f"/v1/jobs/{job_id}"
    return job_id


async def receipt(gateway: Gateway, job_id: str) -> dict[str, Any]:
    answer = await gateway.operator.call("GET", f"/v1/jobs/{job_id}")
    assert answer.status_code == 200, answer.text
    job: dict[str, Any] = answer.json()
    return job


@pytest.fixture
async def ana(gateway: Gateway) -> Caller:
    return await gateway.caller("ana", roles=PUBLISHER)


async def work(settings: Settings, embedder: Embedder) -> None:
    async with worker_services(settings, embedder) as services:
        await worker_loop.make_worker(services.worker).drain()


async def fill(caller: Caller, documents: int = 3) -> None:
    lines = b"\n".join(
        b'{"document_id": "doc-%d", "text": "%s Page %d.", "readers": ["%s"], "source": "s%d"}'
        % (n, SECRET.encode(), n, (b"tenant", b"public", b"user:ana")[n % 3], n % 2)
        for n in range(documents)
    )
    answer = await caller.call("POST", "/v1/documents/batch", content=lines)
    assert answer.text.count('"revision"') == documents


async def test_nothing_of_a_deleted_tenant_is_left_but_the_receipt(
    settings: Settings, gateway: Gateway, other_worker: Gateway, embedder: Embedder
) -> None:
    await gateway.tenant("beta")
    await gateway.receive_public("beta")
    ben = await gateway.caller("ben", tenant="beta")
    ana = await gateway.caller("ana", groups=["g"], roles=PUBLISHER)
    admin = await gateway.caller("ada", roles=["admin"])
    await ben.put("kept", "Quuxes of our own.", readers=["tenant"])
    await fill(ana)
    await admin.call("PUT", "/v1/groups/friends/members/ana")
    await admin.call("PUT", "/v1/cache/semantic", json={"error_max": 0.1})
    await ask(ana, other_worker.as_(ana), ben)
    assert {"doc-1", "kept"} <= set(await ben.found("quuxes"))

    job_id = await leave(gateway)
    refused = [
        await each.call("POST", "/v1/search", json={"query": "quuxes"})
        for each in (ana, other_worker.as_(ana), admin)
    ]
    again = await leave(gateway)
    taken = await gateway.operator.call("POST", "/v1/tenants", json={"id": "acme"})
    await work(settings, embedder)
    done = await receipt(other_worker, job_id)

    assert [answer.status_code for answer in refused] == [401] * 3
    assert again == job_id
    problem(taken, 409)
    assert done["state"] == "done"
    counts = {name: done["result"][name] for name in ("documents", "chunks", "keys", "embeddings")}
    assert counts == {"documents": 3, "chunks": 3, "keys": 2, "embeddings": 3}
    left = await in_tables(settings, "acme", "friends", ",ana,", "doc-")
    # What others were shown of its public documents: identifiers, until their admin settles them.
    assert all(row.startswith("(beta,") for row in left.pop("curation", []))
    assert set(left) == LEFT
    assert len(left["jobs"]) == 1
    assert await in_tables(settings, "Zorbified", "Hieronymus") == {}
    assert await in_redis(settings, "acme", "Zorbified") == []
    assert await ben.found("quuxes") == ["kept"]
    problem(await gateway.operator.call("DELETE", "/v1/tenants/acme"), 404)


async def test_a_tenant_of_the_same_name_meets_nothing_of_the_old_one(
    settings: Settings, gateway: Gateway, other_worker: Gateway, embedder: Embedder
) -> None:
    """Workers remember answers, words and keys; none of it is the new tenant's."""
    for _ in range(2):
        ana = await gateway.caller("ana", roles=PUBLISHER)
        workers = (ana, other_worker.as_(ana))
        nothing = [await each.found("zorbifeid quuxes") for each in workers]
        await ana.put("mine", SECRET, readers=["tenant"])
        found = [await each.found("zorbifeid quuxes") for each in workers]
        unpaid = await ana.put("mine too", SECRET)
        await leave(gateway)
        await work(settings, embedder)
        await gateway.tenant("acme")

        assert nothing == [[], []]
        assert found == [["mine"], ["mine"]]
        assert unpaid["chunks"]["embedded"] == 0
    ana = await gateway.caller("ana", roles=PUBLISHER)
    await ana.put("other", "Nothing of the kind.", readers=["tenant"])
    assert await ana.found("zorbifeid quuxes", alpha=0) == []
    assert (await ana.put("mine", SECRET))["chunks"]["embedded"] == 1


@pytest.mark.thorough
async def test_the_table_of_a_large_tenant_goes_with_it(
    settings: Settings, database_url: str, gateway: Gateway, ana: Caller, embedder: Embedder
) -> None:
    await fill(ana, 30)
    async with database.connect(
        database_url,
        connections_max=2,
        statement_timeout_s=60,
        observe=lambda *_: None,
        announce=database.announce_to_nobody,
    ) as connected:
        limits = replace(strategy.MEASURED, crossover_chunks=20)
        moved = [each async for each in Partitions(connected, limits=limits).maintain()]
        assert isinstance(moved[0], MovedTenant)
        partition_no = moved[0].partition_no

        await leave(gateway)
        await work(settings, embedder)

        tables = "SELECT to_regclass('chunks_' || $1::text) AS found"
        async with connected.session() as session:
            rows = await session.connection.fetch(tables, str(partition_no))
    assert rows[0]["found"] is None
    assert await in_tables(settings, *WORDS) == {}


async def test_a_tenant_is_deleted_while_it_is_searched_and_written(
    settings: Settings, gateway: Gateway, other_worker: Gateway, embedder: Embedder
) -> None:
    await gateway.tenant("beta")
    await gateway.receive_public("beta")
    ben = await gateway.caller("ben", tenant="beta")
    ana = await gateway.caller("ana", roles=PUBLISHER)
    await fill(ana, MANY)
    statuses: set[int] = set()
    busy_ones: set[int] = set()
    stop = asyncio.Event()

    async def busy(caller: Caller, number: int) -> None:
        at = 0
        while not stop.is_set():
            at += 1
            body = {"text": f"{SECRET} {number} {at}", "readers": ["public"]}
            put = await caller.call("PUT", f"/v1/documents/new-{number}-{at}", json=body)
            found = await caller.call("POST", "/v1/search", json={"query": f"quuxes {at}"})
            statuses.update((put.status_code, found.status_code))
            busy_ones.add(number)

    async def watching() -> None:
        while not stop.is_set():
            await ben.search("zorbified quuxes")

    work_on = [asyncio.create_task(busy(other_worker.as_(ana), n)) for n in range(4)]
    work_on.append(asyncio.create_task(watching()))
    while len(busy_ones) < 4:
        await asyncio.sleep(0.01)
    job_id = await leave(gateway)
    await work(settings, embedder)
    stop.set()
    await asyncio.gather(*work_on)

    assert (await receipt(gateway, job_id))["state"] == "done"
    assert statuses in ({200, 401}, {200, 401, 404})  # 404: admitted before, written after
    assert await ben.found("zorbified quuxes") == []
    assert set(await in_tables(settings, "acme", "Zorbified")) == LEFT
    assert await in_redis(settings, "Hieronymus") == []


@pytest.mark.sampled("tenant_deletion.delete_words-2")
@pytest.mark.parametrize(
    ("step", "times"),
    [
        ("tenant_deletion.documents", 1),
        ("jobs.progress", 2),
        ("tenant_deletion.delete_embeddings", 1),
        ("tenant_deletion.delete_words", 2),
        ("tenant_deletion.delete_tenant", 1),
    ],
)
async def test_a_worker_killed_in_the_middle_is_followed_by_another(
    settings: Settings,
    database_url: str,
    gateway: Gateway,
    ana: Caller,
    embedder: Embedder,
    step: str,
    times: int,
) -> None:
    await fill(ana, MANY)
    await ask(ana)
    job_id = await leave(gateway)
    await _dies_at(settings, step, times)
    await run_sql(database_url, LEASES_END)
    await work(settings, embedder)

    done = await receipt(gateway, job_id)

    assert (done["state"], done["attempts"]) == ("done", 2)
    result = {name: done["result"][name] for name in ("documents", "chunks", "embeddings")}
    assert result == {"documents": MANY, "chunks": MANY, "embeddings": MANY}
    assert set(await in_tables(settings, "acme", "Zorbified")) == LEFT


async def _dies_at(settings: Settings, step: str, times: int) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.gateway.support.crashing_worker", step, str(times)),
        env=os.environ | environment_of(settings) | {"NEARHIT_JOB_LEASE_S": "1"},
        stdin=DEVNULL,
    )
    async with asyncio.timeout(60):
        assert await process.wait() == -signal.SIGKILL
