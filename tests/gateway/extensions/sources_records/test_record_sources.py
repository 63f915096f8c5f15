"""Sources of files of many documents over HTTP: each kind, and none if the extension is off."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, problem, running
from tests.gateway.support.workers import worker_services

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]

ANSWER = "25 days of annual leave."


def _write_parquet(path: Path) -> None:
    parquet.write_table(pa.table({"id": ["1"], "text": [ANSWER]}), path)


FILES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "csv": ("leave.csv", lambda path: path.write_text(f"id,text\n1,{ANSWER}\n")),
    "parquet": ("leave.parquet", _write_parquet),
    "faqs": (
        "leave.json",
        lambda path: path.write_text(json.dumps([{"id": 1, "question": "?", "answer": ANSWER}])),
    ),
    "conversations": (
        "leave.jsonl",
        lambda path: path.write_text(json.dumps({"id": 1, "messages": [{"text": ANSWER}]})),
    ),
}


@pytest.fixture
def settings(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    (tmp_path / "acme").mkdir()
    monkeypatch.setenv("NEARHIT_SOURCES_DIR", str(tmp_path))
    return settings.model_copy(update={"job_attempts_max": 1})


async def read(settings: Settings, embedder: Embedder, admin: Caller, name: str) -> dict[str, Any]:
    """The job of a reading by a worker of these settings, done."""
    asked = await admin.call("POST", f"/v1/sources/{name}/reindex")
    async with worker_services(settings, embedder) as services:
        await worker_loop.make_worker(services.worker).drain()
    job: dict[str, Any] = (await admin.call("GET", asked.headers["location"])).json()
    return job


@pytest.mark.slow
@pytest.mark.sampled("csv")
@pytest.mark.parametrize("kind", FILES)
async def test_a_worker_reads_a_file_by_its_kind(
    settings: Settings, embedder: Embedder, tmp_path: Path, admin: Caller, ana: Caller, kind: str
) -> None:
    file, write = FILES[kind]
    write(tmp_path / "acme" / file)

    body = {"kind": kind, "settings": {"path": file}}
    put = await admin.call("PUT", "/v1/sources/x", json=body)
    job = await read(settings, embedder, admin, "x")

    assert put.json()["kind"] == kind
    assert job["result"]["documents"] == 1
    assert await ana.found("annual leave") == ["x/1"]


@pytest.mark.slow
async def test_a_kind_whose_extension_is_off_is_refused_as_an_unknown_one(
    settings: Settings, embedder: Embedder, tmp_path: Path, admin: Caller
) -> None:
    (tmp_path / "acme" / "leave.csv").write_text(f"id,text\n1,{ANSWER}\n")
    body = {"kind": "csv", "settings": {"path": "leave.csv"}}
    await admin.call("PUT", "/v1/sources/x", json=body)
    off = settings.model_copy(update={"extensions_off": "sources_records"})

    async with running(off, embedder) as gateway:
        here = gateway.as_(admin)
        refused, unknown = [
            problem(await here.call("PUT", "/v1/sources/y", json={**body, "kind": kind}), 422)
            for kind in ("csv", "s3")
        ]
        folder = await here.call("PUT", "/v1/sources/z", json={**body, "kind": "folder"})
        job = await read(off, embedder, here, "x")

    assert refused["errors"] == unknown["errors"]
    kinds = "must be one of folder, git, postgres, web"
    assert refused["errors"][0] == {"field": "kind", "detail": kinds}
    assert folder.status_code == 200
    assert job["error"] == "Sources of kind csv are of an extension that is off."
