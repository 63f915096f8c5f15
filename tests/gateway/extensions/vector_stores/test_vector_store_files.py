"""Files of vector stores, by OpenAI's own client: how they are attached, listed and refused."""

import asyncio
import threading
from collections.abc import Iterator

import asyncpg
import openai
import pytest
from openai import AsyncOpenAI

from gateway.extensions.vector_stores.stored.vector_store_store import (
    AttachRequest,
    VectorStoreStore,
)
from gateway.monitoring.metrics import Metrics
from gateway.services import open_services
from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from index.model import document, form
from index.search.query_embedder import Embedder
from tests.conftest import run_sql
from tests.gateway.extensions.vector_stores.openai_client import client_of
from tests.gateway.extensions.vector_stores.test_vector_store_rights import done
from tests.gateway.extensions.vector_stores.test_vector_stores import (
    LEAVE,
    TRAVEL,
    attached,
    found,
)
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.support.unreliable_embedder import MoodyEmbedder
from tests.gateway.support.workers import worker_services

pytestmark = pytest.mark.anyio

# As many failed writes as a tenant may have.
FULL_QUEUE = """
INSERT INTO jobs (job_id, tenant, kind, target, state, attempts_max, ended_at)
SELECT 'job_' || number, 'acme', 'document.write', '', 'failed', 1, now()
FROM generate_series(1, 10000) AS number
"""
STATIC = {"type": "static", "static": {"max_chunk_size_tokens": 200, "chunk_overlap_tokens": 20}}


