"""Whatever a call shows of documents, it shows nothing that was taken from its caller meanwhile.

PostgreSQL's reply with the document is held on its way to one gateway; then a right ends through
another. Every route that reads is listed here: a new one fails the first test until somebody has
said what it shows.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from gateway.extensions.subscriptions import subscription_watcher
from gateway.http import revalidation
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.servers.database_proxy import DatabaseProxy, database_proxy
from tests.gateway.support.event_listener import events_of, subscribe
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.support.routes import ROUTES

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

WAIT_S_MAX = 30.0
WORD = "zanzibar"  # in each field of the document, and in no request
QUERY = {"query": "annual leave"}
FACETS = {**QUERY, "top_k": 1, "facets": ["metadata.place", "tags"]}
STORE = "/v1/vector_stores/{source}"
FILE = f"{STORE}/files/{{file}}"


def tool(name: str, **arguments: Any) -> tuple[str, str, Any]:
    params = {"name": name, "arguments": arguments}
    return (
        "POST /mcp",
        "/mcp",
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
    )


# By name: the route, the path and the body of a call that shows the document.
CALLS: Mapping[str, tuple[str, str, Any]] = {
    "search": ("POST /v1/search", "/v1/search", QUERY),
    "facets": ("POST /v1/search", "/v1/search", FACETS),
    "batch": ("POST /v1/search/batch", "/v1/search/batch", {"searches": [FACETS, QUERY]}),
    "as": ("POST /v1/search/as", "/v1/search/as", {"subject": "ana", "search": QUERY}),
    "facets as": ("POST /v1/search/as", "/v1/search/as", {"subject": "ana", "search": FACETS}),
    "plan": (
        "POST /v1/search/plan",
        "/v1/search/plan",
        {"steps": [{"name": "a", **QUERY, "facets": ["tags"]}]},
    ),
    "why not": (
        "POST /v1/search/why-not",
        "/v1/search/why-not",
        {**QUERY, "filter": {"sources": ["none"]}, "document_id": "secret"},
    ),
    "questions": ("POST /v1/evaluation/questions", "/v1/evaluation/questions", {"number": 20}),
    "document": ("GET /v1/documents/{document_id:path}", "/v1/documents/secret", None),
    "chunks": ("GET /v1/documents/{document_id:path}", "/v1/documents/secret?chunks=true", None),
    "documents": ("GET /v1/documents", "/v1/documents", None),
    "store's search": (
        "POST /v1/vector_stores/{vector_store_id:path}/search",
        "/v1/vector_stores/hr/search",
        QUERY,
    ),
    "files": ("GET /v1/vector_stores/{vector_store_id}/files", f"{STORE}/files", None),
    "file": ("GET /v1/vector_stores/{vector_store_id}/files/{file_id:path}", FILE, None),
    "document as file": (
        "GET /v1/vector_stores/{vector_store_id}/files/{file_id:path}",
        "/v1/vector_stores/hr/files/secret",
        None,
    ),
    "content": (
        "GET /v1/vector_stores/{vector_store_id}/files/{file_id:path}/content",
        f"{FILE}/content",
        None,
    ),
    "files of a batch": (
        "GET /v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/files",
        f"{STORE}/file_batches/{{batch}}/files",
        None,
    ),
    "tool search": tool("search", **FACETS),
    "tool fetch": tool("fetch", id="secret"),
    "tool plan": tool("search_plan", steps=[{"name": "a", **QUERY}]),
}
SHOW_NO_DOCUMENT: Mapping[str, tuple[str, ...]] = {
    "which of the caller's own passages still hold": (
        "POST /v1/context/check",
        "POST /v1/context/events",
    ),
    "measures of answers, and the names of the first hits": ("POST /v1/evaluation/answers",),
    "what the caller has sent or made": (
        "GET /v1/caller",
        "POST /v1/compress",
        "POST /v1/evaluation/comparison",
        "POST /v1/feedback",
        "POST /v1/tokens",
        "GET /v1/tokens",
        "DELETE /v1/tokens/{key_id}",
        "POST /v1/subscriptions",
        "GET /v1/subscriptions",
        "GET /v1/subscriptions/{subscription_id}",
        "POST /v1/subscriptions/{subscription_id}/webhook/rotate",
        "DELETE /v1/subscriptions/{subscription_id}",
        "GET /v1/files",
        "GET /v1/files/{file_id}",
        "GET /v1/files/{file_id}/content",
    ),
    "events, each made when it can be sent": ("GET /v1/subscriptions/{subscription_id}/events",),
    "names and numbers": (
        "GET /v1/models",
        "GET /v1/models/{model}",
        "GET /v1/strategies",
        "GET /v1/strategies/{name}",
        "GET /v1/vector_stores",
        "GET /v1/vector_stores/{vector_store_id}",
        "GET /v1/vector_stores/{vector_store_id}/file_batches/{batch_id}",
    ),
}
ENDINGS = ("readers", "active", "document")


def test_it_is_said_of_every_route_that_reads_what_it_shows_of_documents() -> None:
    read = {
        f"{route.method} {route.path}"
        for route in ROUTES
        if route.is_read and route.needs == "reader"
    }
    listed = {route for route, _, _ in CALLS.values()}
    listed.update(*SHOW_NO_DOCUMENT.values())

    assert listed == read | {"POST /v1/search/as"}


@dataclass(frozen=True)
class Stage:
    """Ana may read the documents `secret` and that of the file, and an admin can change that.

    names: what paths name.
    """

    admin: Caller
    ana: Caller
    names: Mapping[str, str]

    @classmethod
    async def of(cls, gateway: Gateway) -> "Stage":
        admin = await gateway.caller("ada", roles=["admin"])
        ana = await gateway.caller("ana")
        await admin.put("open", "Annual leave: 25 days of annual leave.", readers=["tenant"])
        files = {"file": ("b.txt", f"More {WORD}.".encode()), "purpose": (None, "assistants")}
        file_id = (await admin.call("POST", "/v1/files", files=files)).json()["id"]
        source = (await admin.call("POST", "/v1/vector_stores", json={"name": "s"})).json()["id"]
        body = {"files": [{"file_id": file_id, "attributes": {"place": WORD}}]}
        path = f"/v1/vector_stores/{source}/file_batches"
        batch = (await admin.call("POST", path, json=body)).json()["id"]
        await admin.put(
            "secret",
            f"# Leave\n\nAnnual leave is spent in {WORD} by all.",
            readers=["user:ana"],
            source="hr",
            title=f"To {WORD}",
            tags=[WORD],
            metadata={"place": WORD},
        )
        stage = cls(admin, ana, {"source": source, "file": file_id, "batch": batch})
        for document_id in await stage.documents():
            await admin.share(document_id, "user:ana")
        return stage

    async def documents(self) -> list[str]:
        """All but `open`."""
        answer = await self.admin.call("GET", "/v1/documents")
        document_ids = [each["document_id"] for each in answer.json()["documents"]]
        return [document_id for document_id in document_ids if document_id != "open"]

    async def logged(self, action: str, subject: str) -> list[Any]:
        """The documents of each row of the audit log."""
        rows = (await self.admin.call("GET", "/v1/audit/log")).json()["rows"]
        return [
            row["details"]["documents"]
            for row in rows
            if (row["action"], row["subject"]) == (action, subject)
        ]

    async def stream_of(self, ana: Caller, stream: str) -> AsyncGenerator[Mapping[str, str]]:
        """The events of a stream whose first one shows `secret`."""
        if stream == "subscription":
            path = f"/v1/subscriptions/{await subscribe(ana, QUERY['query'])}/events"
            return _events(ana, "GET", path, None)
        found = await ana.search(QUERY["query"])
        hits = [hit for hit in found.json()["hits"] if hit["document_id"] == "secret"]
        revision = found.headers["nearhit-revision"]
        await self.admin.put(
            "secret", f"Annual leave is spent in {WORD}.", readers=["user:ana"], title=f"To {WORD}"
        )
        passages = [
            {"chunk_id": hits[0]["chunk_id"], "document_id": "secret", "revision": revision}
        ]
        return _events(ana, "POST", "/v1/context/events", {"passages": passages})

    async def end(self, ending: str) -> None:
        """ending: the readers, the document, its being active; or the path of a key."""
        if ending.startswith("/"):
            assert (await self.admin.call("DELETE", ending)).is_success
            return
        for document_id in await self.documents():
            path = f"/v1/documents/{document_id}"
            match ending:
                case "readers":
                    body: dict[str, Any] = {"readers": ["user:ben"]}
                    done = await self.admin.call("PATCH", f"{path}/access", json=body)
                case "active":
                    done = await self.admin.call("PATCH", f"{path}/access", json={"active": False})
                case _:
                    done = await self.admin.call("DELETE", path)
            assert done.is_success, done.text


async def _events(
    caller: Caller, method: str, path: str, body: Any
) -> AsyncGenerator[Mapping[str, str]]:
    headers = {"Authorization": f"Bearer {caller.key}"}
    async with caller.client.stream(
        method, path, headers=headers, json=body, timeout=None
    ) as answer:
        assert answer.status_code == 200
        async for fields in events_of(answer):
            yield fields


@pytest.fixture(autouse=True)
def no_answer_is_young(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revalidation, "CONFIRMED_S_MAX", 0.0)
    monkeypatch.setattr(subscription_watcher, "EVENT_AGE_S_MAX", 0.0)


@pytest.fixture(scope="module")
async def wire(shared_settings: Settings) -> AsyncIterator[DatabaseProxy]:
    assert shared_settings.database_url is not None
    async with database_proxy(shared_settings.database_url.get_secret_value()) as wire:
        yield wire


@pytest.fixture(scope="module")
async def far(
    shared_settings: Settings, embedder: Embedder, wire: DatabaseProxy
) -> AsyncIterator[Gateway]:
    """A gateway behind the wire, which holds nothing in memory."""
    far = {"database_url": SecretStr(wire.url), "shard_bytes_max": 0}
    async with running(shared_settings.model_copy(update=far), embedder) as gateway:
        yield gateway


@asynccontextmanager
async def held_until(wire: DatabaseProxy, stage: Stage, ending: str) -> AsyncIterator[None]:
    """What the block asks for waits for PostgreSQL's reply with the word until all is ended."""
    held = wire.held
    wire.hold(WORD.encode())
    try:
        yield
        async with asyncio.timeout(WAIT_S_MAX):
            while wire.held == held:
                await asyncio.sleep(0.005)
        await stage.end(ending)
    finally:
        wire.mend()


