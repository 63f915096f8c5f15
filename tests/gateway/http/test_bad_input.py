"""Bad input: a problem document with the right status and the field's name, and nothing stored."""

import secrets
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from gateway.auth.credentials import bearer
from gateway.extensions.embedded_servers.owned_servers import Servers
from index.search.query_embedder import Embedder
from tests.conftest import fresh_settings
from tests.database_copies import DatabaseCopies
from tests.gateway.support.gateways import Caller, Gateway, problem, running

pytestmark = pytest.mark.anyio

ONE = {"type": "eq", "key": "team", "value": "sales"}


def nested(depth: int) -> dict[str, Any]:
    """Conditions within conditions, so deep."""
    condition: dict[str, Any] = ONE
    for _ in range(depth - 1):
        condition = {"type": "and", "filters": [condition]}
    return condition


def compared(conditions: int, *, values: int) -> dict[str, Any]:
    """Conditions that compare with so many values each."""
    names = [f"v{number}" for number in range(values)]
    one = {"type": "in", "key": "team", "value": names}
    return {"type": "or", "filters": [one] * conditions}


def crowd(number: int) -> dict[str, Any]:
    return {"type": "or", "filters": [ONE] * (number - 1)}


@pytest.fixture(scope="module")
async def gateway(
    servers: Servers, databases: DatabaseCopies, embedder: Embedder
) -> AsyncIterator[Gateway]:
    """One for all tests here: what they send is refused, and each asks for documents of its own."""
    async with fresh_settings(servers, databases) as settings, running(settings, embedder) as made:
        await made.tenant("acme")
        yield made


@pytest.fixture
async def ana(gateway: Gateway) -> Caller:
    """A new tenant's first caller."""
    tenant = f"t-{secrets.token_hex(6)}"
    await gateway.tenant(tenant)
    return await gateway.caller("ana", tenant=tenant)


def assert_problem(answer: httpx2.Response, status: int, field: str | None = None) -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == status
    assert problem["type"].startswith("urn:nearhit:problem:")
    assert problem["title"]
    assert problem["detail"]
    if field is not None:
        assert field in [error["field"] for error in problem["errors"]]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": "   "}, "query"),
        ({"query": 7}, "query"),
        ({"query": "x" * 2_001}, "query"),
        ({"query": "nul \0"}, "query"),
        ({"query": "x", "top_k": 0}, "top_k"),
        ({"query": "x", "top_k": 10**9}, "top_k"),
        ({"query": "x", "top_k": "5"}, "top_k"),
        ({"query": "x", "top_k": 2**64}, "top_k"),
        ({"query": "x", "candidates": 2**64}, "candidates"),
        ({"query": "x", "document_hits_max": 2**64}, "document_hits_max"),
        ({"query": "x", "max_staleness_ms": 2**64}, "max_staleness_ms"),
        ({"query": "x", "history": [{"role": "user", "content": "\0"}]}, "history.0.content"),
        ({"query": "x", "filter": {"metadata": {"a": 2**64}}}, "filter.metadata.a"),
        (
            {"query": "x", "filter": {"attributes": {"type": "eq", "key": "a", "value": 2**64}}},
            "filter.attributes.value",
        ),
        ({"query": "x", "alpha": 1.5}, "alpha"),
        (
            {"query": "x", "filter": {"updated_after": "0001-01-01T00:00:00+14:00"}},
            "filter.updated_after",
        ),
        ({"query": "x", "fusion": "magic"}, "fusion"),
        ({"query": "x", "scopes": []}, "scopes"),
        ({"query": "x", "scopes": ["all"]}, "scopes.0"),
        ({"query": "x", "tenant": "globex"}, "tenant"),
        ({"query": "x", "filter": {"colour": "red"}}, "filter.colour"),
        ({"query": "x", "filter": {"sources": []}}, "filter.sources"),
        ({"query": "x", "filter": {"kinds": []}}, "filter.kinds"),
        ({"query": "x", "filter": {"kinds": ["page"]}}, "filter.kinds.0"),
        ({"query": "x", "summaries": "yes"}, "summaries"),
        ({"query": "x", "filter": {"sources": "wiki"}}, "filter.sources"),
        ({"query": "x", "filter": {"tags_any": ["nul \0"]}}, "filter.tags_any.0"),
        ({"query": "x", "filter": {"updated_after": "yesterday"}}, "filter.updated_after"),
        ({"query": "x", "filter": {"valid_on": "2025-02-30"}}, "filter.valid_on"),
        (
            {"query": "x", "filter": {"updated_after": "2026-01-01T00:00:00"}},
            "filter.updated_after",
        ),
        ({"query": "x", "filter": {"metadata": {"a": {"b": 1}}}}, "filter.metadata.a"),
        ({"query": "x", "filter": {"attributes": nested(60)}}, "filter.attributes"),
        ({"query": "x", "filter": {"attributes": nested(9)}}, "filter.attributes"),
        ({"query": "x", "filter": {"attributes": crowd(65)}}, "filter.attributes"),
        ({"query": "x", "filter": {"attributes": compared(60, values=110)}}, "filter.attributes"),
        ({"query": "x", "filter": {"attributes": compared(5, values=205)}}, "filter.attributes"),
        ({"query": "x", "filter": {"attributes": {"type": "like"}}}, "filter.attributes.type"),
        (
            {"query": "x", "filter": {"attributes": {"type": "eq", "key": "a", "value": None}}},
            "filter.attributes",
        ),
        (
            {"query": "x", "filter": {"attributes": {"type": "in", "key": "a", "value": "b"}}},
            "filter.attributes",
        ),
        (
            {"query": "x", "filter": {"attributes": {"type": "gt", "key": "a", "value": True}}},
            "filter.attributes",
        ),
        (
            {"query": "x", "filter": {"attributes": {"type": "or", "filters": []}}},
            "filter.attributes.filters",
        ),
        ({"query": "x", "max_staleness_ms": -1}, "max_staleness_ms"),
        ({"query": "x", "semantic": "always"}, "semantic"),
    ],
)
async def test_a_bad_search_names_its_field(ana: Caller, body: dict[str, Any], field: str) -> None:
    assert_problem(await ana.call("POST", "/v1/search", json=body), 422, field)


