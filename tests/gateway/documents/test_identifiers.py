"""Each identifier that can be written can be named in every call below /v1/documents/."""

from urllib.parse import quote

import orjson
import pytest

from tests.gateway.support.gateways import Caller, problem

pytestmark = pytest.mark.anyio

WRITTEN = [
    *("access", "x/access", "access/access", "access/explain", "explain", "x/explain"),
    *("x/access/explain/y", "x/access/explained", "x/access/", "batch", "x/batch"),
    *("a/", "...", "a/.b", "a b?c#d%2F", "ü/ł"),
]
REFUSED = [
    *("x/access/explain", "/access/explain", "x/access/access/explain"),
    *("..", "m/../x", "a/./b", "a//b", "/a", " a", "a\u202eb", "e\u0301"),
]


async def test_what_can_be_written_can_be_read_shared_explained_and_removed(admin: Caller) -> None:
    for document_id in WRITTEN:
        path = f"/v1/documents/{quote(document_id)}"
        written = await admin.put(quote(document_id), "One.")
        shared = await admin.call("PATCH", f"{path}/access", json={"readers": ["user:ben"]})
        explained = await admin.call("GET", f"{path}/access/explain?subject=ben")
        again = await admin.call("PATCH", f"{path}/access", json={"readers": ["user:ada"]})
        read = await admin.call("GET", path)
        removed = await admin.call("DELETE", path)

        for answer in (shared, explained, again, read, removed):
            assert answer.status_code == 200, answer.text
            assert answer.json()["document_id"] == document_id
        assert written["document_id"] == document_id
        assert explained.json()["can_read"] is True
        assert read.json()["text"] == "One."
        problem(await admin.call("GET", path), 404)


async def test_what_no_path_can_name_is_not_written(admin: Caller) -> None:
    for document_id in REFUSED:
        line = orjson.dumps({"document_id": document_id, "text": "One."})
        answer = await admin.call("POST", "/v1/documents/batch", content=line)

        refused = orjson.loads(answer.content)
        assert refused["status"] == 422, document_id
        assert refused["errors"][0]["field"] == "document_id", document_id


@pytest.mark.parametrize("headers", [{}, {"Prefer": "respond-async"}])
async def test_a_path_that_names_another_call_is_not_written(
    admin: Caller, headers: dict[str, str]
) -> None:
    path, body = "/v1/documents/x/access/explain", {"text": "One."}
    refused = problem(await admin.call("PUT", path, json=body, headers=headers), 422)

    assert refused["errors"][0]["field"] == "document_id"
    assert "/access/explain" in refused["errors"][0]["detail"]
