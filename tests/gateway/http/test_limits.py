"""Bodies and parameters just beyond a limit are refused; at the limit they are taken."""

import re
import time
import traceback
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.bodies import content, schemas
from gateway.documents.document_schemas import DocumentBody
from gateway.extensions._gates.query_gate_store import GATES_MAX
from gateway.extensions.embedded_servers.owned_servers import Servers
from gateway.problems.problems import Problem
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.conftest import fresh_settings
from tests.database_copies import DatabaseCopies
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.support.raw_http import ask_raw, head
from tests.gateway.support.routes import ROUTES

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

DAY_S = 86_400
CROWDED = "0 3 * * " + "1," * 46 + "1"  # 101 characters that cron takes
FOLDER = {"kind": "folder", "settings": {"path": "wiki"}}


@pytest.fixture(scope="module")
async def gateway(
    servers: Servers, databases: DatabaseCopies, embedder: Embedder
) -> AsyncIterator[Gateway]:
    async with fresh_settings(servers, databases) as settings, running(settings, embedder) as made:
        await made.tenant("acme")
        yield made


@pytest.fixture(scope="module")
async def admin(gateway: Gateway) -> Caller:
    return await gateway.caller("ada", roles=["reader", "writer", "admin"])


def names(number: int) -> list[str]:
    return [f"n{each}" for each in range(number)]


def document(**fields: Any) -> tuple[str, str, dict[str, Any]]:
    return "PUT", "/v1/documents/a", {"text": "x", **fields}


def search(**fields: Any) -> tuple[str, str, dict[str, Any]]:
    return "POST", "/v1/search", {"query": "x", **fields}


def strategy(parameters: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
    return "PUT", "/v1/strategies/s", {"parameters": parameters, "plan": {}}


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (search(filter={"sources": names(257)}), "filter.sources"),
        (search(filter={"tags_any": ["x" * 513]}), "filter.tags_any.0"),
        (search(max_staleness_ms=3_600_001), "max_staleness_ms"),
        (search(document_hits_max=2**31), "document_hits_max"),
        (document(title="x" * 301), "title"),
        (document(source="x" * 129), "source"),
        (document(language="en-" + "x" * 33), "language"),
        (document(tags=["x" * 129]), "tags.0"),
        (document(metadata={"a": "x" * 4_097}), "metadata.a"),
        (document(metadata={"x" * 129: 0}), f"metadata.{'x' * 129}.[key]"),
        (document(owner="x" * 129), "owner"),
        (document(chunker="x" * 33), "chunker"),
        (("POST", "/v1/keys", {"subject": "ana", "groups": names(257)}), "groups"),
        (("POST", "/v1/tokens", {"groups": names(257)}), "groups"),
        (("POST", "/v1/tokens", {"expires_in_s": 30 * DAY_S + 1}), "expires_in_s"),
        (("POST", "/v1/keys/k/rotate", {"overlap_s": 90 * DAY_S + 1}), "overlap_s"),
        (("PUT", "/v1/gates/shop", {"open": names(1_001)}), "open"),
        (("PUT", "/v1/gates/shop", {"closed": ["x" * 101]}), "closed.0"),
        (strategy({name: {"type": "boolean"} for name in names(33)}), "parameters"),
        (
            strategy({"a": {"type": "string", "characters_max": 2_001}}),
            "parameters.a.characters_max",
        ),
        (("PUT", "/v1/confidence", {"sources": dict.fromkeys(names(1_001), 0.5)}), "sources"),
        (("PUT", "/v1/confidence", {"fallback": "x" * 20_001}), "fallback"),
        (("PUT", "/v1/search/questions/recording", {"kept_days": 93}), "kept_days"),
        (("PUT", "/v1/sources/w", {**FOLDER, "schedule": CROWDED}), "schedule"),
        (("GET", "/v1/jobs?limit=101", None), "limit"),
        (("GET", "/v1/audit/log?limit=101", None), "limit"),
        (("GET", "/v1/usage?from=2025-01-01&to=2026-01-02", None), "to"),
    ],
)
async def test_a_value_beyond_its_limit_is_refused_by_the_name_of_its_field(
    admin: Caller, request_: tuple[str, str, dict[str, Any] | None], field: str
) -> None:
    method, path, body = request_

    answer = await admin.call(method, path, json=body)

    problem = answer.json()
    assert (answer.status_code, problem["type"]) == (422, "urn:nearhit:problem:invalid-field")
    assert field in [error["field"] for error in problem["errors"]]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"file_ids": names(501)}, "file_ids"),
        ({"metadata": dict.fromkeys(names(17), "x")}, "metadata"),
        ({"metadata": {"a": "x" * 513}}, "metadata"),
        (
            {
                "chunking_strategy": {
                    "type": "static",
                    "static": {"max_chunk_size_tokens": 4_097, "chunk_overlap_tokens": 0},
                }
            },
            "chunking_strategy",
        ),
    ],
)
async def test_a_vector_store_beyond_a_limit_is_refused_by_the_name_of_its_field(
    admin: Caller, body: dict[str, Any], field: str
) -> None:
    answer = await admin.call("POST", "/v1/vector_stores", json=body)

    assert (answer.status_code, answer.json()["error"]["param"]) == (400, field)


