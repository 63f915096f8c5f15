"""The example extensions, each as somebody would install it."""

import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path

import pytest

from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from index.search.query_embedder import Embedder
from tests.gateway.extensions.test_extensions import (
    EXAMPLE,
    example,
    forgotten,
    install,
    load,
    site,
)
from tests.gateway.support.commands import refused
from tests.gateway.support.gateways import running
from tests.gateway.support.workers import worker_services

__all__ = ["forgotten", "site"]

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]

ROWS = [
    (1, "Leave", "Everybody gets 25 days of annual leave a year."),
    (2, "Travel", "Book trains with the travel desk."),
    (3, "Nothing", None),
]


@pytest.fixture(params=["phrase"])
def installed(site: Path, request: pytest.FixtureRequest) -> None:
    """The example of this name."""
    module = f"nearhit_{request.param}"
    install(site, request.param, module, example(module))
    load("")


def test_each_example_is_an_entry_point_of_the_project() -> None:
    points = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]["entry-points"]

    modules = {point.partition(":")[0] for point in points["nearhit.extensions"].values()}
    assert modules == {path.stem for path in EXAMPLE.glob("*.py")}


@pytest.mark.usefixtures("installed")
async def test_a_reranker_of_somebody_else_orders_hits_and_is_named(
    settings: Settings, embedder: Embedder
) -> None:
    own = settings.model_copy(update={"reranker": "phrase"})

    async with running(own, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        await ana.put("words", "Days of leave: leave is annual, and days of annual pay are days.")
        await ana.put(
            "phrase", "Whoever asks gets some days of annual leave, and no others at all."
        )
        answer = await ana.search("days of annual leave", rerank=True)
        cached = await ana.search("days of annual leave", rerank=True)

    hits = [(hit["document_id"], hit["rerank_score"]) for hit in answer.json()["hits"]]
    assert hits == [("phrase", 1.0), ("words", 0.0)]
    assert answer.headers["nearhit-rerank"] == "phrase"
    assert cached.headers["cache-status"] == "nearhit; hit; detail=memory"
    assert cached.content == answer.content


async def test_a_reranker_that_no_extension_brings_is_refused_before_anything_starts() -> None:
    line = await refused({"NEARHIT_RERANKER": "phrase"}, "config", "check")

    assert "there is no reranker 'phrase': choose one of heuristic, service:URL, " in line


@pytest.mark.parametrize(
    ("reranker", "complaint"),
    [
        ("service", "no reranker 'service'"),
        ("service:nowhere", "needs the URL"),
        ("model", "needs NEARHIT_CHAT_MODEL"),
    ],
)
async def test_a_reranker_that_lacks_what_it_needs_is_refused(
    reranker: str, complaint: str
) -> None:
    assert complaint in await refused({"NEARHIT_RERANKER": reranker}, "config", "check")


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("installed", ["sqlite"], indirect=True)
async def test_a_source_of_somebody_else_is_read_and_what_it_refuses_is_told(
    settings: Settings, embedder: Embedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "notes.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE documents (id INTEGER, title TEXT, text TEXT)")
        connection.executemany("INSERT INTO documents VALUES (?, ?, ?)", ROWS)
    monkeypatch.setenv("NEARHIT_SQLITE_FILE", str(file))

    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        ada = await gateway.caller("ada", roles=["admin", "reader"])
        made = await ada.call("PUT", "/v1/sources/notes", json={"kind": "sqlite", "settings": {}})
        asked = await ada.call("POST", "/v1/sources/notes/reindex")
        async with worker_services(settings, embedder) as services:
            await worker_loop.make_worker(services.worker).drain()
        found = await ada.found("annual leave")
        job = (await ada.call("GET", asked.headers["location"])).json()

    assert (made.status_code, asked.status_code) == (200, 202)
    assert found[0] == "notes/1"
    assert job["result"]["embedded"] == 2
    assert job["result"]["first_rejected"] == ["row 3: text: Input should be a valid string"]