async def late_answer(
    wire: DatabaseProxy, far: Gateway, stage: Stage, call: str, ending: str
) -> httpx2.Response:
    route, path, body = CALLS[call]
    caller = far.as_(stage.admin if route == "POST /v1/search/as" else stage.ana)
    await caller.call("GET", "/v1/caller")
    method = route.partition(" ")[0]
    async with held_until(wire, stage, ending):
        asking = asyncio.create_task(caller.call(method, path.format(**stage.names), json=body))
    return await asking


@pytest.mark.sampled("facets-readers", "as-readers", "file-document", "files-active")
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("call", CALLS)
async def test_what_was_taken_meanwhile_is_not_shown(
    gateway: Gateway, far: Gateway, wire: DatabaseProxy, call: str, ending: str
) -> None:
    answer = await late_answer(wire, far, await Stage.of(gateway), call, ending)

    assert WORD not in answer.text
    assert answer.status_code in (200, 404), answer.text


@pytest.mark.parametrize("call", ["search", "batch", "document", "tool fetch", "as"])
async def test_what_was_not_sent_counts_as_shown_to_nobody(
    gateway: Gateway, far: Gateway, wire: DatabaseProxy, call: str
) -> None:
    stage = await Stage.of(gateway)

    await late_answer(wire, far, stage, call, "active")

    await far.as_(stage.ana).call("GET", "/v1/documents/open?chunks=true")
    while "open" not in (read := str(await stage.logged("documents.read", "ana"))):
        await asyncio.sleep(0.05)
    assert "secret" not in read
    assert await stage.logged("search.as", "ada") == ([["open"]] if call == "as" else [])