async def test_a_tenant_has_no_more_gates_than_its_limit(admin: Caller) -> None:
    gates = [f"gate{number}" for number in range(GATES_MAX)]
    taken = [await admin.call("PUT", f"/v1/gates/{name}", json={"open": ["a"]}) for name in gates]

    refused = await admin.call("PUT", "/v1/gates/more", json={"open": ["a"]})
    again = await admin.call("PUT", f"/v1/gates/{gates[0]}", json={"open": ["b"]})

    assert {answer.status_code for answer in taken} == {200}
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:nearhit:problem:conflict")
    assert again.status_code == 200


BODIES = [call for call in ROUTES if call.body is not None or call.body_type]
SENT_BYTES_MAX = 4_194_304  # longer bodies, of batches and uploads, would take seconds to send


async def test_a_body_beyond_the_limit_of_its_call_is_refused(
    gateway: Gateway, admin: Caller
) -> None:
    settings = Settings()

    for call in BODIES:
        caller = gateway.operator if call.needs == "operator" else admin
        path = re.sub(r"{[^}]+}", "x", call.path)
        bytes_max = call.body_bytes_max(settings)
        length = f"Content-Length: {bytes_max + 1}".encode()
        request = head(caller, length, method=call.method.encode(), path=path.encode())
        refused = await ask_raw(gateway, request)
        assert refused.status == 413, path
        if bytes_max <= SENT_BYTES_MAX:
            read = await caller.call(call.method, path, content=b" " * bytes_max)
            assert read.status_code != 413, (path, read.text)


@pytest.mark.parametrize(("levels", "status"), [(201, 422), (202, 400)])
async def test_a_body_is_nested_no_deeper_than_its_limit(
    admin: Caller, levels: int, status: int
) -> None:
    answer = await admin.call("POST", "/v1/search", content=b"[" * levels + b"]" * levels)

    assert answer.status_code == status


FEW, MANY_PARTS, MANY_VALUES = 9_000, content.PARTS_MAX, content.VALUES_MAX + 1
OF_MANY = {
    "few objects": (422, b'{"a":0},' * FEW),
    "objects": (400, b'{"a":0},' * MANY_PARTS),
    "lists": (400, b"[]," * MANY_PARTS),
    "lists in lists": (400, (b"[" * 100 + b"]" * 100 + b",") * (MANY_PARTS // 100)),
    "numbers": (400, b"0," * MANY_VALUES),
    "texts": (400, b'"",' * MANY_VALUES),
    "texts of marks": (422, rb'"\\\"[[{{::,,",' * FEW),
}


@pytest.mark.parametrize(("status", "items"), OF_MANY.values(), ids=OF_MANY.keys())
async def test_a_body_has_so_many_values_and_no_more(
    admin: Caller, status: int, items: bytes
) -> None:
    answer = await admin.call(
        "POST", "/v1/context/check", content=b'{"passages": [' + items + b"0]}"
    )

    assert answer.status_code == status, answer.text
    assert status == 422 or f"{content.PARTS_MAX:,} objects" in answer.text


def test_no_body_of_a_document_takes_the_event_loop_for_long() -> None:
    """Decoding 4 MB of nested lists took 1 to 9 s, of which a refusal may take none."""
    body = b'{"text": "x", "metadata": {"a": [' + b"[]," * 1_390_000 + b"0]}}"
    started_s = time.thread_time()

    with pytest.raises(Problem, match="malformed"):
        schemas.parse(DocumentBody, body)

    assert time.thread_time() - started_s < 0.2  # 0.02 s


def test_the_problem_of_a_body_does_not_keep_what_was_sent() -> None:
    with pytest.raises(Problem) as refused:
        schemas.parse(DocumentBody, b'{"text": "x", "metadata": {"a": [[], []]}}')

    problem = refused.value
    assert problem.__context__ is None
    assert not any(
        "sent" in frame.f_locals for frame, _ in traceback.walk_tb(problem.__traceback__)
    )