async def test_files_are_listed_by_how_far_they_are(client: AsyncOpenAI, ana: Caller) -> None:
    store = await client.vector_stores.create(name="Handbook")
    files = [("leave.md", LEAVE), ("bad.bin", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")]
    batch = await client.vector_stores.file_batches.upload_and_poll(store.id, files=files)

    by_status: dict[str, list[int]] = {}
    for status in ("completed", "failed", "in_progress", "cancelled"):
        of_store = await client.vector_stores.files.list(store.id, filter=status)
        of_batch = await client.vector_stores.file_batches.list_files(
            batch.id,
            vector_store_id=store.id,
            filter=status,
        )
        by_status[status] = [len(of_store.data), len(of_batch.data)]
    refused = await ana.call("GET", f"/v1/vector_stores/{store.id}/files?filter=lost")

    none = {"in_progress": [0, 0], "cancelled": [0, 0]}
    assert by_status == {"completed": [1, 1], "failed": [1, 1], **none}
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "filter")


async def test_files_attached_together_have_the_attributes_and_cut_that_were_said_once(
    client: AsyncOpenAI,
) -> None:
    files = [
        (await client.files.create(file=(name, LEAVE), purpose="assistants")).id
        for name in ("one.md", "two.md")
    ]
    store = await client.vector_stores.create(file_ids=[files[0]], chunking_strategy=STATIC)  # type: ignore[arg-type]
    made_with = await client.vector_stores.files.retrieve(files[0], vector_store_id=store.id)
    await client.vector_stores.file_batches.create_and_poll(
        store.id,
        file_ids=files,
        attributes={"team": "people"},
        chunking_strategy=STATIC,  # type: ignore[arg-type]
    )
    together = [file async for file in client.vector_stores.files.list(store.id)]

    for file in (made_with, *together):
        assert file.chunking_strategy is not None
        assert file.chunking_strategy.to_dict() == STATIC
    assert [file.attributes for file in together] == [{"team": "people"}] * 2


async def test_nothing_is_attached_unless_all_files_are_there(client: AsyncOpenAI) -> None:
    store = await client.vector_stores.create(name="Handbook")
    file = await client.files.create(file=("leave.md", LEAVE), purpose="assistants")

    with pytest.raises(openai.NotFoundError):
        await client.vector_stores.file_batches.create(store.id, file_ids=[file.id, "file-none"])

    assert [each async for each in client.vector_stores.files.list(store.id)] == []


async def test_a_document_of_another_source_is_no_file_of_the_store(
    ana: Caller, client: AsyncOpenAI
) -> None:
    store = await client.vector_stores.create(name="Handbook")
    await ana.put("travel", TRAVEL.decode(), source="wiki")

    of_wiki = await client.vector_stores.files.retrieve("travel", vector_store_id="wiki")
    with pytest.raises(openai.NotFoundError):
        await client.vector_stores.files.retrieve("travel", vector_store_id=store.id)
    with pytest.raises(openai.NotFoundError):
        await client.vector_stores.files.delete("travel", vector_store_id=store.id)

    assert of_wiki.status == "completed"
    assert await ana.found("trains") == ["travel"]


async def test_a_byte_order_mark_is_no_part_of_a_text(client: AsyncOpenAI) -> None:
    store = await client.vector_stores.create(name="Handbook")
    file_id = await attached(client, store.id, "leave.txt", b"\xef\xbb\xbf" + LEAVE)

    page = await client.vector_stores.files.content(file_id, vector_store_id=store.id)

    assert [each.text for each in page.data] == [LEAVE.decode()]


@pytest.mark.thorough
@pytest.mark.slow
async def test_while_the_embedder_is_away_files_wait_for_a_worker(
    settings: Settings, embedder: Embedder
) -> None:
    async with running(settings, MoodyEmbedder(embedder, away=True)) as gateway:
        await gateway.tenant("acme")
        async with client_of(await gateway.caller("ana")) as client:
            store = await client.vector_stores.create(name="Handbook")
            file = await client.files.create(file=("leave.md", LEAVE), purpose="assistants")
            queued = await client.vector_stores.files.create(store.id, file_id=file.id)
            async with (
                open_services(settings, Metrics(), embedder) as services,
                worker_loop.run_in_background(services.worker),
            ):
                done = await client.vector_stores.files.poll(
                    file.id, vector_store_id=store.id, poll_interval_ms=50, max_wait_seconds=30
                )

    assert (queued.status, done.status) == ("in_progress", "completed")


async def test_the_text_of_a_file_is_normalised_in_a_thread(
    client: AsyncOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = set()

    def watched(text: str) -> Iterator[str]:
        threads.add(threading.get_ident())
        return iter(form.parts(text))

    store = await client.vector_stores.create(name="Handbook")
    monkeypatch.setattr(document, "parts", watched)
    await attached(client, store.id, "leave.md", LEAVE * 1_000)

    assert threads
    assert threading.get_ident() not in threads


async def test_nothing_is_left_of_a_file_whose_attachment_was_refused(
    gateway: Gateway, client: AsyncOpenAI, ana: Caller
) -> None:
    publisher = await gateway.caller("ana", roles=["writer", "publisher"])
    body = {"name": "Notices", "readers": ["public"]}
    store = (await publisher.call("POST", "/v1/vector_stores", json=body)).json()["id"]
    file = await client.files.create(file=("leave.md", LEAVE), purpose="assistants")

    with pytest.raises(openai.PermissionDeniedError):
        await client.vector_stores.files.create(store, file_id=file.id)

    document = {"text": "Hello.", "source": store}
    written = await ana.call("PUT", f"/v1/documents/{store}/{file.id}", json=document)
    assert written.status_code == 409, "it is no file of the store"


@pytest.mark.isolated
@pytest.mark.slow
async def test_a_request_that_died_while_it_attached_a_file_ends_by_itself(
    settings: Settings, embedder: Embedder, database_url: str
) -> None:

    async def requests() -> dict[str, int]:
        """Of each file that is attached."""
        connection = await asyncpg.connect(database_url)
        statement = "SELECT file_id, cardinality(attaching) FROM vector_store_files"
        try:
            return dict(map(tuple, await connection.fetch(statement)))
        finally:
            await connection.close()

    async with (
        running(settings, embedder) as gateway,
        worker_services(settings, embedder) as services,
    ):
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        async with client_of(ana) as client:
            lost = await client.files.create(file=("leave.md", LEAVE), purpose="assistants")
            kept = await client.files.create(file=("travel.md", TRAVEL), purpose="assistants")
            store = await client.vector_stores.create(name="Handbook")
            await client.vector_stores.files.create(store.id, file_id=kept.id)
            stores = VectorStoreStore(services.stores.database)
            for file in (lost, kept):
                request = AttachRequest("ana", None, None)
                document_id = f"{store.id}/{file.id}"
                await stores.attach("acme", store.id, file.id, document_id, request)

            listed = [each.id async for each in client.vector_stores.files.list(store.id)]
            await stores.end_lost_requests()
            under_way = await requests()
            await stores.end_lost_requests(0.0)
            left = await requests()
            body = {"text": "Hello.", "source": store.id}
            written = await ana.call("PUT", f"/v1/documents/{store.id}/{lost.id}", json=body)
            again = await client.vector_stores.files.create(store.id, file_id=lost.id)

    assert listed == [kept.id]  # nobody sees the other one
    assert under_way == {lost.id: 1, kept.id: 1}
    assert left == {kept.id: 0}
    assert written.status_code == 409, "it is no file of the store"
    assert again.status == "completed"


@pytest.mark.slow
async def test_a_refused_attachment_takes_nothing_from_one_that_is_under_way(
    settings: Settings, embedder: Embedder
) -> None:
    """Two keys of one subject attach one file, and only one of them may publish."""
    moody = MoodyEmbedder(embedder)
    async with running(settings, moody) as gateway:
        await gateway.tenant("acme")
        publisher = await gateway.caller("ana", roles=["writer", "publisher"])
        body = {"name": "Notices", "readers": ["public"]}
        store = (await publisher.call("POST", "/v1/vector_stores", json=body)).json()["id"]
        path = f"/v1/vector_stores/{store}/files"
        async with client_of(await gateway.caller("ana")) as writer:
            file = await writer.files.create(file=("leave.md", LEAVE), purpose="assistants")
            moody.hold()
            attaching = asyncio.create_task(publisher.call("POST", path, json={"file_id": file.id}))
            await moody.asked.wait()
            with pytest.raises(openai.PermissionDeniedError):
                await writer.vector_stores.files.create(store, file_id=file.id)
            moody.go_on()
            answer = await attaching
            listed = [each.id async for each in writer.vector_stores.files.list(store)]

    assert (answer.status_code, answer.json()["status"]) == (200, "completed")
    assert listed == [file.id]


@pytest.mark.slow
async def test_a_refused_attachment_leaves_the_pending_one_as_it_was(
    settings: Settings, embedder: Embedder, database_url: str
) -> None:
    settings = settings.model_copy(update={"document_inline_bytes_max": 1})
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        async with client_of(await gateway.caller("ana")) as client:
            file = await client.files.create(file=("leave.md", LEAVE), purpose="assistants")
            store = await client.vector_stores.create(name="Handbook")
            batch = await client.vector_stores.file_batches.create(store.id, file_ids=[file.id])
            await run_sql(database_url, FULL_QUEUE)

            with pytest.raises(openai.InternalServerError, match="queue is full"):
                await client.vector_stores.files.create(store.id, file_id=file.id)

            pending = await client.vector_stores.file_batches.list_files(
                batch.id, vector_store_id=store.id
            )
    assert [(each.id, each.status) for each in pending.data] == [(file.id, "in_progress")]


@pytest.mark.slow
async def test_what_would_be_refused_later_is_refused_at_once(
    settings: Settings, embedder: Embedder
) -> None:
    """The document's name is taken, by somebody who lets others read it and no more."""
    settings = settings.model_copy(update={"document_inline_bytes_max": 1})
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        ana, ben = [await gateway.caller(who) for who in ("ana", "ben")]
        async with client_of(ana) as client:
            store = await client.vector_stores.create(name="Handbook")
            file = await client.files.create(file=("leave.md", LEAVE), purpose="assistants")
            fields = {"readers": ["tenant"]}
            queued = await ben.call(
                "PUT",
                f"/v1/documents/{store.id}/{file.id}",
                json={"text": TRAVEL.decode(), **fields},
            )
            assert queued.status_code == 202
            async with (
                open_services(settings, Metrics(), embedder) as services,
                worker_loop.run_in_background(services.worker),
            ):
                await done(ben, queued.json()["status_url"])
            with pytest.raises(openai.PermissionDeniedError):
                await client.vector_stores.files.create(store.id, file_id=file.id)


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_page_is_as_long_as_a_page_may_be(ana: Caller, client: AsyncOpenAI) -> None:
    for number in range(101):
        await client.files.create(file=(f"{number}.md", b"a"), purpose="assistants")

    page = (await ana.call("GET", "/v1/files?limit=9999")).json()
    last = (await ana.call("GET", f"/v1/files?after={page['last_id']}")).json()

    assert (len(page["data"]), page["has_more"]) == (100, True)
    assert (len(last["data"]), last["has_more"]) == (1, False)


@pytest.mark.slow
async def test_a_file_may_be_in_several_stores_and_leaves_all_when_it_is_deleted(
    client: AsyncOpenAI,
) -> None:
    one, other = [await client.vector_stores.create(name=name) for name in ("one", "other")]
    file = await client.files.create(file=("leave.md", LEAVE), purpose="assistants")
    for store in (one, other):
        await client.vector_stores.files.create_and_poll(file.id, vector_store_id=store.id)
    content = await client.files.content(file.id)
    texts = [
        each.text
        async for each in await client.vector_stores.files.content(file.id, vector_store_id=one.id)
    ]
    both = [await found(client, store.id) for store in (one, other)]

    await client.vector_stores.files.delete(file.id, vector_store_id=one.id)
    after_detaching = [await found(client, store.id) for store in (one, other)]
    await client.files.delete(file.id)

    assert content.content == LEAVE
    assert texts == [LEAVE.decode()]
    assert both == [["leave.md"]] * 2
    assert after_detaching == [[], ["leave.md"]]
    assert await found(client, other.id) == []
    with pytest.raises(openai.NotFoundError):
        await client.files.retrieve(file.id)
    assert (await client.vector_stores.retrieve(other.id)).file_counts.total == 0


async def test_lists_come_in_pages_the_newest_first(client: AsyncOpenAI) -> None:
    for number in range(5):
        await client.vector_stores.create(name=f"store {number}")
        await client.files.create(file=(f"{number}.md", LEAVE), purpose="user_data")

    stores = [store.name async for store in client.vector_stores.list(limit=2)]
    oldest = [store.name async for store in client.vector_stores.list(limit=3, order="asc")]
    files = [file.filename async for file in client.files.list(limit=2)]
    none = [file async for file in client.files.list(purpose="batch")]

    assert stores == [f"store {number}" for number in (4, 3, 2, 1, 0)]
    assert oldest == stores[::-1]
    assert files == [f"{number}.md" for number in (4, 3, 2, 1, 0)]
    assert none == []


async def test_a_batch_attaches_many_files(client: AsyncOpenAI) -> None:
    store = await client.vector_stores.create(name="Handbook")
    files = [
        ("leave.md", LEAVE),
        ("travel.md", TRAVEL),
        ("bad.bin", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
    ]

    batch = await client.vector_stores.file_batches.upload_and_poll(store.id, files=files)
    listed = [
        file.status
        async for file in client.vector_stores.file_batches.list_files(
            batch.id, vector_store_id=store.id
        )
    ]

    assert (batch.status, batch.file_counts.completed, batch.file_counts.failed) == (
        "completed", 2, 1,
    )  # fmt: skip
    assert sorted(listed) == ["completed", "completed", "failed"]


async def test_a_chunking_strategy_cuts_as_it_says(client: AsyncOpenAI) -> None:
    store = await client.vector_stores.create(name="Handbook")
    file = await client.files.create(file=("long.md", LEAVE * 40), purpose="assistants")

    attached = await client.vector_stores.files.create_and_poll(
        file.id,
        vector_store_id=store.id,
        chunking_strategy={
            "type": "static",
            "static": {"max_chunk_size_tokens": 100, "chunk_overlap_tokens": 10},
        },
    )

    assert attached.chunking_strategy is not None
    assert attached.chunking_strategy.to_dict() == {
        "type": "static",
        "static": {"max_chunk_size_tokens": 100, "chunk_overlap_tokens": 10},
    }


@pytest.mark.isolated
async def test_a_file_is_refused_by_the_name_of_the_extension_that_would_read_it(
    settings: Settings, embedder: Embedder
) -> None:
    off = settings.model_copy(update={"extensions_off": "formats"})

    async with running(off, embedder) as gateway:
        await gateway.tenant("acme")
        async with client_of(await gateway.caller("ana")) as client:
            store = await client.vector_stores.create(name="Handbook")
            file = await client.files.create(file=("leave.pdf", b"%PDF-"), purpose="assistants")
            failed = await client.vector_stores.files.create_and_poll(
                file.id, vector_store_id=store.id
            )

    assert failed.last_error is not None
    assert failed.last_error.message == "leave.pdf is read by the extension formats, which is off."


NO_TEXTS = [
    ("bad.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "unsupported_file"),
    ("nul.txt", b"a\0\0\0\0b", "unsupported_file"),
    ("blank.md", b" \n", "unsupported_file"),
    ("broken.pdf", b"%PDF-1.7 nothing", "unsupported_file"),
]


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_file_that_is_no_text_is_said_to_have_failed(client: AsyncOpenAI) -> None:
    store = await client.vector_stores.create(name="Handbook")

    for name, content, code in NO_TEXTS:
        file = await client.vector_stores.files.upload_and_poll(
            vector_store_id=store.id, file=(name, content)
        )

        assert file.status == "failed", name
        assert file.last_error is not None, name
        assert file.last_error.code == code, name
        assert name in file.last_error.message, name
        assert await found(client, store.id) == [], name


@pytest.mark.slow
async def test_html_is_read_as_its_text(client: AsyncOpenAI) -> None:
    store = await client.vector_stores.create(name="Handbook")
    page = b"<html><body><script>alert(1)</script><p>25 days of annual leave.</p></body></html>"
    await attached(client, store.id, "leave.html", page)

    result = await client.vector_stores.search(store.id, query="leave")

    assert result.data[0].content[0].text.strip() == "25 days of annual leave."


@pytest.mark.slow
async def test_what_takes_long_is_in_progress_until_a_worker_has_done_it(
    settings: Settings, embedder: Embedder
) -> None:
    settings = settings.model_copy(update={"document_inline_bytes_max": 100})
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        async with client_of(await gateway.caller("ana")) as client:
            store = await client.vector_stores.create(name="Handbook")
            file = await client.files.create(file=("long.md", LEAVE * 10), purpose="assistants")
            queued = await client.vector_stores.files.create(store.id, file_id=file.id)
            before = await client.vector_stores.retrieve(store.id)
            async with (
                open_services(settings, Metrics(), embedder) as services,
                worker_loop.run_in_background(services.worker),
            ):
                done = await client.vector_stores.files.poll(
                    file.id, vector_store_id=store.id, poll_interval_ms=50, max_wait_seconds=30
                )
            names = await found(client, store.id)

    assert (queued.status, before.status) == ("in_progress", "in_progress")
    assert done.status == "completed"
    assert "long.md" in names
