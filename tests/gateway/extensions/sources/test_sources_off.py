"""A gateway without the extension: nothing of sources answers, and nothing of theirs is lost."""

import asyncio
from pathlib import Path

import pytest

from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, problem, running
from tests.gateway.support.workers import worker_services

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]


@pytest.fixture
def settings(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    folder = tmp_path / "acme" / "handbook"
    folder.mkdir(parents=True)
    (folder / "leave.md").write_text("Everybody gets 25 days of annual leave.\n")
    monkeypatch.setenv("NEARHIT_SOURCES_DIR", str(tmp_path))
    return settings


@pytest.fixture
def off(settings: Settings) -> Settings:
    return settings.model_copy(update={"extensions_off": "sources"})


@pytest.mark.slow
async def test_a_reading_that_was_asked_for_waits_until_the_extension_is_on(
    settings: Settings, off: Settings, embedder: Embedder, admin: Caller, ana: Caller
) -> None:
    body = {"kind": "folder", "settings": {"path": "handbook"}}
    await admin.call("PUT", "/v1/sources/handbook", json=body)
    asked = await admin.call("POST", "/v1/sources/handbook/reindex")
    async with running(off, embedder) as gateway, worker_services(off, embedder) as services:
        listed = await gateway.as_(admin).call("GET", "/v1/sources")
        metrics = (await gateway.client.get("/metrics")).text
        stop = asyncio.Event()
        at_work = asyncio.create_task(worker_loop.make_worker(services.worker).run(stop))
        headers = {"Prefer": "respond-async"}
        own = {"text": "Annual leave, by hand."}
        later = await ana.call("PUT", "/v1/documents/own", json=own, headers=headers)
        while (await ana.call("GET", later.headers["location"])).json()["state"] != "done":
            await asyncio.sleep(0.02)
        waiting = (await admin.call("GET", asked.headers["location"])).json()
        stop.set()
        await at_work
    async with worker_services(settings, embedder) as services:
        await worker_loop.make_worker(services.worker).drain()

    problem(listed, 404)
    assert "sources_needing_attention" not in metrics
    assert waiting["state"] == "waiting"
    assert sorted(await ana.found("annual leave")) == ["handbook/leave.md", "own"]
