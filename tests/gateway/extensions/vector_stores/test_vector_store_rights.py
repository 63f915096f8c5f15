"""What vector stores and files tell whom: no more than the documents that are made of them."""

import asyncio

import openai
import pytest
from openai import AsyncOpenAI
from openai.types import StaticFileChunkingStrategyObjectParam

from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from index.search.query_embedder import Embedder
from tests.gateway.extensions.vector_stores.openai_client import client_of
from tests.gateway.extensions.vector_stores.test_vector_stores import (
    LEAVE,
    TRAVEL,
    attached,
    found,
)
from tests.gateway.support.gateways import Caller, running
from tests.gateway.support.workers import worker_services

pytestmark = pytest.mark.anyio


async def narrowed(caller: Caller, **fields: object) -> Caller:
    made = await caller.call("POST", "/v1/tokens", json=fields)
    assert made.status_code == 201, made.text
    return Caller(caller.client, made.json()["token"])


async def test_a_token_with_a_filter_is_told_of_no_other_files(
    ana: Caller, client: AsyncOpenAI
) -> None:
    store = await client.vector_stores.create(name="Handbook")
    shown = await attached(client, store.id, "leave.md", LEAVE, team="people")
    hidden = await attached(client, store.id, "travel.md", TRAVEL, team="board")
    token = await narrowed(ana, filter={"metadata": {"team": "people"}})

    async with client_of(token) as its:
        files = [file.id async for file in its.vector_stores.files.list(store.id)]
        counts = (await its.vector_stores.retrieve(store.id)).file_counts
        with pytest.raises(openai.NotFoundError):
            await its.vector_stores.files.retrieve(hidden, vector_store_id=store.id)

    assert files == [shown]
    assert counts.total == 1


async def test_a_token_without_the_private_scope_is_told_of_no_uploads(
    ana: Caller, client: AsyncOpenAI
) -> None:
    store = await client.vector_stores.create(name="Ours", extra_body={"readers": ["tenant"]})
    file_id = await attached(client, store.id, "leave.md", LEAVE)
    token = await narrowed(ana, scopes=["tenant"])

    async with client_of(token) as its:
        listed = [file.id async for file in its.files.list()]
        for call in (
            its.files.retrieve(file_id),
            its.files.content(file_id),
            its.files.delete(file_id),
        ):
            with pytest.raises(openai.NotFoundError):
                await call
        with pytest.raises(openai.PermissionDeniedError):
            await its.vector_stores.delete(store.id)
        assert await found(its, store.id) == ["leave.md"]

    assert listed == []


async def test_who_may_read_a_store_changes_neither_it_nor_its_files(
    ben: Caller, client: AsyncOpenAI
) -> None:
    store = await client.vector_stores.create(name="Ours", extra_body={"readers": ["tenant"]})
    file_id = await attached(client, store.id, "leave.md", LEAVE, team="people")

    async with client_of(ben) as his:
        with pytest.raises(openai.PermissionDeniedError):
            await his.vector_stores.update(store.id, name="His")
        with pytest.raises(openai.PermissionDeniedError):
            await his.vector_stores.files.update(
                file_id, vector_store_id=store.id, attributes={"team": "his"}
            )

    file = await client.vector_stores.files.retrieve(file_id, vector_store_id=store.id)
    assert file.attributes == {"team": "people"}
    assert (await client.vector_stores.retrieve(store.id)).name == "Ours"


async def test_a_filter_of_attributes_stays_within_the_store(client: AsyncOpenAI) -> None:
    one, other = [await client.vector_stores.create(name=name) for name in ("one", "other")]
    await attached(client, one.id, "leave.md", LEAVE, team="people")
    await attached(client, other.id, "other.md", LEAVE + b" Ask.", team="people")

    filters = {"type": "eq", "key": "team", "value": "people"}
    assert await found(client, one.id, filters=filters) == ["leave.md"]


@pytest.mark.parametrize("fields", [{"scopes": ["tenant"]}, {"filter": {"sources": ["wiki"]}}])
async def test_a_token_that_is_told_of_no_uploads_makes_none(
    ana: Caller, fields: dict[str, object]
) -> None:
    async with client_of(await narrowed(ana, **fields)) as its:
        with pytest.raises(openai.PermissionDeniedError):
            await its.files.create(file=("leave.md", LEAVE), purpose="assistants")


