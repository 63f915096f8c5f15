"""What OpenAI's clients, and those written after them, send beyond what the reference requires."""

import inspect
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI
from pydantic import TypeAdapter

from gateway.bodies.schemas import Body
from gateway.extensions.vector_stores.schemas import search_schemas, vector_store_schemas
from tests.gateway.support.gateways import Caller, Gateway

pytestmark = pytest.mark.anyio

REQUESTS = [
    model
    for schemas in (vector_store_schemas, search_schemas)
    for name, model in inspect.getmembers(schemas, inspect.isclass)
    if model.__module__ == schemas.__name__
    and issubclass(model, Body)
    and "object" not in model.model_fields
    and name not in ("FileCounts", "LastError", "Content", "FoundFile")
]


def test_every_optional_field_of_a_request_may_be_null() -> None:
    assert len(REQUESTS) >= 12
    for model in REQUESTS:
        for name, field in model.model_fields.items():
            if not field.is_required():
                TypeAdapter(field.rebuild_annotation()).validate_json("null")
                assert field.default is None, f"{model.__name__}.{name}"


@pytest.mark.parametrize(
    "fields",
    [
        {"filters": {}},
        {"filters": {"type": "and", "filters": []}},
        {"filters": {"type": "or", "filters": [{"type": "and", "filters": []}]}},
        {"filters": {"type": "and", "filters": [{}]}},
        {"filters": {"type": "or", "filters": [{}]}},
        {"filters": {"type": "or", "filters": [{}, {"type": "eq", "key": "year", "value": 1}]}},
        {"filters": {"type": "and", "filters": [{}, {"type": "eq", "key": "year", "value": 2024}]}},
        {"filters": {"type": "and", "filters": [{"type": "or", "filters": [{}]}, {}]}},
        {"filters": {"type": "and", "filters": [{"type": "gt", "key": "year", "value": 1.0}]}},
        {"ranking_options": {"ranker": "none", "hybrid_search": None}},
        {"ranking_options": {"hybrid_search": {"embedding_weight": 3, "text_weight": 1}}},
        {"ranking_options": {"hybrid_search": {"embedding_weight": 0, "text_weight": 0.5}}},
        {"ranking_options": {}, "rewrite_query": None, "max_num_results": None, "filters": None},
    ],
)
async def test_what_asks_for_nothing_unusual_is_found(ana: Caller, fields: dict[str, Any]) -> None:
    await ana.put("a", "The annual leave is 25 days.", source="wiki", metadata={"year": 2024})

    answer = await ana.call(
        "POST", "/v1/vector_stores/wiki/search", json={"query": "annual leave", **fields}
    )

    assert [found["file_id"] for found in answer.json()["data"]] == ["a"]


@pytest.mark.parametrize(
    "filters",
    [
        {"type": "and", "filters": [{}, {"type": "eq", "key": "year", "value": 1}]},
        {"type": "or", "filters": [{"type": "eq", "key": "year", "value": 1}]},
    ],
)
async def test_an_empty_condition_widens_no_other(ana: Caller, filters: dict[str, Any]) -> None:
    await ana.put("a", "The annual leave is 25 days.", source="wiki", metadata={"year": 2024})

    answer = await ana.call(
        "POST", "/v1/vector_stores/wiki/search", json={"query": "leave", "filters": filters}
    )

    assert answer.json()["data"] == []


async def test_lists_are_read_in_both_directions(ana: Caller, client: AsyncOpenAI) -> None:
    for number in range(5):
        await client.files.create(file=(f"{number}.md", b"a"), purpose="assistants")

    for order in ("asc", "desc"):
        path = f"/v1/files?order={order}"
        ids = [file["id"] for file in (await ana.call("GET", path)).json()["data"]]
        pages = [
            (await ana.call("GET", f"{path}&limit=2&before={before}")).json()
            for before in (ids[4], ids[2], ids[1], ids[0])
        ]

        assert [[file["id"] for file in page["data"]] for page in pages] == [
            ids[2:4], ids[0:2], ids[0:1], []
        ]  # fmt: skip
        assert [page["has_more"] for page in pages] == [True, False, False, False]
        assert (pages[0]["first_id"], pages[0]["last_id"]) == (ids[2], ids[3])


async def test_stores_and_their_files_are_read_upwards_too(
    ana: Caller, client: AsyncOpenAI
) -> None:
    stores = [await client.vector_stores.create(name=str(number)) for number in range(3)]
    files = []
    for number in range(3):
        file = await client.files.create(file=(f"{number}.md", b"a"), purpose="assistants")
        await client.vector_stores.files.create_and_poll(file.id, vector_store_id=stores[0].id)
        files.append(file.id)

    for path, ids in (
        ("/v1/vector_stores", [store.id for store in stores]),
        (f"/v1/vector_stores/{stores[0].id}/files", files),
    ):
        page = (await ana.call("GET", f"{path}?order=asc&before={ids[2]}&limit=1")).json()
        assert ([item["id"] for item in page["data"]], page["has_more"]) == ([ids[1]], True)


