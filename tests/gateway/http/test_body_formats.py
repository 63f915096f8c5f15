"""Bodies of another type, and JSON that is none or that two readers read differently."""

import gzip
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.extensions.embedded_servers.owned_servers import Servers
from gateway.http.route import ApiRoute
from index.search.query_embedder import Embedder
from tests.conftest import fresh_settings
from tests.database_copies import DatabaseCopies
from tests.gateway.support.gateways import Gateway, problem, running
from tests.gateway.support.routes import ROUTES

pytestmark = pytest.mark.anyio

QUERY = b'{"query": "leave"}'
JSON_CALLS = [
    call
    for call in ROUTES
    if call.body is not None and (call.body_type or call.media_type) == "application/json"
]
MALFORMED = {
    "no JSON": b"query=leave",
    "nothing": b"",
    "more than one value": b'{"query": "leave"} {}',
    "a byte order mark": b'\xef\xbb\xbf{"query": "leave"}',
    "invalid UTF-8": b'{"query": "caf\xe9"}',
    "UTF-16": '{"query": "leave"}'.encode("utf-16"),
    "half a pair of surrogates": rb'{"query": "\ud800"}',
    "a name twice": b'{"query": "leave", "query": "travel"}',
    "a name twice within": b'{"query": "leave", "filter": {"metadata": {"a": 1, "a": 2}}}',
    "a name twice, once escaped": rb'{"query": "leave", "qu\u0065ry": "travel"}',
    "NaN": b'{"query": "leave", "min_score": NaN}',
    "Infinity": b'{"query": "leave", "min_score": Infinity}',
    "-Infinity": b'{"query": "leave", "min_score": -Infinity}',
    "10,000 lists in each other": b"[" * 10_000 + b"]" * 10_000,
    "10,000 objects in each other": b'{"":' * 10_000 + b"1" + b"}" * 10_000,
    "an integer of 10,000 digits": b'{"query": "leave", "top_k": ' + b"9" * 10_000 + b"}",
    "a control character": b'{"query": "a\x01b"}',
}


@pytest.fixture(scope="module")
async def gateway(
    servers: Servers, databases: DatabaseCopies, embedder: Embedder
) -> AsyncIterator[Gateway]:
    async with fresh_settings(servers, databases) as settings:
        # A call that needs a language model says so before it looks at the body.
        model = {"chat_model": "none", "chat_base_url": "http://127.0.0.1:1"}
        async with running(settings.model_copy(update=model), embedder) as made:
            await made.tenant("acme")
            yield made


def path_of(call: ApiRoute[Any]) -> str:
    return call.path.replace("{tenant}", "acme").replace("{name}", "greetings").replace(":path", "")


class TestJson:
    @pytest.mark.sampled("no JSON")
    @pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED.keys())
    async def test_what_is_no_json_that_all_read_alike_is_refused_by_every_call(
        self, gateway: Gateway, body: bytes
    ) -> None:
        admin = await gateway.caller("ada", roles=["admin"])
        for call in JSON_CALLS:
            if call.path.endswith("/rotate") and not body:
                continue  # it needs no body
            caller = gateway.operator if call.needs == "operator" else admin

            answer = await caller.call(call.method, path_of(call), content=body)

            is_too_large = answer.status_code == 413  # some calls take but a few bytes
            assert is_too_large or answer.status_code == 400, (call.path, answer.text)
            assert is_too_large or "byte order" in answer.text or "JSON" in answer.text

    async def test_the_problem_says_where_and_shows_nothing_that_was_sent(
        self, gateway: Gateway
    ) -> None:
        ana = await gateway.caller("ana")
        body = b'{"query": "leave", "nh_secret": 1, "nh_secret": 2}'

        refused = problem(await ana.call("POST", "/v1/search", content=body), 400)

        assert refused["detail"] == (
            "Invalid JSON: an object has a duplicate name, at line 1 column 48"
        )

    @pytest.mark.parametrize("number", ["1e999", "-1e999", "1e400"])
    async def test_a_number_beyond_all_floats_is_refused_by_field(
        self, gateway: Gateway, number: str
    ) -> None:
        ana = await gateway.caller("ana")
        for body, field in (
            (f'{{"query": "leave", "min_score": {number}}}', "min_score"),
            (f'{{"query": "leave", "filter": {{"metadata": {{"a": {number}}}}}}}', "metadata"),
        ):
            refused = problem(await ana.call("POST", "/v1/search", content=body), 422)

            assert field in refused["errors"][0]["field"]

    async def test_a_line_of_a_batch_is_refused_by_itself(self, gateway: Gateway) -> None:
        ana = await gateway.caller("ana")
        lines = [
            b'{"document_id": "a", "text": "A"}',
            b'{"document_id": "b", "text": "B", "text": "C"}',
            b'\xef\xbb\xbf{"document_id": "c", "text": "C"}',
        ]

        answer = await ana.call("POST", "/v1/documents/batch", content=b"\n".join(lines))

        statuses = [b'"status":400' in line for line in answer.content.splitlines()]
        assert statuses == [False, True, True]


class TestTypes:
    @pytest.mark.parametrize(
        "media_type",
        [
            "text/plain",
            "application/xml",
            "multipart/form-data; boundary=x",
            "application/octet-stream",
            "application/jsonp",
            "json",
            "application/json; charset=utf-16",
            "application/json; charset=latin-1",
        ],
    )
    async def test_another_type_is_refused(self, gateway: Gateway, media_type: str) -> None:
        ana = await gateway.caller("ana")

        answer = await ana.call(
            "POST", "/v1/search", content=QUERY, headers={"Content-Type": media_type}
        )

        problem(answer, 415)

    @pytest.mark.parametrize(
        "media_type",
        [
            "application/json",
            "Application/JSON; Charset=UTF-8",
            'application/json; charset="utf-8"',
            "application/problem+json",
            "application/x-www-form-urlencoded",
            "",
        ],
    )
    async def test_json_is_taken_by_all_its_names_and_as_curl_sends_it(
        self, gateway: Gateway, media_type: str
    ) -> None:
        ana = await gateway.caller("ana")
        headers = {"Content-Type": media_type} if media_type else {}

        answer = await ana.call("POST", "/v1/search", content=QUERY, headers=headers)

        assert answer.status_code == 200, answer.text

    async def test_a_compressed_body_is_refused(self, gateway: Gateway) -> None:
        ana = await gateway.caller("ana")
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}

        answer = await ana.call("POST", "/v1/search", content=gzip.compress(QUERY), headers=headers)

        problem(answer, 415)

    async def test_every_call_refuses_another_type(self, gateway: Gateway) -> None:
        admin = await gateway.caller("ada", roles=["admin"])
        headers = {"Content-Type": "text/plain"}
        for call in JSON_CALLS:
            caller = gateway.operator if call.needs == "operator" else admin

            answer = await caller.call(call.method, path_of(call), content=b"{}", headers=headers)

            assert answer.status_code == 415, (call.path, answer.text)

    async def test_a_batch_is_taken_as_lines_of_json(self, gateway: Gateway) -> None:
        ana = await gateway.caller("ana")
        line = b'{"document_id": "a", "text": "A"}'
        for media_type, status in (
            ("application/x-ndjson", 200),
            ("application/jsonl", 200),
            ("text/csv", 415),
        ):
            headers = {"Content-Type": media_type}
            answer = await ana.call("POST", "/v1/documents/batch", content=line, headers=headers)

            assert answer.status_code == status, answer.text
