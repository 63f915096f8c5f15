"""`nearhit jobs` and `nearhit worker`: queued work, as the operator sees it and ends it."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.conftest import run_sql
from tests.gateway.support.commands import WAIT_S_MAX, environment_of, refused, succeeds
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.writes.test_queued_writes import job, put_later

pytestmark = [pytest.mark.anyio, pytest.mark.blocking, pytest.mark.isolated, pytest.mark.slow]


@pytest.fixture
def environment(settings: Settings) -> dict[str, str]:
    return environment_of(settings)


@asynccontextmanager
async def worker(environment: dict[str, str]) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", "worker"),
        env=os.environ | environment,
        stdin=DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def until(caller: Caller, job_id: str, state: str) -> None:
    async with asyncio.timeout(WAIT_S_MAX):
        while (await job(caller, job_id))["state"] != state:
            await asyncio.sleep(0.05)


@pytest.mark.thorough
async def test_jobs_are_listed_shown_replayed_and_deleted(
    environment: dict[str, str], database_url: str, ana: Caller
) -> None:
    failed, waiting = await put_later(ana, "failed"), await put_later(ana, "waiting")
    await run_sql(
        database_url,
        "UPDATE jobs SET state = 'failed', ended_at = now(), error = 'it [would] not' "
        "WHERE target = 'document:failed'",
    )

    listed = await succeeds(environment, "jobs", "list", "--state", "failed")
    shown = await succeeds(environment, "jobs", "show", failed)
    with_payload = await succeeds(environment, "jobs", "show", failed, "--payload")
    replayed = await succeeds(environment, "jobs", "replay", failed)
    again = await refused(environment, "jobs", "replay", failed)
    deleted = await succeeds(environment, "jobs", "delete", failed, waiting)
    unknown = await refused(environment, "jobs", "show", failed)
    nothing = await succeeds(environment, "jobs", "list")
    of_nobody = await refused(environment, "jobs", "list", "--tenant", "nobody")

    assert failed in listed
    assert waiting not in listed
    assert "it [would] not" in listed
    assert "created by:   ana" in shown
    assert "25 days" not in shown
    assert "25 days" in with_payload
    assert replayed == f"queued {failed} again\n"
    assert "no failed job" in again
    assert deleted == f"deleted {failed}\ndeleted {waiting}\n"
    assert "there is no job" in unknown
    assert nothing == "no jobs match\n"
    assert of_nobody == "nearhit: there is no tenant nobody"


async def test_a_worker_does_what_is_queued_and_stops_when_told_to(
    environment: dict[str, str], ana: Caller
) -> None:
    async with worker(environment) as process:
        await until(ana, await put_later(ana, "leave"), "done")
        process.terminate()
        async with asyncio.timeout(WAIT_S_MAX):
            status = await process.wait()

    assert status == 0
    assert await ana.found("annual leave") == ["leave"]


@pytest.mark.thorough
async def test_jobs_that_a_killed_worker_had_are_done_by_another(
    settings: Settings, environment: dict[str, str], embedder: Embedder, ana: Caller
) -> None:
    """However often one dies: nothing is lost, and nothing there twice."""
    quick = environment | {"NEARHIT_JOB_LEASE_S": "1", "NEARHIT_JOB_ATTEMPTS_MAX": "100"}
    text = "\n\n".join(f"# Part {n}\n\nWhat part {n} of the handbook says." for n in range(300))
    jobs = [await put_later(ana, f"book-{n}", f"{text}\n\nBook {n}.") for n in range(4)]

    for _ in range(3):
        async with worker(quick) as process:
            states = ""
            async with asyncio.timeout(WAIT_S_MAX):
                while "running" not in states:
                    states = (await ana.call("GET", "/v1/jobs?state=running")).text
            process.kill()
    async with worker(quick):
        for job_id in jobs:
            await until(ana, job_id, "done")

    async with running(settings, embedder) as fresh:
        caller: Caller = Gateway.as_(fresh, ana)
        documents = (await caller.call("GET", "/v1/documents")).json()["documents"]
        assert [document["document_id"] for document in documents] == [
            f"book-{n}" for n in range(4)
        ]
        found = await caller.search("what does part 7 say", top_k=100)
        digests = [(hit["document_id"], hit["start"]) for hit in found.json()["hits"]]
        assert len(digests) == len(set(digests))
