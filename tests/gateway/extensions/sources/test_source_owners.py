"""Who brings documents to a source: callers, Nearhit itself or a vector store, not two of them."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import orjson
import pytest

from gateway.extensions.rabbitmq import event_schemas
from gateway.extensions.rabbitmq.event_handler import EventHandler
from gateway.extensions.rabbitmq.event_version_store import EventVersionStore
from gateway.services import Services
from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from index.documents.write_causes import Reading
from index.errors import SourceReserved
from index.model.document import Document
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, problem
from tests.gateway.support.workers import worker_services

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]

LATER = {"Prefer": "respond-async"}
FOLDER = {"kind": "folder", "settings": {"path": "handbook"}}


@pytest.fixture
def settings(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    folder = tmp_path / "acme" / "handbook"
    folder.mkdir(parents=True)
    (folder / "leave.md").write_text("As the folder has it.\n")
    monkeypatch.setenv("NEARHIT_SOURCES_DIR", str(tmp_path))
    return settings.model_copy(update={"job_retry_delay_s": 0.01})


@pytest.fixture
async def services(settings: Settings, embedder: Embedder) -> AsyncIterator[Services]:
    async with worker_services(settings, embedder) as opened:
        yield opened


async def configure(admin: Caller, source: str) -> httpx2.Response:
    return await admin.call("PUT", f"/v1/sources/{source}", json=FOLDER)


async def put(caller: Caller, source: str, **options: Any) -> httpx2.Response:
    body = {"text": "One.", "source": source}
    return await caller.call("PUT", "/v1/documents/x", json=body, **options)


async def store_of(caller: Caller) -> str:
    answer = await caller.call("POST", "/v1/vector_stores", json={"name": "Mine"})
    assert answer.status_code == 200, answer.text
    store: str = answer.json()["id"]
    return store


async def test_the_sources_of_documents_that_name_none_are_not_read(admin: Caller) -> None:
    for source in ["api", "events", "curation", "managed-faqs"]:
        refused = problem(await configure(admin, source), 409)

        assert refused["errors"][0]["field"] == "source", source


@pytest.mark.sampled("headers0")
@pytest.mark.slow
@pytest.mark.parametrize("headers", [{}, LATER])
async def test_a_source_of_callers_is_not_read_until_its_documents_are_gone(
    admin: Caller, services: Services, headers: dict[str, str]
) -> None:
    await put(admin, "notes", headers=headers)
    refused = problem(await configure(admin, "notes"), 409)
    asked = await admin.call("POST", "/v1/sources/notes/reindex")
    await worker_loop.make_worker(services.worker).drain()
    shown = await admin.call("GET", "/v1/documents/x")
    await admin.call("DELETE", "/v1/documents/x")

    assert refused["errors"][0]["field"] == "source"
    assert asked.status_code in (404, 409)
    assert shown.status_code == 200
    assert (await configure(admin, "notes")).status_code == 200


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_source_that_was_read_from_the_command_line_can_be_read_by_the_server(
    admin: Caller, services: Services
) -> None:
    read = Document("notes/x", "", "One.", "notes", "", "en", (), {}, None, ())
    reading = Reading(await services.stores.documents.next_sequence())
    await services.documents.writer.put("acme", "notes/x", lambda _: read, reading)

    assert (await configure(admin, "notes")).status_code == 200


async def test_a_vector_store_is_not_read(admin: Caller) -> None:
    problem(await configure(admin, await store_of(admin)), 409)


@pytest.mark.parametrize("kind", ["a source that is read", "a vector store"])
class TestNoCallerBringsDocumentsTo:
    @pytest.fixture
    async def reserved(self, admin: Caller, ben: Caller, kind: str) -> str:
        if kind == "a vector store":
            return await store_of(ben)
        assert (await configure(admin, "handbook")).status_code == 200
        return "handbook"

    async def test_one_by_one(self, ana: Caller, reserved: str) -> None:
        for headers in ({}, LATER):
            refused = problem(await put(ana, reserved, headers=headers), 409)
            assert refused["errors"][0]["field"] == "source"

        assert (await ana.call("GET", "/v1/documents/x")).status_code == 404
        assert (await ana.call("GET", "/v1/jobs")).json()["jobs"] == []

    async def test_in_a_batch_whose_other_lines_are_written(
        self, ana: Caller, reserved: str
    ) -> None:
        lines = [{"document_id": name, "text": "One.", "source": name} for name in ("a", "b")]
        lines.insert(1, {"document_id": "x", "text": "One.", "source": reserved})
        content = b"\n".join(map(orjson.dumps, lines))
        answer = await ana.call("POST", "/v1/documents/batch", content=content)

        results = [orjson.loads(line) for line in answer.content.splitlines()]
        assert [result.get("status") for result in results] == [None, 409, None]

    async def test_by_moving_a_document_there(self, ana: Caller, reserved: str) -> None:
        await ana.put("x", "One.")

        problem(await put(ana, reserved), 409)

    async def test_by_an_event(self, reserved: str, services: Services) -> None:
        content = {"text": "One.", "source": reserved}
        event = {"type": "create", "document_id": "x", "version": 1, "document": content}
        hearer = EventHandler(
            services.documents.writer,
            EventVersionStore(services.stores.database),
            "en",
            may_publish=False,
        )

        with pytest.raises(SourceReserved):
            await hearer.handle("acme", event_schemas.parse(orjson.dumps(event), "acme", 10_000))

        assert await services.stores.documents.stored("acme", "x") is None


@pytest.mark.thorough
@pytest.mark.slow
async def test_files_are_not_attached_to_a_source_that_is_read(
    ana: Caller, admin: Caller, services: Services
) -> None:
    settings = {"path": "handbook", "readers": ["tenant"]}
    await admin.call("PUT", "/v1/sources/handbook", json={**FOLDER, "settings": settings})
    await admin.call("POST", "/v1/sources/handbook/reindex")
    await worker_loop.make_worker(services.worker).drain()
    upload = {"file": ("leave.md", b"Leave."), "purpose": (None, "assistants")}
    file = (await ana.call("POST", "/v1/files", files=upload)).json()["id"]

    path = "/v1/vector_stores/handbook/files"
    refused = await ana.call("POST", path, json={"file_id": file})

    assert refused.status_code == 409
    assert await ana.found("leave") == ["handbook/leave.md"]