@pytest.mark.parametrize("body", [b"", b"not json", b'{"query": "x"', b'{"query": "\xff\xfe"}'])
@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/v1/search"), ("PUT", "/v1/documents/d"), ("PATCH", "/v1/documents/d/access")],
)
async def test_a_body_that_is_no_json_is_refused(
    ana: Caller, method: str, path: str, body: bytes
) -> None:
    assert_problem(await ana.call(method, path, content=body), 400)


@pytest.mark.parametrize("body", [b"[]", b'"query"', b"null", b"7"])
async def test_a_body_that_is_no_object_is_refused(ana: Caller, body: bytes) -> None:
    assert_problem(await ana.call("POST", "/v1/search", content=body), 422, "body")


async def test_an_infinite_number_is_refused(ana: Caller) -> None:
    """It would be written like the absence of one, and share its answer."""
    answer = await ana.call("POST", "/v1/search", content=b'{"query": "x", "min_score": 1e999}')

    assert_problem(answer, 422, "min_score")


@pytest.mark.thorough
async def test_a_document_of_too_many_chunks_is_refused(ana: Caller) -> None:
    answer = await ana.call("PUT", "/v1/documents/d", json={"text": "# a\n" * 6_000})

    assert_problem(answer, 422, "text")


async def test_a_query_of_a_megabyte_is_refused(ana: Caller) -> None:
    answer = await ana.call("POST", "/v1/search", json={"query": "x" * 1_000_000})

    assert_problem(answer, 413, "body")


async def test_a_body_without_a_length_is_refused_once_it_is_too_long(ana: Caller) -> None:
    async def endless() -> Any:
        for _ in range(200):
            yield b" " * 1_000

    assert_problem(await ana.call("POST", "/v1/search", content=endless()), 413, "body")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "text"),
        ({"text": ""}, "text"),
        ({"text": " \n\t "}, "text"),
        ({"text": 7}, "text"),
        ({"text": "x", "readers": ["everybody"]}, "readers.0"),
        ({"text": "x", "readers": ["user:"]}, "readers.0"),
        ({"text": "x", "readers": ["owner:ben"]}, "readers.0"),
        ({"text": "x", "readers": "tenant"}, "readers"),
        ({"text": "x", "readers": ["user:a b"]}, "readers.0"),
        ({"text": "x", "owner": "a b"}, "owner"),
        ({"text": "x", "language": "klingon language"}, "language"),
        ({"text": "x", "tags": ["line\nbreak"]}, "tags.0"),
        ({"text": "x", "tags": ["t"] * 1_000}, "tags"),
        ({"text": "x", "metadata": {"a": {"b": {}}}}, "metadata.a"),
        ({"text": "x", "title": "t" * 1_000}, "title"),
        ({"text": "x", "tenant": "globex"}, "tenant"),
        ({"text": "x", "colour": "red"}, "colour"),
    ],
)
async def test_a_bad_document_names_its_field_and_is_not_stored(
    ana: Caller, body: dict[str, Any], field: str
) -> None:
    answer = await ana.call("PUT", "/v1/documents/d", json=body)

    assert_problem(answer, 422, field)
    assert (await ana.call("GET", "/v1/documents/d")).status_code == 404


