"""What a queued write will set, no direct write undoes that does not name it.

Each door that writes documents is one of `DOORS`; the code is searched for further ones.
"""

import ast
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import orjson
import pytest

from gateway.extensions.rabbitmq import event_schemas
from gateway.extensions.rabbitmq.event_handler import EventHandler
from gateway.extensions.rabbitmq.event_version_store import EventVersionStore
from gateway.monitoring.metrics import Metrics
from gateway.services import Services, open_services
from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from index.model.document import Document
from index.model.write_order import ACCESS, ALL_PARTS, CONTENT, Part, Parts
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, Gateway, running

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

PACKAGES = Path(__file__).parents[3]
LATER = {"Prefer": "respond-async"}
QUEUED: dict[str, Any] = {
    "text": "Queued.",
    "metadata": {"of": "the queued write"},
    "chunker": "characters:2000/100",
    "summaries": "extract",
    "owner": "eve",
    "readers": ["user:eve"],
    "active": False,
}
# What such a write leaves alone is tested in test_store_watch.py.
BY_TUPLES = "gateway/extensions/openfga/store_watch.py:_update_document"
# It sets no part: tests/gateway/extensions/provenance.
RATIFYING = "gateway/extensions/provenance/provenance_endpoints.py:post_ratify"
# It writes sessions of conversations alone: tests/gateway/extensions/conversations.
SESSIONS = "gateway/extensions/conversations/conversation_endpoints.py:_content"
# They say all of a document, whatever is stored.
WHOLE = {
    "gateway/extensions/curation/curation_endpoints.py:resolve",
    "gateway/extensions/faqs/faq_endpoints.py:put_faq",
    "gateway/extensions/faqs/faq_transfer.py:_parse_line",
    "gateway/extensions/_sources/sync/source_sync.py:write",
    "gateway/extensions/sources_postgres/row_writer.py:_put",
}


@dataclass(frozen=True, slots=True)
class Stage:
    admin: Caller
    tenant: str
    services: Services
    store: str
    file: str

    @property
    def document_id(self) -> str:
        return f"{self.store}/{self.file}"

    async def send(self, method: str, path: str, body: object, **headers: str) -> None:
        answer = await self.admin.call(method, path, json=body, headers=headers)
        assert answer.is_success, answer.text

    async def put(self, **fields: Any) -> None:
        await self.send("PUT", f"/v1/documents/{self.document_id}", self.document(**fields))

    def document(self, **fields: Any) -> dict[str, Any]:
        return {"text": "Direct.", "source": self.store, **fields}

    async def send_lines(self, **fields: Any) -> None:
        line = orjson.dumps({"document_id": self.document_id, **self.document(**fields)})
        answer = await self.admin.call("POST", "/v1/documents/batch", content=line)
        assert "chunks" in answer.json(), answer.text

    async def patch(self, **fields: Any) -> None:
        await self.send("PATCH", f"/v1/documents/{self.document_id}/access", fields)

    async def attach(self, **fields: Any) -> None:
        body = {"file_id": self.file, **fields}
        await self.send("POST", f"/v1/vector_stores/{self.store}/files", body)

    async def change_attributes(self) -> None:
        path = f"/v1/vector_stores/{self.store}/files/{self.file}"
        await self.send("POST", path, {"attributes": {"of": "the direct write"}})

    async def hear(self, **fields: Any) -> None:
        event = {"document_id": self.document_id, "version": 1, **fields}
        database = self.services.stores.database
        writer = self.services.documents.writer
        handler = EventHandler(writer, EventVersionStore(database), "en", may_publish=False)
        parsed = event_schemas.parse(orjson.dumps(event), self.tenant, 100_000)
        assert await handler.handle(self.tenant, parsed)


