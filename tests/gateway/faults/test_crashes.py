"""Whenever a worker is killed: afterwards the index is what its sources say, nothing is there
twice, and no cached answer is wrong.
"""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL
from pathlib import Path

import pytest

from gateway.monitoring.metrics import Metrics
from gateway.services import open_services
from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from index.search.query_embedder import Embedder
from tests.conftest import run_sql
from tests.gateway.support.commands import environment_of
from tests.gateway.support.crashes import (
    AFTER,
    BEFORE,
    SAMPLED_STEPS,
    STEPS,
    WAIT_S_MAX,
    fill_the_cache,
    is_as,
    no_answer_is_wrong,
    text,
)
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.support.workers import worker_services
from tests.gateway.writes.test_queued_writes import job, put_later

pytestmark = [pytest.mark.anyio, pytest.mark.blocking, pytest.mark.isolated, pytest.mark.slow]

LEASES_END = "UPDATE jobs SET leased_until = now() WHERE state = 'running'"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(
        update={
            "job_lease_s": 30.0,  # a slow run keeps its job; the tests end the lease of a dead one
            "job_retry_delay_s": 0.05,
            "job_attempts_max": 20,
            "log_level": "error",
        }
    )


async def dies_at(settings: Settings, step: str, times: int = 1) -> None:
    """A worker begins, and dies there."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.gateway.support.crashing_worker", step, str(times)),
        env=os.environ | environment_of(settings) | more(settings),
        stdin=DEVNULL,
    )
    async with asyncio.timeout(WAIT_S_MAX):
        try:
            status = await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
    assert status == -signal.SIGKILL


def more(settings: Settings) -> dict[str, str]:
    """What a worker in a process of its own has to know beside the servers."""
    named = ("job_lease_s", "job_retry_delay_s", "job_attempts_max")
    values = {name: getattr(settings, name) for name in named}
    return {f"NEARHIT_{name.upper()}": str(value) for name, value in values.items() if value}


async def revision(caller: Caller) -> int:
    told = (await caller.search("which revision is this")).headers["nearhit-revision"]
    return int(told.partition(";")[0])


@pytest.mark.sampled(*SAMPLED_STEPS)
@pytest.mark.parametrize("name", STEPS)
async def test_a_worker_killed_at_any_step_of_a_write(
    settings: Settings, database_url: str, ana: Caller, embedder: Embedder, name: str
) -> None:
    step, attempts = STEPS[name]
    await ana.put("book", text(BEFORE))
    await ana.put("other", "# Other\n\nA document that nobody touches.")
    await fill_the_cache(ana)
    before = await revision(ana)
    job_id = await put_later(ana, "book", text(AFTER))

    await dies_at(settings, step)
    shown = {(await ana.call("GET", "/v1/documents/book")).json()["text"]}
    await fill_the_cache(ana)
    await no_answer_is_wrong(settings)
    async with open_services(settings, Metrics(), embedder) as services:
        await run_sql(database_url, LEASES_END)
        await worker_loop.make_worker(services.worker).drain()

    assert shown < {text(BEFORE), text(AFTER)}  # one or the other, and nothing in between
    done = await job(ana, job_id)
    assert (done["state"], done["attempts"]) == ("done", attempts)
    assert await revision(ana) == before + 1
    await is_as(
        database_url,
        {"book": text(AFTER), "other": "# Other\n\nA document that nobody touches."},
    )
    await fill_the_cache(ana)
    await no_answer_is_wrong(settings)


@pytest.mark.thorough
@pytest.mark.parametrize("times", [1, 2, 3])
async def test_a_worker_killed_while_it_reads_a_source(
    settings: Settings,
    database_url: str,
    gateway: Gateway,
    ana: Caller,
    embedder: Embedder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    times: int,
) -> None:
    folder = tmp_path / "sources" / "acme" / "handbook"
    folder.mkdir(parents=True)
    for number in range(150):
        (folder / f"page-{number:03}.md").write_text(f"# Page {number}\n\nPage {number} says.")
    monkeypatch.setenv("NEARHIT_SOURCES_DIR", str(tmp_path / "sources"))
    async with (
        running(settings, embedder) as reader,
        worker_services(settings, embedder) as services,
    ):
        admin = await gateway.caller("ada", roles=["admin"])
        body = {"kind": "folder", "settings": {"path": "handbook"}}
        path = "/v1/sources/handbook"
        await reader.as_(admin).call("PUT", path, json=body)
        await admin.call("POST", f"{path}/reindex")
        await worker_loop.make_worker(services.worker).drain()
        await fill_the_cache(ana)
        for number in range(0, 150, 2):
            name = folder / f"page-{number:03}.md"
            name.write_text(f"# Page {number}\n\nPage {number} says another thing.")
        (folder / "page-001.md").unlink()
        await admin.call("POST", f"{path}/reindex")

        await dies_at(settings, "documents.advance", times)
        await fill_the_cache(ana)
        await no_answer_is_wrong(settings)
        await run_sql(database_url, LEASES_END)
        await worker_loop.make_worker(services.worker).drain()

    await is_as(
        database_url, {f"handbook/{each.name}": each.read_text() for each in folder.iterdir()}
    )
    await fill_the_cache(ana)
    await no_answer_is_wrong(settings)