async def test_ten_megabytes_of_text_are_refused(ana: Caller) -> None:
    answer = await ana.call("PUT", "/v1/documents/d", json={"text": "words " * 1_700_000})

    assert_problem(answer, 413, "body")
    assert (await ana.call("GET", "/v1/documents/d")).status_code == 404


@pytest.mark.parametrize(
    "content",
    [
        b'{"text": "caf\xe9 in Latin-1"}',
        b'{"text": "a lone surrogate \\ud800"}',
        '{"text": "x"}'.encode("utf-16"),
    ],
)
async def test_a_text_in_a_broken_encoding_is_refused(ana: Caller, content: bytes) -> None:
    answer = await ana.call("PUT", "/v1/documents/d", content=content)

    assert_problem(answer, 400)
    assert (await ana.call("GET", "/v1/documents/d")).status_code == 404


async def test_an_identifier_with_a_control_character_is_refused(ana: Caller) -> None:
    answer = await ana.call("PUT", "/v1/documents/a%00b", json={"text": "x"})

    assert_problem(answer, 422, "document_id")


async def test_an_unknown_tenant_is_named(gateway: Gateway) -> None:
    body = {"tenant": "nobody", "subject": "ana"}

    assert_problem(await gateway.operator.call("POST", "/v1/keys", json=body), 404, "tenant")


@pytest.mark.parametrize("tenant", ["", "UPPER", "a b", "-a", "a" * 64, "public", "a\x1fb"])
async def test_a_tenant_needs_a_good_and_free_identifier(gateway: Gateway, tenant: str) -> None:
    answer = await gateway.operator.call("POST", "/v1/tenants", json={"id": tenant})

    assert_problem(answer, 422, "id")


async def test_a_tenant_is_created_once(gateway: Gateway) -> None:
    assert_problem(
        await gateway.operator.call("POST", "/v1/tenants", json={"id": "acme"}), 409, "id"
    )


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/search", {"query": "x", "filter": {"tags_any": [1] * 2_000}}),
        ("PUT", "/v1/documents/x", {"text": "x", "tags": [1] * 2_000}),
        ("PUT", "/v1/documents/x", {"text": "x", **{f"{n}": 1 for n in range(2_000)}}),
        ("POST", "/v1/context/check", {"passages": [{f"{n}": 1 for n in range(2_000)}]}),
        ("POST", "/v1/documents/batch", {"document_id": "x", "text": "x", "tags": [1] * 2_000}),
    ],
)
async def test_a_body_of_very_many_errors_is_told_their_number(
    ana: Caller, method: str, path: str, body: dict[str, Any]
) -> None:
    """Describing each takes the event loop so long that others wait: 2.7 s for a million."""
    answer = await ana.call(method, path, json=body)

    result = answer.json()
    assert answer.status_code == (200 if path.endswith("batch") else 422)
    assert [each["field"] for each in result["errors"]] == ["body"]
    assert result["errors"][0]["detail"].startswith("has 2,00")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"subject": "ana"}, "tenant"),
        ({"tenant": "acme"}, "subject"),
        ({"tenant": "acme", "subject": "ana", "roles": ["king"]}, "roles.0"),
        ({"tenant": "acme", "subject": "ana", "groups": ["a b"]}, "groups.0"),
        ({"tenant": "acme", "subject": "ana", "expires_at": "soon"}, "expires_at"),
        ({"tenant": "acme", "subject": "ana", "expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
    ],
)
async def test_a_bad_key_names_its_field(
    gateway: Gateway, body: dict[str, Any], field: str
) -> None:
    assert_problem(await gateway.operator.call("POST", "/v1/keys", json=body), 422, field)


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer nh_wrong", "Basic bmg6", "nh_wrong", "Bearer \xff"],
)
async def test_without_a_valid_key_there_is_no_search(
    gateway: Gateway, authorization: str | None
) -> None:
    headers: dict[bytes, bytes] = {}
    if authorization is not None:
        headers[b"Authorization"] = authorization.encode("latin-1")
    answer = await gateway.client.post("/v1/search", json={"query": "x"}, headers=headers)

    assert_problem(answer, 401)
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("path", ["/v1", "/v2/search", "/v1/searches"])
async def test_an_unknown_path_is_a_problem(ana: Caller, path: str) -> None:
    assert_problem(await ana.call("GET", path), 404)


