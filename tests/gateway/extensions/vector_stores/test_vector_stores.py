"""OpenAI's own client against a gateway: vector stores, files and searches, over sockets."""

import asyncio
from functools import partial
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from index.documents.write_causes import Reading
from index.model.document import Document
from index.search.query_embedder import Embedder
from ingest.write.revision import Put
from tests.gateway.extensions.vector_stores.openai_client import client_of
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.support.workers import worker_services

pytestmark = pytest.mark.anyio

LEAVE = b"# Leave\n\nEverybody gets 25 days of annual leave a year."
TRAVEL = b"# Travel\n\nBook trains with the travel desk, two weeks ahead."


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
    client: AsyncOpenAI, ana: Caller, admin: Caller
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
    assert (await admin.call("GET", "/v1/sources")).json() == {"sources": [], "cursor": None}
    assert (await client.files.retrieve(file_id)).filename == "leave.md"


@pytest.mark.thorough
async def test_several_queries_are_one_answer_each_hit_once(client: AsyncOpenAI) -> None:
    store = await client.vector_stores.create(name="Handbook")
    await attached(client, store.id, "leave.md", LEAVE)
    await attached(client, store.id, "travel.md", TRAVEL)

    names = await found(client, store.id, ["annual leave", "trains", "leave"])  # type: ignore[arg-type]
    one = await found(client, store.id, ["annual leave", "trains"], max_num_results=1)  # type: ignore[arg-type]

    assert sorted(names) == ["leave.md", "travel.md"]
    assert len(one) == 1


@pytest.mark.slow
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


@pytest.mark.slow
async def test_each_query_counts_against_the_rate(settings: Settings, embedder: Embedder) -> None:
    async with running(
        settings.model_copy(update={"key_requests_per_s": 2.0}), embedder
    ) as gateway:
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


def _leave(source: str, days: int, _: Document | None) -> Document:
    text = f"Leave of {days} days."
    return Document(f"leave{days}", "", text, source, "", "en", (), {}, "ana", ())


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("names_off", ["", "sources"])
async def test_a_store_of_many_documents_is_emptied_by_a_worker(
    settings: Settings, embedder: Embedder, names_off: str
) -> None:
    settings = settings.model_copy(update={"extensions_off": names_off})
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        async with client_of(ana) as client:
            store = await client.vector_stores.create(name="Handbook")
            async with worker_services(settings, embedder) as services:
                puts = [Put(f"leave{n}", partial(_leave, store.id, n)) for n in range(201)]
                reading = Reading(await services.stores.documents.next_sequence())
                await services.documents.writer.put_all("acme", puts, reading)
            await client.vector_stores.delete(store.id)
            left = await ana.found("leave", top_k=100)
            async with (
                worker_services(settings, embedder) as services,
                worker_loop.run_in_background(services.worker),
                asyncio.timeout(30),
            ):
                while await ana.found("leave"):
                    await asyncio.sleep(0.05)

    assert len(left) == 100


FILTERS: list[tuple[Any, set[str]]] = [
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
]


@pytest.mark.slow
async def test_filters_go_by_attributes(client: AsyncOpenAI) -> None:
    store = await client.vector_stores.create(name="Handbook")
    await attached(client, store.id, "one", LEAVE, team="a", year=2024)
    await attached(client, store.id, "two", LEAVE + b" Ask.", team="b", year=2025, draft=True)
    await attached(client, store.id, "three", LEAVE + b" Or not.")

    for filters, expected in FILTERS:
        assert set(await found(client, store.id, filters=filters)) == expected, filters


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
        vector_store_id=ours.id, file=("bad.bin", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
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
    globex = await gateway.new_tenant()
    carl = await gateway.caller("carl", tenant=globex, roles=["admin"])

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


@pytest.mark.thorough
@pytest.mark.slow
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

    async with asyncio.timeout(60):
        while True:  # what was seen is written a moment later
            rows = (await admin.call("GET", "/v1/audit/log?subject=ana")).json()["rows"]
            seen = [row for row in rows if row["action"] == "documents.read"]
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
