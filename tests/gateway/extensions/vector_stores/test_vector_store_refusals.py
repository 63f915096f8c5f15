"""What vector stores and files refuse, in the form that OpenAI's clients expect."""

from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from gateway.settings.settings import Settings
from index.model.document_limits import TEXT_CHARACTERS_MAX
from index.search.query_embedder import Embedder
from tests.gateway.extensions.vector_stores.openai_client import client_of
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.support.unreliable_embedder import MoodyEmbedder

pytestmark = pytest.mark.anyio


@pytest.mark.slow
@pytest.mark.parametrize(("size", "what"), [(1_001, "at most 1,000 bytes"), (90_000, "exceeds")])
async def test_a_file_that_is_too_long_is_refused(
    settings: Settings, embedder: Embedder, size: int, what: str
) -> None:
    settings = settings.model_copy(update={"document_bytes_max": 1_000})
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        async with client_of(await gateway.caller("ana")) as client:
            with pytest.raises(openai.APIStatusError, match=what) as refused:
                await client.files.create(file=("a.txt", b"a" * size), purpose="assistants")

    assert refused.value.status_code == (413 if size > 70_000 else 400)


@pytest.mark.slow
async def test_a_tenant_has_no_more_files_than_it_may(
    client: AsyncOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.extensions.vector_stores.files.FILES_MAX", 1)
    monkeypatch.setattr("gateway.extensions.vector_stores.stores.STORES_MAX", 1)
    await client.files.create(file=("a.txt", b"a"), purpose="assistants")
    await client.vector_stores.create(name="one")

    with pytest.raises(openai.ConflictError, match="already has 1 files"):
        await client.files.create(file=("b.txt", b"b"), purpose="assistants")
    with pytest.raises(openai.ConflictError, match="already has 1 vector stores"):
        await client.vector_stores.create(name="two")


async def test_what_is_wrong_is_told_as_openai_tells_it(ana: Caller, client: AsyncOpenAI) -> None:
    store = (await client.vector_stores.create(name="Handbook")).id
    deep: dict[str, Any] = {"type": "eq", "key": "a", "value": 1}
    for _ in range(100):
        deep = {"type": "and", "filters": [deep]}
    search = f"/v1/vector_stores/{store}/search"
    for path, body, status, param in (
        (search, {"query": "x", "max_num_results": 0}, 400, "max_num_results"),
        (search, {"query": "x", "max_num_results": 51}, 400, "max_num_results"),
        (search, {"query": ""}, 400, "query"),
        (search, {"query": []}, 400, "query"),
        (search, {"query": "x" * 2_001}, 400, "query"),
        (search, {"query": ["x"] * 33}, 400, "query"),
        (search, {"query": "x", "filters": deep}, 400, None),
        (search, {"query": "x", "filters": {"type": "like"}}, 400, "filters"),
        (search, {"query": "x", "limit": 3}, 400, "limit"),
        ("/v1/vector_stores/nowhere/search", {"query": "x"}, 404, "vector_store_id"),
        (f"/v1/vector_stores/{store}/files", {"file_id": "file-none"}, 404, "file_id"),
        ("/v1/vector_stores", {"expires_after": {"days": 1}}, 400, "expires_after"),
        ("/v1/vector_stores", {"file_ids": ["nowhere"]}, 404, "file_id"),
    ):
        answer = await ana.call("POST", path, json=body)
        error = answer.json()["error"]
        assert (answer.status_code, error["param"]) == (status, param), (body, error)
        assert error["type"] == "invalid_request_error"
        assert error["message"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/vector_stores"),
        ("GET", "/v1/vector_stores"),
        ("POST", "/v1/vector_stores/vs_1/search"),
        ("GET", "/v1/vector_stores/vs_1/files/file-1/content"),
        ("POST", "/v1/files"),
        ("GET", "/v1/files/file-1/content"),
    ],
)
async def test_nobody_is_answered_without_a_key(gateway: Gateway, method: str, path: str) -> None:
    answer = await gateway.stranger.call(method, path, json={"query": "x"})

    malformed = await gateway.stranger.call(method, path, json={"nothing": "known"})

    assert answer.status_code == malformed.status_code == 401
    assert answer.json()["error"]["type"] == "authentication_error"
    assert "www-authenticate" in answer.headers


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 400),
        ({"Content-Type": "application/json"}, 415),
        ({"Content-Type": "multipart/form-data"}, 400),
        ({"Content-Type": "multipart/form-data; boundary=x"}, 400),
    ],
)
async def test_an_upload_that_is_no_form_is_refused(
    ana: Caller, headers: dict[str, str], status: int
) -> None:
    answer = await ana.call("POST", "/v1/files", content=b"no form", headers=headers)

    assert answer.status_code == status
    assert answer.json()["error"]["message"]