async def test_an_export_ends_with_the_key_of_its_reader(
    gateway: Gateway, far: Gateway, wire: DatabaseProxy
) -> None:
    stage = await Stage.of(gateway)
    faq = {"question": f"Who is in {WORD}?", "answer": "All."}
    assert (await stage.admin.call("PUT", "/v1/faqs/who", json=faq)).is_success
    body = {"tenant": gateway.tenant_name, "subject": "eve", "roles": ["admin"]}
    made = (await gateway.operator.call("POST", "/v1/keys", json=body)).json()
    eve = Caller(far.client, made["key"])

    async def export() -> str:
        with suppress(httpx2.HTTPError):  # it is cut off
            return (await eve.call("GET", "/v1/faq-export")).text
        return ""

    async with held_until(wire, stage, f"/v1/keys/{made['id']}"):
        exporting = asyncio.create_task(export())

    assert WORD not in await exporting


STREAMS = ("context", "subscription")


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("stream", STREAMS)
async def test_no_event_shows_what_was_taken_while_it_was_made(
    gateway: Gateway, far: Gateway, wire: DatabaseProxy, stream: str, ending: str
) -> None:
    stage = await Stage.of(gateway)
    ana = far.as_(stage.ana)
    opened = await stage.stream_of(ana, stream)
    async with held_until(wire, stage, ending):
        asking = asyncio.create_task(anext(opened))
    event = await asking
    await opened.aclose()

    assert event["event"] in ("states", "answer")
    assert WORD not in event["data"]
    assert '"current"' not in event["data"]
    assert '"edited"' not in event["data"]
