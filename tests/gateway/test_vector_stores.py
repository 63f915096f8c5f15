"""OpenAI's own client against a gateway: vector stores, files and searches, over sockets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import openai
import orjson
import pytest
from openai import AsyncOpenAI

from gateway import working
from gateway.metrics import Metrics
from gateway.services import open_services
from gateway.settings import Settings
from index.search import Embedder
from tests.gateway.gateways import Caller, Gateway, running

pytestmark = pytest.mark.anyio

LEAVE = b"# Leave\n\nEverybody gets 25 days of annual leave a year."
TRAVEL = b"# Travel\n\nBook trains with the travel desk, two weeks ahead."


@asynccontextmanager
async def client_of(caller: Caller) -> AsyncIterator[AsyncOpenAI]:
    async with (
        httpx2.AsyncClient(verify=False, timeout=30) as http,
        AsyncOpenAI(
            base_url=str(caller.client.base_url.join("/v1")),
            api_key=caller.key or "none",
            http_client=http,
            max_retries=0,
        ) as client,
    ):
        yield client


@pytest.fixture
async def client(ana: Caller) -> AsyncIterator[AsyncOpenAI]:
    async with client_of(ana) as opened:
        yield opened


async def attached(
    client: AsyncOpenAI, store: str, name: str, content: bytes, **attributes: Any
) -> str:
    file = await client.vector_stores.files.upload_and_poll(
        vector_store_id=store, file=(name, content), attributes=attributes
    )
    assert (file.status, file.last_error) == ("completed", None)
    return file.id


async def found(client: AsyncOpenAI, store: str, query: str = "leave", **options: Any) -> list[str]:
    page = await client.vector_stores.search(store, query=query, **options)
    return [each.filename for each in page.data]


async def test_a_store_is_made_filled_searched_and_deleted(
    client: AsyncOpenAI, ana: Caller
) -> None:
    store = await client.vector_stores.create(name="Handbook", metadata={"team": "people"})
    file_id = await attached(client, store.id, "leave.md", LEAVE, team="people", year=2026)

    page = await client.vector_stores.search(store.id, query="annual leave")
    filled = await client.vector_stores.retrieve(store.id)
    deleted = await client.vector_stores.delete(store.id)
    after = await ana.found("annual leave")

    (hit,) = page.data
    assert (hit.file_id, hit.filename) == (file_id, "leave.md")
    assert hit.attributes == {"team": "people", "year": 2026}
    assert hit.content[0].text == LEAVE.decode()
    assert hit.score > 0
    assert page.model_extra is not None
    assert (filled.name, filled.metadata) == ("Handbook", {"team": "people"})
    assert (filled.status, filled.file_counts.completed) == ("completed", 1)
    assert filled.usage_bytes == len(LEAVE)
    assert deleted.deleted
    assert after == []
    with pytest.raises(openai.NotFoundError):
        await client.vector_stores.retrieve(store.id)
    assert (await client.files.retrieve(file_id)).filename == "leave.md"


async def test_several_queries_are_one_answer_each_hit_once(client: AsyncOpenAI) -> None:
    store = await client.vector_stores.create(name="Handbook")
    await attached(client, store.id, "leave.md", LEAVE)
    await attached(client, store.id, "travel.md", TRAVEL)

    names = await found(client, store.id, ["annual leave", "trains", "leave"])  # type: ignore[arg-type]
    one = await found(client, store.id, ["annual leave", "trains"], max_num_results=1)  # type: ignore[arg-type]

    assert sorted(names) == ["leave.md", "travel.md"]
    assert len(one) == 1


async def test_of_several_queries_each_hit_has_the_best_of_its_scores(client: AsyncOpenAI) -> None:
    store = await client.vector_stores.create(name="Handbook")
    for name in ("leave", "leave trains", "trains"):
        await attached(client, store.id, name, f"Of {name}.".encode())
    best: dict[str, float] = {}
    queries = ["leave", "leave and trains"]
    for query in queries:
        for hit in (await client.vector_stores.search(store.id, query=query)).data:
            best[hit.filename] = max(hit.score, best.get(hit.filename, 0.0))

    for order in (queries, queries[::-1]):
        page = await client.vector_stores.search(store.id, query=order)

        scores = [hit.score for hit in page.data]
        assert {hit.filename: hit.score for hit in page.data} == best
        assert scores == sorted(scores, reverse=True)


async def test_each_query_counts_against_the_rate(settings: Settings, embedder: Embedder) -> None:
    async with running(settings.model_copy(update={"rate_key": 2.0}), embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        await ana.put("leave", LEAVE.decode(), source="wiki")

        path, body = "/v1/vector_stores/wiki/search", {"query": ["leave"] * 3}
        statuses = [(await ana.call("POST", path, json=body)).status_code for _ in range(2)]

    assert statuses == [200, 429]


async def test_what_is_not_said_of_a_store_stays_as_it_is(
    ana: Caller, admin: Caller, client: AsyncOpenAI
) -> None:
    store = await client.vector_stores.create(name="Handbook", metadata={"team": "people"})
    await ana.put("trains", TRAVEL.decode(), source="wiki", readers=["tenant"])

    renamed = await client.vector_stores.update(store.id, name="Other")
    retold = await client.vector_stores.update(store.id, metadata={"year": "2026"})
    async with client_of(admin) as theirs:
        with pytest.raises(openai.ConflictError):
            await theirs.vector_stores.update("wiki", name="Other")

    assert (renamed.name, renamed.metadata) == ("Other", {"team": "people"})
    assert (retold.name, retold.metadata) == ("Other", {"year": "2026"})


async def test_a_store_of_many_documents_is_emptied_by_a_worker(
    settings: Settings, embedder: Embedder
) -> None:
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        async with client_of(ana) as client:
            store = await client.vector_stores.create(name="Handbook")
            lines = [
                {"document_id": f"leave{n}", "text": f"Leave of {n} days.", "source": store.id}
                for n in range(201)
            ]
            content = b"\n".join(map(orjson.dumps, lines))
            assert (await ana.call("POST", "/v1/documents/batch", content=content)).is_success
            await client.vector_stores.delete(store.id)
            left = await ana.found("leave", top_k=100)
            async with (
                open_services(settings, Metrics(), embedder) as services,
                working.working(services),
                asyncio.timeout(30),
            ):
                while await ana.found("leave"):
                    await asyncio.sleep(0.05)

    assert len(left) == 100


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"type": "eq", "key": "team", "value": "a"}, {"one"}),
        ({"type": "ne", "key": "team", "value": "a"}, {"two", "three"}),
        ({"type": "gt", "key": "year", "value": 2024}, {"two"}),
        ({"type": "gte", "key": "year", "value": 2024}, {"one", "two"}),
        ({"type": "lt", "key": "year", "value": 2024.5}, {"one"}),
        ({"type": "lte", "key": "year", "value": 2025}, {"one", "two"}),
        ({"type": "in", "key": "team", "value": ["a", "b"]}, {"one", "two"}),
        ({"type": "nin", "key": "team", "value": ["a"]}, {"two", "three"}),
        ({"type": "eq", "key": "draft", "value": True}, {"two"}),
        (
            {
                "type": "and",
                "filters": [
                    {"type": "gte", "key": "year", "value": 2024},
                    {
                        "type": "or",
                        "filters": [
                            {"type": "eq", "key": "team", "value": "b"},
                            {"type": "eq", "key": "team", "value": "c"},
                        ],
                    },
                ],
            },
            {"two"},
        ),
    ],
)
async def test_filters_go_by_attributes(
    client: AsyncOpenAI, filters: Any, expected: set[str]
) -> None:
    store = await client.vector_stores.create(name="Handbook")
    await attached(client, store.id, "one", LEAVE, team="a", year=2024)
    await attached(client, store.id, "two", LEAVE + b" Ask.", team="b", year=2025, draft=True)
    await attached(client, store.id, "three", LEAVE + b" Or not.")

    assert set(await found(client, store.id, filters=filters)) == expected


async def test_other_attributes_are_found_at_once_and_embed_nothing(client: AsyncOpenAI) -> None:
    store = await client.vector_stores.create(name="Handbook")
    file_id = await attached(client, store.id, "leave.md", LEAVE, year=2024)
    late = {"type": "gt", "key": "year", "value": 2025}
    before = await found(client, store.id, filters=late)

    changed = await client.vector_stores.files.update(
        file_id, vector_store_id=store.id, attributes={"year": 2026}
    )

    assert before == []
    assert changed.attributes == {"year": 2026}
    assert await found(client, store.id, filters=late) == ["leave.md"]


async def test_a_score_below_the_threshold_is_no_result(client: AsyncOpenAI) -> None:
    store = await client.vector_stores.create(name="Handbook")
    await attached(client, store.id, "leave.md", LEAVE)

    assert await found(client, store.id, ranking_options={"score_threshold": 0.01}) == ["leave.md"]
    assert await found(client, store.id, "zebra", ranking_options={"score_threshold": 1}) == []


async def test_a_store_is_seen_by_its_readers_and_its_files_by_theirs(
    gateway: Gateway, client: AsyncOpenAI, ben: Caller
) -> None:
    mine = await client.vector_stores.create(name="Mine")
    ours = await client.vector_stores.create(name="Ours", extra_body={"readers": ["group:sales"]})
    await attached(client, mine.id, "mine.md", LEAVE)
    file_id = await attached(client, ours.id, "ours.md", LEAVE)
    failed = await client.vector_stores.files.upload_and_poll(
        vector_store_id=ours.id, file=("bad.bin", b"\xff\x00")
    )
    assert failed.status == "failed"

    async with client_of(ben) as his:
        seen = [store.name async for store in his.vector_stores.list()]
        read = await found(his, ours.id)
        files = [file.id async for file in his.vector_stores.files.list(ours.id)]
        with pytest.raises(openai.NotFoundError):
            await his.vector_stores.retrieve(mine.id)
        with pytest.raises(openai.NotFoundError):
            await found(his, mine.id)
        with pytest.raises(openai.PermissionDeniedError):
            await his.vector_stores.delete(ours.id)
        with pytest.raises(openai.PermissionDeniedError):
            await his.vector_stores.files.delete(file_id, vector_store_id=ours.id)
        with pytest.raises(openai.NotFoundError):
            await his.files.retrieve(file_id)

    assert (seen, read, files) == (["Ours"], ["ours.md"], [file_id])


async def test_another_tenant_sees_nothing_of_it(gateway: Gateway, client: AsyncOpenAI) -> None:
    store = await client.vector_stores.create(name="Ours", extra_body={"readers": ["tenant"]})
    file_id = await attached(client, store.id, "leave.md", LEAVE)
    await gateway.tenant("globex")
    carl = await gateway.caller("carl", tenant="globex", roles=["admin"])

    async with client_of(carl) as theirs:
        for call in (
            theirs.vector_stores.retrieve(store.id),
            theirs.vector_stores.delete(store.id),
            theirs.vector_stores.search(store.id, query="leave"),
            theirs.files.retrieve(file_id),
            theirs.files.content(file_id),
            theirs.files.delete(file_id),
            theirs.vector_stores.files.retrieve(file_id, vector_store_id=store.id),
        ):
            with pytest.raises(openai.NotFoundError):
                await call
        assert [store async for store in theirs.vector_stores.list()] == []
        assert [file async for file in theirs.files.list()] == []


async def test_any_source_can_be_named_as_a_store(ana: Caller, client: AsyncOpenAI) -> None:
    metadata = {"labels": ["a"], "nothing": None}
    await ana.put("travel/trains", TRAVEL.decode(), source="wiki", metadata=metadata)

    store = await client.vector_stores.retrieve("wiki")
    page = await client.vector_stores.search("wiki", query="trains")
    file = await client.vector_stores.files.retrieve("travel/trains", vector_store_id="wiki")

    assert (store.name, store.file_counts.total) == ("wiki", 1)
    assert [(each.file_id, each.filename) for each in page.data] == [("travel/trains",) * 2]
    assert page.data[0].attributes == {"labels": '["a"]'}
    assert file.status == "completed"
    assert await found(client, "wiki", "zebra lighthouse") in ([], ["travel/trains"])


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
    files = [("leave.md", LEAVE), ("travel.md", TRAVEL), ("bad.bin", b"\xff\xfe\x00\x01")]

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


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("bad.txt", b"\xff\xfe\x00", "unsupported_file"),
        ("nul.txt", b"a\x00b", "unsupported_file"),
        ("blank.md", b" \n", "unsupported_file"),
        ("broken.pdf", b"%PDF-1.7 nothing", "unsupported_file"),
    ],
)
async def test_a_file_that_is_no_text_is_said_to_have_failed(
    client: AsyncOpenAI, name: str, content: bytes, code: str
) -> None:
    store = await client.vector_stores.create(name="Handbook")

    file = await client.vector_stores.files.upload_and_poll(
        vector_store_id=store.id, file=(name, content)
    )

    assert file.status == "failed"
    assert file.last_error is not None
    assert file.last_error.code == code
    assert name in file.last_error.message
    assert await found(client, store.id) == []


async def test_html_is_read_as_its_text(client: AsyncOpenAI) -> None:
    store = await client.vector_stores.create(name="Handbook")
    page = b"<html><body><script>alert(1)</script><p>25 days of annual leave.</p></body></html>"
    await attached(client, store.id, "leave.html", page)

    result = await client.vector_stores.search(store.id, query="leave")

    assert result.data[0].content[0].text.strip() == "25 days of annual leave."


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
                working.working(services),
            ):
                done = await client.vector_stores.files.poll(
                    file.id, vector_store_id=store.id, poll_interval_ms=50, max_wait_seconds=30
                )
            names = await found(client, store.id)

    assert (queued.status, before.status) == ("in_progress", "in_progress")
    assert done.status == "completed"
    assert "long.md" in names


@pytest.mark.parametrize(
    ("size", "what"), [(0, "1 to 1,000 bytes"), (1_001, "1 to 1,000 bytes"), (90_000, "at most")]
)
async def test_a_file_that_is_empty_or_too_long_is_refused(
    settings: Settings, embedder: Embedder, size: int, what: str
) -> None:
    settings = settings.model_copy(update={"file_bytes_max": 1_000})
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        async with client_of(await gateway.caller("ana")) as client:
            with pytest.raises(openai.APIStatusError, match=what) as refused:
                await client.files.create(file=("a.txt", b"a" * size), purpose="assistants")

    assert refused.value.status_code == (413 if size > 70_000 else 400)


async def test_a_tenant_has_no_more_files_than_it_may(
    settings: Settings, embedder: Embedder
) -> None:
    settings = settings.model_copy(update={"files_max": 1})
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        async with client_of(await gateway.caller("ana")) as client:
            await client.files.create(file=("a.txt", b"a"), purpose="assistants")
            await client.vector_stores.create(name="one")
            with pytest.raises(openai.ConflictError, match="1 files already"):
                await client.files.create(file=("b.txt", b"b"), purpose="assistants")
            with pytest.raises(openai.ConflictError, match="1 vector stores already"):
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
    "headers",
    [
        {},
        {"Content-Type": "application/json"},
        {"Content-Type": "multipart/form-data"},
        {"Content-Type": "multipart/form-data; boundary=x"},
    ],
)
async def test_an_upload_that_is_no_form_is_refused(ana: Caller, headers: dict[str, str]) -> None:
    answer = await ana.call("POST", "/v1/files", content=b"no form", headers=headers)

    assert answer.status_code == 400
    assert answer.json()["error"]["message"]


async def test_who_may_only_read_makes_and_removes_nothing(gateway: Gateway) -> None:
    reader = await gateway.caller("rita", roles=["reader"])
    async with client_of(reader) as client:
        with pytest.raises(openai.PermissionDeniedError):
            await client.vector_stores.create(name="Mine")
        with pytest.raises(openai.PermissionDeniedError):
            await client.files.create(file=("a.txt", b"a"), purpose="assistants")
        assert [file async for file in client.files.list()] == []


async def test_a_token_kept_to_one_source_sees_one_store(ana: Caller, client: AsyncOpenAI) -> None:
    one, other = [await client.vector_stores.create(name=name) for name in ("one", "other")]
    for store in (one, other):
        await attached(client, store.id, "leave.md", LEAVE)
    made = await ana.call("POST", "/v1/tokens", json={"filter": {"sources": [one.id]}})

    async with client_of(Caller(ana.client, made.json()["token"])) as narrowed:
        seen = [store.name async for store in narrowed.vector_stores.list()]
        names = await found(narrowed, one.id)
        with pytest.raises(openai.NotFoundError):
            await narrowed.vector_stores.retrieve(other.id)
        with pytest.raises(openai.NotFoundError):
            await found(narrowed, other.id)

    assert (seen, names) == (["one"], ["leave.md"])


async def test_the_audit_log_says_who_made_attached_and_saw_what(
    ana: Caller, admin: Caller, client: AsyncOpenAI
) -> None:
    store = await client.vector_stores.create(name="Handbook")
    file_id = await attached(client, store.id, "leave.md", LEAVE)
    await found(client, store.id)
    await client.vector_stores.files.content(file_id, vector_store_id=store.id)
    arguments = {"name": "fetch", "arguments": {"id": f"{store.id}/{file_id}"}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": arguments}
    await ana.call("POST", "/mcp", json=call)
    await client.vector_stores.delete(store.id)
    await client.files.delete(file_id)

    async with asyncio.timeout(10):
        while True:  # what was seen is written a moment later
            rows = (await admin.call("GET", "/v1/audit/log?subject=ana")).json()["rows"]
            seen = [row for row in rows if row["action"] == "documents.see"]
            if sum(row["details"]["answers"] for row in seen) == 3:
                break
            await asyncio.sleep(0.05)

    assert {name for row in seen for name in row["details"]["documents"]} == {
        f"{store.id}/{file_id}"
    }
    assert {(row["action"], row["target"]) for row in rows} >= {
        ("vector_store.add", store.id),
        ("vector_store.forget", store.id),
        ("file.add", file_id),
        ("file.remove", file_id),
    }


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