async def test_a_token_with_a_filter_is_not_told_of_files_that_failed(
    ana: Caller, client: AsyncOpenAI
) -> None:
    store = await client.vector_stores.create(name="Handbook")
    await client.vector_stores.files.upload_and_poll(
        vector_store_id=store.id, file=("bad.bin", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    )
    token = await narrowed(ana, filter={"metadata": {"team": "people"}})

    async with client_of(token) as its:
        assert [each.id async for each in its.vector_stores.files.list(store.id)] == []
        assert (await its.vector_stores.retrieve(store.id)).file_counts.total == 0
    assert (await client.vector_stores.retrieve(store.id)).file_counts.failed == 1


async def test_a_token_with_a_filter_is_told_of_no_uploads(
    ana: Caller, client: AsyncOpenAI
) -> None:
    file = await client.files.create(file=("leave.md", LEAVE), purpose="assistants")
    token = await narrowed(ana, filter={"sources": ["wiki"]})

    async with client_of(token) as its:
        assert [each.id async for each in its.files.list()] == []
        with pytest.raises(openai.NotFoundError):
            await its.files.content(file.id)


async def test_an_admin_sees_that_a_file_is_there_and_not_what_it_says(
    admin: Caller, client: AsyncOpenAI
) -> None:
    file = await client.files.create(file=("leave.md", LEAVE), purpose="assistants")

    async with client_of(admin) as theirs:
        seen = [each.filename async for each in theirs.files.list()]
        store = await theirs.vector_stores.create(name="Theirs")
        with pytest.raises(openai.NotFoundError):
            await theirs.files.content(file.id)
        with pytest.raises(openai.NotFoundError):
            await theirs.vector_stores.files.create(store.id, file_id=file.id)
        await theirs.files.delete(file.id)

    assert seen == ["leave.md"]


async def test_a_token_kept_to_one_source_finds_its_store_on_a_later_page(
    ana: Caller, client: AsyncOpenAI
) -> None:
    stores = [await client.vector_stores.create(name=f"store {number}") for number in range(5)]
    token = await narrowed(ana, filter={"sources": [stores[0].id, stores[3].id]})

    async with client_of(token) as its:
        seen = [store.name async for store in its.vector_stores.list(limit=1)]

    assert seen == ["store 3", "store 0"]


@pytest.mark.slow
async def test_detaching_removes_the_document_that_was_meant_and_no_other(
    ana: Caller, client: AsyncOpenAI
) -> None:
    store = await client.vector_stores.create(name="Handbook")
    file_id = await attached(client, store.id, "leave.md", LEAVE)
    await ana.put(file_id, TRAVEL.decode(), source="wiki")

    await client.vector_stores.files.delete(file_id, vector_store_id=store.id)

    assert await ana.found("annual leave travel") == [file_id]


async def test_a_store_is_not_made_for_files_that_are_not_there(client: AsyncOpenAI) -> None:
    with pytest.raises(openai.NotFoundError):
        await client.vector_stores.create(name="Handbook", file_ids=["file-none"])

    assert [store async for store in client.vector_stores.list()] == []


async def test_a_file_whose_document_was_given_away_is_not_removed_by_who_uploaded_it(
    ben: Caller, admin: Caller, client: AsyncOpenAI
) -> None:
    store = await client.vector_stores.create(name="Ours", extra_body={"readers": ["tenant"]})
    file_id = await attached(client, store.id, "leave.md", LEAVE)
    path = f"/v1/documents/{store.id}/{file_id}/access"
    given = await admin.call("PATCH", path, json={"owner": "ben"})
    assert given.status_code == 200, given.text

    with pytest.raises(openai.PermissionDeniedError):
        await client.files.delete(file_id)

    assert await ben.found("annual leave") == [f"{store.id}/{file_id}"]


@pytest.mark.parametrize("queued", [False, True])
async def test_attaching_changes_what_a_put_changes_and_shows_no_more(
    settings: Settings,
    embedder: Embedder,
    queued: bool,  # noqa: FBT001  a parameter
) -> None:
    content, bytes_max = LEAVE * 20, 500 if queued else 10_000
    settings = settings.model_copy(update={"document_inline_bytes_max": bytes_max})
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        admin, ben = await gateway.caller("ada", roles=["admin"]), await gateway.caller("ben")
        async with client_of(admin) as theirs:
            store = await theirs.vector_stores.create(name="Handbook")
            file = await theirs.files.create(file=("leave.md", content), purpose="assistants")
            files, path = theirs.vector_stores.files, f"/v1/documents/{store.id}/{file.id}"
            cut: StaticFileChunkingStrategyObjectParam = {
                "type": "static",
                "static": {"max_chunk_size_tokens": 300, "chunk_overlap_tokens": 0},
            }
            await files.create(store.id, file_id=file.id, chunking_strategy=cut)
            await drained(settings, embedder)
            access = {"owner": "ben", "readers": []}
            given = await admin.call("PATCH", f"{path}/access", json=access)
            assert given.status_code == 200, given.text
            hidden = {"text": "Ben's.", "source": store.id, "metadata": {"of": "ben"}}

            for is_batch in (False, True):
                assert (await ben.call("PUT", path, json=hidden)).status_code == 200
                asked: dict[str, str | float | bool] = {"of": "the file"}
                if is_batch:
                    batches = theirs.vector_stores.file_batches
                    batch = await batches.create(store.id, file_ids=[file.id], attributes=asked)
                    counts = batch.file_counts
                    assert (counts.total, counts.in_progress) == (1, int(queued))
                else:
                    shown = await files.create(store.id, file_id=file.id, attributes=asked)
                    assert shown.status == ("in_progress" if queued else "completed")
                    assert shown.attributes == asked
                    assert shown.usage_bytes == (0 if queued else len(content))
                    assert shown.chunking_strategy is not None
                    assert shown.chunking_strategy.type == "other"
                await drained(settings, embedder)

                assert (await ben.call("GET", path)).json()["text"] == content.decode()
                with pytest.raises(openai.NotFoundError):
                    await files.retrieve(file.id, vector_store_id=store.id)
            put = await admin.call("PUT", path, json={**hidden, "text": "An admin's."})

    assert put.status_code == 200, put.text


async def test_who_may_not_change_a_document_is_told_so_alike_at_both_doors(
    ana: Caller, ben: Caller, client: AsyncOpenAI
) -> None:
    await ben.put("ours", TRAVEL.decode(), source="wiki", readers=["tenant"])
    file = await client.files.create(file=("leave.md", LEAVE), purpose="assistants")
    path = f"/v1/documents/wiki/{file.id}"
    hidden = {"text": "Ben's.", "source": "wiki"}
    assert (await ben.call("PUT", path, json=hidden)).status_code == 200

    put = await ana.call("PUT", path, json={"text": "Ana's.", "source": "wiki"})
    with pytest.raises(openai.ConflictError) as attached:
        await client.vector_stores.files.create("wiki", file_id=file.id)

    assert put.status_code == 409
    assert put.json()["errors"][0]["detail"] in attached.value.message
    assert (await ben.call("GET", path)).json()["text"] == "Ben's."
    assert [each.id async for each in client.vector_stores.files.list("wiki")] == []


async def drained(settings: Settings, embedder: Embedder) -> None:
    async with worker_services(settings, embedder) as services:
        await worker_loop.make_worker(services.worker).drain()


@pytest.mark.sampled("file of the store")
@pytest.mark.slow
@pytest.mark.parametrize("removed", ["file", "store", "file of the store"])
async def test_what_was_queued_for_a_file_goes_with_it(
    settings: Settings, embedder: Embedder, removed: str
) -> None:
    settings = settings.model_copy(update={"document_inline_bytes_max": 100})
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        async with client_of(ana) as client:
            store = await client.vector_stores.create(name="Handbook")
            file = await client.files.create(file=("long.md", LEAVE * 10), purpose="assistants")
            await client.vector_stores.files.create(store.id, file_id=file.id)
            if removed == "file":
                await client.files.delete(file.id)
            elif removed == "store":
                await client.vector_stores.delete(store.id)
            else:
                await client.vector_stores.files.delete(file.id, vector_store_id=store.id)
        later = await ana.call("PUT", "/v1/documents/later", json={"text": TRAVEL.decode() * 10})
        assert later.status_code == 202
        async with (
            worker_services(settings, embedder) as services,
            worker_loop.run_in_background(services.worker),
        ):
            await done(ana, later.json()["status_url"])
            states = await queued(ana)
        names = await ana.found("annual leave")

    assert states == {"done"}
    assert names == ["later"]


async def done(caller: Caller, status_url: str) -> None:
    async with asyncio.timeout(30):
        while (await caller.call("GET", status_url)).json()["state"] != "done":
            await asyncio.sleep(0.05)


async def queued(caller: Caller) -> set[str]:
    async with asyncio.timeout(30):
        while True:
            jobs = (await caller.call("GET", "/v1/jobs")).json()["jobs"]
            states = {job["state"] for job in jobs}
            if not states & {"waiting", "running"}:
                return states
            await asyncio.sleep(0.05)