Direct: TypeAlias = Callable[[Stage], Awaitable[None]]
_ACCESS = {"owner": "ben", "readers": ["user:ben"]}
_CUT = {"type": "static", "static": {"max_chunk_size_tokens": 300, "chunk_overlap_tokens": 0}}
# By function, the writes that pass through it, each with the parts that it names.
DOORS: dict[str, list[tuple[str, Direct, Parts]]] = {
    "gateway/documents/document_update.py:put_of": [
        ("PUT", lambda stage: stage.put(), CONTENT),
        ("PUT chunker", lambda stage: stage.put(chunker="whole"), CONTENT | {"chunker"}),
        ("PUT summaries", lambda stage: stage.put(summaries="none"), CONTENT | {"summaries"}),
        ("PUT owner", lambda stage: stage.put(owner="ben"), CONTENT | {"owner"}),
        ("PUT active", lambda stage: stage.put(active=True), CONTENT | {"active"}),
        ("batch", lambda stage: stage.send_lines(), CONTENT),
        ("batch readers", lambda stage: stage.send_lines(readers=[]), CONTENT | {"readers"}),
        ("attach", lambda stage: stage.attach(), CONTENT),
        ("attach cut", lambda stage: stage.attach(chunking_strategy=_CUT), CONTENT | {"chunker"}),
    ],
    "gateway/documents/document_endpoints.py:patch_access": [
        ("PATCH readers", lambda stage: stage.patch(readers=[]), frozenset({"readers"})),
        ("PATCH owner", lambda stage: stage.patch(owner="ben"), frozenset({"owner"})),
        ("PATCH active", lambda stage: stage.patch(active=True), frozenset({"active"})),
    ],
    "gateway/extensions/vector_stores/attachments.py:change_attached": [
        ("attributes", lambda stage: stage.change_attributes(), frozenset({"metadata"})),
    ],
    "gateway/extensions/rabbitmq/event_handler.py:_write": [
        (
            "event",
            lambda stage: stage.hear(type="update", document=stage.document()),
            CONTENT,
        ),
        (
            "event active",
            lambda stage: stage.hear(type="update", document=stage.document(active=True)),
            CONTENT | {"active"},
        ),
        (
            "event of all",
            lambda stage: stage.hear(
                type="update", document=stage.document(chunker="whole"), access=_ACCESS
            ),
            CONTENT | ACCESS | {"chunker"},
        ),
        ("event of access", lambda stage: stage.hear(type="access", access=_ACCESS), ACCESS),
    ],
}


@pytest.mark.parametrize("is_new", [False, True])
async def test_what_a_queued_write_sets_stays_unless_a_later_one_names_it(
    settings: Settings,
    embedder: Embedder,
    is_new: bool,  # noqa: FBT001  a parameter
) -> None:
    async with (
        running(settings, embedder) as gateway,
        open_services(settings, Metrics(), embedder) as services,
    ):
        for name, direct, parts in (each for doors in DOORS.values() for each in doors):
            if is_new and "content" not in parts:
                continue
            stage = await _staged(gateway, services)
            path = f"/v1/documents/{stage.document_id}"
            if is_new:
                remove = services.documents.writer.remove
                await remove(stage.tenant, stage.document_id, lambda stored: stored)
            await stage.send("PUT", path, {**QUEUED, "source": stage.store}, **LATER)

            await direct(stage)
            await worker_loop.make_worker(services.worker).drain()

            stored = await services.stores.documents.stored(stage.tenant, stage.document_id)
            assert stored is not None
            kept = {part for part in ALL_PARTS if _value(stored.document, part) == _queued(part)}
            assert kept == ALL_PARTS - parts, name


async def _staged(gateway: Gateway, services: Services) -> Stage:
    """A document that each door can write."""
    tenant = await gateway.new_tenant()
    admin = await gateway.caller("ada", tenant=tenant, roles=["admin"])
    made = await admin.call("POST", "/v1/vector_stores", json={"name": "Handbook"})
    form = {"files": {"file": ("leave.md", b"Attached.")}, "data": {"purpose": "assistants"}}
    file = await admin.call("POST", "/v1/files", **form)
    stage = Stage(admin, tenant, services, made.json()["id"], file.json()["id"])
    await stage.attach(attributes={"of": "the first write"})
    return stage


def _value(document: Document, part: Part) -> object:
    match part:
        case "content":
            return document.text
        case "active":
            return document.is_active
        case "readers":
            return list(document.readers)
        case _:
            return getattr(document, part)


def _queued(part: Part) -> object:
    return QUEUED["text" if part == "content" else part]


def test_each_door_that_writes_documents_is_known() -> None:
    assert {*_doors()} == {*DOORS, *WHOLE, BY_TUPLES, RATIFYING, SESSIONS}


def test_each_door_that_writes_content_says_who_writes_it() -> None:
    calls = [
        node
        for path in (PACKAGES / "gateway").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and _is_write(node)
    ]

    contents = [call for call in calls if not ast.unparse(call.func).endswith("put_access")]
    assert len(contents) >= len(WHOLE)
    for call in contents:
        names = {keyword.arg for keyword in call.keywords}
        assert "author" in names or "author_of" in ast.unparse(call), ast.unparse(call)


def _doors() -> Iterator[str]:
    """Functions that make a `Put`, or give a writer a function of the stored document."""
    for package in ("gateway", "ingest", "index", "cache", "common"):
        for path in (PACKAGES / package).rglob("*.py"):
            yield from (
                f"{path.relative_to(PACKAGES)}:{name}"
                for name in _writing(ast.parse(path.read_text()))
                if path.name != "writer.py"
            )


def _writing(node: ast.AST, function: str = "") -> Iterator[str]:
    """The innermost functions below the node that hold a write."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        function = node.name
    if _is_write(node):
        yield function
    for child in ast.iter_child_nodes(node):
        yield from _writing(child, function)


def _is_write(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="Put")):
            return True
        case ast.Call(func=ast.Attribute(value=receiver, attr="put" | "put_access")):
            return ast.unparse(receiver).endswith("writer")
    return False