async def test_weights_of_a_hybrid_search_are_those_of_meaning_and_words(ana: Caller) -> None:
    await ana.put("words", "Leave leave leave.", source="wiki")
    await ana.put("both", "The annual leave is 25 days.", source="wiki")
    scores = []
    for meaning, words in ((1.0, 0.0), (0.0, 1.0), (3.0, 1.0)):
        weights = {"embedding_weight": meaning, "text_weight": words}
        body = {"query": "annual leave", "ranking_options": {"hybrid_search": weights}}
        answer = await ana.call("POST", "/v1/vector_stores/wiki/search", json=body)
        same: dict[str, Any] = {"top_k": 10, "alpha": meaning / (meaning + words)}
        filters = {"sources": ["wiki"]}
        expected = (await ana.search("annual leave", filter=filters, **same)).json()["hits"]
        scores.append([found["score"] for found in answer.json()["data"]])
        assert scores[-1] == [hit["score"] for hit in expected]

    assert scores[0] != scores[1] != scores[2]


@pytest.mark.parametrize(
    ("path", "fields", "param"),
    [
        ("wiki/search", {"query": "x", "filters": {"type": "or", "filters": []}}, "filters"),
        (
            "wiki/search",
            {
                "query": "x",
                "ranking_options": {"hybrid_search": {"embedding_weight": 0, "text_weight": 0}},
            },
            "ranking_options",
        ),
        ("", {"expires_after": {"anchor": "created_at", "days": 7}}, "expires_after"),
        ("", {"metadata": {"a": ["b"]}}, "metadata"),
    ],
)
async def test_what_means_nothing_is_refused(
    ana: Caller, path: str, fields: dict[str, Any], param: str
) -> None:
    answer = await ana.call("POST", f"/v1/vector_stores/{path}".rstrip("/"), json=fields)

    assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)


async def test_a_store_keeps_scalars_as_text_and_says_that_it_does_not_expire(
    client: AsyncOpenAI,
) -> None:
    metadata: Any = {"n": 1, "share": 0.5, "is_draft": True, "none": None, "text": "é"}

    store = await client.vector_stores.create(
        name="v", metadata=metadata, expires_after={"anchor": "last_active_at", "days": 7}
    )
    changed = await client.vector_stores.update(
        store.id, expires_after={"anchor": "last_active_at", "days": 1}
    )

    kept = {"n": "1", "share": "0.5", "is_draft": "true", "text": "é"}
    assert (store.metadata, changed.metadata) == (kept, kept)
    assert (store.expires_after, changed.expires_after, changed.expires_at) == (None, None, None)


async def test_an_empty_file_is_kept_and_has_no_text(client: AsyncOpenAI) -> None:
    store = await client.vector_stores.create(name="v")
    file = await client.files.create(file=("e.txt", b""), purpose="assistants")

    attached = await client.vector_stores.files.create_and_poll(
        vector_store_id=store.id, file_id=file.id
    )

    assert await (await client.files.content(file.id)).aread() == b""
    assert attached.last_error is not None
    assert (attached.status, attached.last_error.message) == ("failed", "e.txt has no text.")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("﻿Käse".encode("utf-16-le"), "Käse"),
        ("Der Käse aus Österreich".encode("cp1252"), "Der Käse aus Österreich"),
        (b"caf\xc3\xa9 and a stray \xff byte", "café and a stray � byte"),
    ],
)
async def test_a_text_of_any_encoding_is_read(
    client: AsyncOpenAI, content: bytes, text: str
) -> None:
    store = await client.vector_stores.create(name="v")

    attached = await client.vector_stores.files.upload_and_poll(
        vector_store_id=store.id, file=("notes.txt", content)
    )

    page = await client.vector_stores.files.content(attached.id, vector_store_id=store.id)
    assert page.data[0].text == text


async def test_models_are_those_that_make_the_vectors(client: AsyncOpenAI) -> None:
    (model,) = (await client.models.list()).data

    assert (await client.models.retrieve(model.id)).id == model.id
    with pytest.raises(openai.NotFoundError, match="does not search with this model"):
        await client.models.retrieve("gpt-0")


async def test_what_does_not_exist_is_told_to_each_client_in_its_form(
    gateway: Gateway, client: AsyncOpenAI
) -> None:
    with pytest.raises(openai.NotFoundError, match="This path does not exist") as refused:
        await client.embeddings.create(model="m", input="x")
    other = await gateway.operator.call("POST", "/v1/embeddings", json={})

    assert (refused.value.type, refused.value.code) == ("invalid_request_error", "not_found")
    assert other.headers["content-type"] == "application/problem+json"
