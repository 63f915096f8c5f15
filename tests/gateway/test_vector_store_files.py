"""Files of vector stores, by OpenAI's own client: how they are attached, listed and refused."""

from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from gateway import working
from gateway.metrics import Metrics
from gateway.services import open_services
from gateway.settings import Settings
from index.document import TEXT_CHARACTERS_MAX
from index.search import Embedder
from tests.gateway.gateways import Caller, running
from tests.gateway.moody_embedder import MoodyEmbedder
from tests.gateway.test_vector_store_rights import done
from tests.gateway.test_vector_stores import LEAVE, TRAVEL, attached, client_of

pytestmark = pytest.mark.anyio

STATIC = {"type": "static", "static": {"max_chunk_size_tokens": 200, "chunk_overlap_tokens": 20}}


@pytest.fixture
async def client(ana: Caller) -> AsyncIterator[AsyncOpenAI]:
    async with client_of(ana) as opened:
        yield opened


async def test_files_are_listed_by_how_far_they_are(client: AsyncOpenAI, ana: Caller) -> None:
    store = await client.vector_stores.create(name="Handbook")
    files = [("leave.md", LEAVE), ("bad.bin", b"\xff\xfe\x00\x01")]
    batch = await client.vector_stores.file_batches.upload_and_poll(store.id, files=files)

    by_status: dict[str, list[int]] = {}
    for status in ("completed", "failed", "in_progress"):
        of_store = await client.vector_stores.files.list(store.id, filter=status)
        of_batch = await client.vector_stores.file_batches.list_files(
            batch.id,
            vector_store_id=store.id,
            filter=status,
        )
        by_status[status] = [len(of_store.data), len(of_batch.data)]
    refused = await ana.call("GET", f"/v1/vector_stores/{store.id}/files?filter=lost")

    assert by_status == {"completed": [1, 1], "failed": [1, 1], "in_progress": [0, 0]}
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


@pytest.mark.parametrize(
    ("content", "code", "what"),
    [
        (b"a" * (TEXT_CHARACTERS_MAX + 1), "unsupported_file", "more than 2,000,000 characters"),
        (b"a b " * 150_000, "invalid_file", "at most 5,000 make a document"),
    ],
    ids=["characters", "chunks"],
)
async def test_a_file_that_is_too_much_for_a_document_is_said_to_have_failed(
    settings: Settings, embedder: Embedder, content: bytes, code: str, what: str
) -> None:
    settings = settings.model_copy(update={"document_inline_bytes_max": 1_000_000})
    small = {"max_chunk_size_tokens": 100, "chunk_overlap_tokens": 50}
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        async with client_of(await gateway.caller("ana")) as client:
            store = await client.vector_stores.create(name="Handbook")
            file = await client.vector_stores.files.upload_and_poll(
                vector_store_id=store.id,
                file=("long.txt", content),
                chunking_strategy={"type": "static", "static": small},  # type: ignore[arg-type]
            )

    assert file.status == "failed"
    assert file.last_error is not None
    assert file.last_error.code == code
    assert what in file.last_error.message


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
                working.working(services),
            ):
                done = await client.vector_stores.files.poll(
                    file.id, vector_store_id=store.id, poll_interval_ms=50, max_wait_seconds=30
                )

    assert (queued.status, done.status) == ("in_progress", "completed")


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
            fields = {"source": store.id, "readers": ["tenant"]}
            queued = await ben.call(
                "PUT",
                f"/v1/documents/{store.id}/{file.id}",
                json={"text": TRAVEL.decode(), **fields},
            )
            assert queued.status_code == 202
            async with (
                open_services(settings, Metrics(), embedder) as services,
                working.working(services),
            ):
                await done(ben, queued.json()["status_url"])
            with pytest.raises(openai.PermissionDeniedError):
                await client.vector_stores.files.create(store.id, file_id=file.id)


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "param"),
    [
        ("GET", "/v1/files?before=file-1", None, 400, "before"),
        ("GET", "/v1/files?limit=0", None, 400, "limit"),
        ("GET", "/v1/files?limit=two", None, 400, "limit"),
        ("GET", "/v1/files?limit=1234567", None, 400, "limit"),
        ("GET", "/v1/files?order=best", None, 400, "order"),
        ("GET", "/v1/files?after=%00", None, 400, "after"),
        ("GET", f"/v1/files?after={'x' * 513}", None, 400, "after"),
        ("GET", "/v1/files/file%00", None, 404, "file_id"),
        ("GET", "{store}/files/file%00", None, 404, "file_id"),
        ("GET", "{store}/file_batches/none", None, 404, "batch_id"),
        ("GET", "{store}/file_batches/none%00", None, 404, "batch_id"),
        ("POST", "{store}/file_batches", {}, 400, "body"),
        (
            "POST",
            "{store}/file_batches",
            {"file_ids": ["a"], "files": [{"file_id": "a"}]},
            400,
            "body",
        ),
        (
            "POST",
            "{store}/files",
            {
                "file_id": "a",
                "chunking_strategy": {
                    "type": "static",
                    "static": {"max_chunk_size_tokens": 100, "chunk_overlap_tokens": 51},
                },
            },
            400,
            "chunking_strategy",
        ),
        ("POST", "/v1/vector_stores", {"metadata": {"a": "\0"}}, 400, "metadata"),
    ],
)
async def test_what_can_not_be_asked_of_files_is_told_as_openai_tells_it(
    ana: Caller,
    client: AsyncOpenAI,
    method: str,
    path: str,
    body: dict[str, Any] | None,
    status: int,
    param: str,
) -> None:
    store = await client.vector_stores.create(name="Handbook")

    path = path.format(store=f"/v1/vector_stores/{store.id}")
    answer = await ana.call(method, path, **({} if body is None else {"json": body}))

    error = answer.json()["error"]
    assert (answer.status_code, error["param"]) == (status, param), error


async def test_a_page_is_as_long_as_a_page_may_be(ana: Caller, client: AsyncOpenAI) -> None:
    for number in range(101):
        await client.files.create(file=(f"{number}.md", b"a"), purpose="assistants")

    page = (await ana.call("GET", "/v1/files?limit=9999")).json()
    last = (await ana.call("GET", f"/v1/files?after={page['last_id']}")).json()

    assert (len(page["data"]), page["has_more"]) == (100, True)
    assert (len(last["data"]), last["has_more"]) == (1, False)


@pytest.mark.parametrize(
    ("form", "param"),
    [
        ({"files": {"file": ("a.md", b"a")}, "data": {"purpose": "fun"}}, "purpose"),
        ({"files": {"file": ("a.md", b"a")}}, "purpose"),
        ({"files": {"other": ("a.md", b"a")}, "data": {"purpose": "batch"}}, "file"),
        ({"files": {"file": (f"{'a' * 2_000}.md", b"a")}, "data": {"purpose": "batch"}}, "file"),
    ],
)
async def test_a_form_with_something_else_in_it_is_refused(
    ana: Caller, form: dict[str, Any], param: str
) -> None:
    answer = await ana.call("POST", "/v1/files", **form)

    assert (answer.status_code, answer.json()["error"]["param"]) == (400, param), answer.text