@pytest.mark.thorough
@pytest.mark.slow
async def test_what_is_no_fault_of_the_caller_is_told_as_the_servers(
    settings: Settings, embedder: Embedder
) -> None:
    moody = MoodyEmbedder(embedder)
    async with running(settings.model_copy(update={"deadline_s": 0.5}), moody) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        await ana.put("leave", "Annual leave.", source="wiki")
        moody.hold()
        late = await ana.call("POST", "/v1/vector_stores/wiki/search", json={"query": "leave"})

    assert (late.status_code, late.json()["error"]["type"]) == (504, "server_error")


async def test_who_may_only_read_makes_and_removes_nothing(gateway: Gateway) -> None:
    reader = await gateway.caller("rita", roles=["reader"])
    async with client_of(reader) as client:
        with pytest.raises(openai.PermissionDeniedError):
            await client.vector_stores.create(name="Mine")
        with pytest.raises(openai.PermissionDeniedError):
            await client.files.create(file=("a.txt", b"a"), purpose="assistants")
        assert [file async for file in client.files.list()] == []


@pytest.mark.parametrize("name", ["no%0Asuch", "a/b%0A~", "%0A"])
async def test_a_file_whose_name_has_a_line_break_is_refused_in_the_form_of_the_others(
    gateway: Gateway, name: str
) -> None:
    ana = await gateway.caller("ana")
    path = f"/v1/vector_stores/nobodys/files/{name}"

    answer = await ana.call("POST", path, json={"attributes": {}})

    assert answer.status_code in (400, 404)
    assert answer.headers["content-type"] == "application/json"
    assert set(answer.json()["error"]) == {"message", "type", "param", "code"}


@pytest.mark.sampled("characters")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "code", "what"),
    [
        (b"a" * (TEXT_CHARACTERS_MAX + 1), "unsupported_file", "more than 2,000,000 characters"),
        (b"a b " * 150_000, "invalid_file", "the limit is 5,000"),
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


NOT_ASKED: list[tuple[str, str, dict[str, Any] | None, int, str]] = [
    ("GET", "/v1/files?before=file-1&after=file-2", None, 400, "before"),
    ("GET", f"/v1/files?before={'x' * 513}", None, 400, "before"),
    ("GET", "/v1/files?limit=0", None, 400, "limit"),
    ("GET", "/v1/files?limit=two", None, 400, "limit"),
    ("GET", "/v1/files?limit=1234567", None, 400, "limit"),
    ("GET", "/v1/files?order=best", None, 400, "order"),
    ("GET", "/v1/files?after=%00", None, 400, "after"),
    ("GET", f"/v1/files?after={'x' * 513}", None, 400, "after"),
    ("GET", "/v1/files/file%00", None, 400, "file_id"),
    ("GET", "{store}/files/file%00", None, 400, "file_id"),
    ("GET", "{store}/file_batches/none", None, 404, "batch_id"),
    ("GET", "{store}/file_batches/none%00", None, 400, "batch_id"),
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
]


async def test_what_can_not_be_asked_of_files_is_told_as_openai_tells_it(
    ana: Caller, client: AsyncOpenAI
) -> None:
    store = await client.vector_stores.create(name="Handbook")

    for method, template, body, status, param in NOT_ASKED:
        path = template.format(store=f"/v1/vector_stores/{store.id}")
        answer = await ana.call(method, path, **({} if body is None else {"json": body}))

        error = answer.json()["error"]
        assert (answer.status_code, error["param"]) == (status, param), error


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