async def test_an_unknown_method_is_a_problem(ana: Caller) -> None:
    assert_problem(await ana.call("GET", "/v1/search"), 405)


@pytest.mark.parametrize("name", ["cursor", "source"])
async def test_a_list_takes_no_control_characters(ana: Caller, name: str) -> None:
    assert_problem(await ana.call("GET", "/v1/documents", params={name: "\0"}), 422, name)


@pytest.mark.parametrize("header", [b"Bearer ", b"Bearer  ", b"Bearer \t", b"bearer", b""])
def test_an_empty_key_is_no_key(header: bytes) -> None:
    assert bearer(header) is None


@pytest.mark.parametrize("limit", ["0", "-1", "101", "many", "1.5", "٣"])
async def test_a_list_has_a_limit(ana: Caller, limit: str) -> None:
    assert_problem(await ana.call("GET", "/v1/documents", params={"limit": limit}), 422, "limit")


async def test_a_bad_line_of_a_batch_does_not_stop_the_others(ana: Caller) -> None:
    lines = b"\n".join(
        [
            b'{"document_id": "a", "text": "first"}',
            b"not json",
            b'{"document_id": "b"}',
            b'{"document_id": "c", "text": "third"}',
        ]
    )

    answer = await ana.call("POST", "/v1/documents/batch", content=lines)
    results = [httpx2.Response(200, content=line).json() for line in answer.text.splitlines()]

    assert [result.get("status") for result in results] == [None, 400, 422, None]
    assert [result.get("document_id") for result in results] == ["a", None, None, "c"]
    assert results[2]["errors"][0]["field"] == "text"
    assert set(await ana.found("first third")) == {"a", "c"}


async def test_conditions_as_deep_as_they_may_be_are_taken_and_a_bottomless_body_is_refused(
    ana: Caller,
) -> None:
    taken = {"query": "x", "filter": {"attributes": nested(8)}}
    assert (await ana.call("POST", "/v1/search", json=taken)).status_code == 200

    for depth in (100, 2_000):
        deep = b'{"type":"and","filters":[' * depth
        body = b'{"query":"x","filter":{"attributes":%b' % deep
        assert_problem(await ana.call("POST", "/v1/search", content=body), 400)


async def test_a_filter_that_costs_too_much_is_told_what_the_limit_is(ana: Caller) -> None:
    asked = {"query": "x", "filter": {"attributes": compared(4, values=256)}}
    more = {"query": "x", "filter": {"attributes": compared(5, values=205)}}

    taken = await ana.call("POST", "/v1/search", json=asked)
    refused = await ana.call("POST", "/v1/search", json=more)

    assert taken.status_code == 200
    (error,) = refused.json()["errors"]
    assert error["field"] == "filter.attributes"
    assert "at most 1024 values" in error["detail"]


@pytest.mark.parametrize(
    ("method", "path", "fields"),
    [
        ("GET", "/v1/documents?sorce=wiki&limit=1", ["sorce"]),
        ("GET", "/v1/documents?limit=1&limit=2", ["limit"]),
        ("PUT", "/v1/documents/is-it-safe?yes", ["yes"]),
        ("DELETE", "/v1/documents/shared?tenant=other", ["tenant"]),
        ("GET", "/v1/documents?nh_a-key-by-mistake", ["nh_…"]),
    ],
)
async def test_a_parameter_that_a_call_does_not_have_is_refused(
    ana: Caller, method: str, path: str, fields: list[str]
) -> None:
    body = {"text": "Text."} if method == "PUT" else None
    refused = await ana.call(method, path, json=body)

    assert [error["field"] for error in problem(refused, 422)["errors"]] == fields
