"""Each answer to a write says from which revision on answers contain it."""

from typing import Any

import httpx2
import orjson
import pytest

from tests.gateway.support.gateways import Caller

pytestmark = pytest.mark.anyio


def number(answer: httpx2.Response) -> int:
    return int(answer.headers["nearhit-revision"].partition(";")[0])


async def sees(caller: Caller, revision: str, query: str = "leave") -> list[str]:
    """The documents of an answer at the revision or a later one."""
    answer = await caller.call(
        "POST",
        "/v1/search",
        json={"query": query},
        headers={"Nearhit-Min-Revision": revision},
    )
    assert answer.status_code == 200, answer.text
    return [hit["document_id"] for hit in answer.json()["hits"]]


async def test_a_write_a_share_and_a_deletion_say_their_revisions(ana: Caller, ben: Caller) -> None:
    body = {"text": "Everybody has 25 days of leave."}
    put = await ana.call("PUT", "/v1/documents/leave", json=body)
    same = await ana.call("PUT", "/v1/documents/leave", json=body)
    assert await sees(ben, put.headers["nearhit-revision"]) == []

    shared = await ana.call("PATCH", "/v1/documents/leave/access", json={"readers": ["user:ben"]})
    assert await sees(ben, shared.headers["nearhit-revision"]) == ["leave"]
    public = await ana.call("PATCH", "/v1/documents/leave/access", json={"readers": ["public"]})
    deleted = await ana.call("DELETE", "/v1/documents/leave")
    assert await sees(ben, deleted.headers["nearhit-revision"]) == []

    answers = (put, same, shared, public, deleted)
    assert [number(answer) for answer in answers] == [1, 1, 2, 3, 4]
    for answer in answers:
        assert answer.json()["revision"] == number(answer)
    assert ";public=" not in shared.headers["nearhit-revision"]
    assert ";public=" in public.headers["nearhit-revision"]
    assert len({answer.headers["nearhit-revision"][-11:] for answer in answers}) == 1


async def test_each_line_of_a_batch_says_its_revision(ana: Caller) -> None:
    same = {"document_id": "one", "text": "Text of one."}
    await ana.put("one", "Text of one.")
    lines: list[dict[str, Any]] = [same, {"document_id": "two", "text": "Text of two."}]

    answer = await ana.call(
        "POST",
        "/v1/documents/batch",
        content=b"\n".join(map(orjson.dumps, lines)),
        headers={"Content-Type": "application/x-ndjson"},
    )

    results = [orjson.loads(line) for line in answer.text.splitlines()]
    assert [result["min_revision"].partition(";of=")[0] for result in results] == ["1", "2"]
    assert await sees(ana, results[1]["min_revision"], "text of two") != []


@pytest.mark.thorough
async def test_files_of_vector_stores_say_their_revisions(ana: Caller) -> None:
    ids = []
    for name in ("one.txt", "two.txt", "three.txt"):
        uploaded = await ana.call(
            "POST",
            "/v1/files",
            files={"file": (name, f"Leave of {name}.".encode())},
            data={"purpose": "assistants"},
        )
        ids.append(uploaded.json()["id"])
    store = await ana.call("POST", "/v1/vector_stores", json={"file_ids": ids[:1]})
    path = f"/v1/vector_stores/{store.json()['id']}"
    attached = await ana.call("POST", f"{path}/files", json={"file_id": ids[1]})
    together = await ana.call("POST", f"{path}/file_batches", json={"file_ids": ids[2:]})
    changed = await ana.call("POST", f"{path}/files/{ids[1]}", json={"attributes": {"year": 2025}})
    detached = await ana.call("DELETE", f"{path}/files/{ids[1]}")
    deleted = await ana.call("DELETE", f"/v1/files/{ids[0]}")
    removed = await ana.call("DELETE", path)
    empty = await ana.call("POST", "/v1/vector_stores", json={})

    answers = (store, attached, together, changed, detached, deleted, removed)
    assert [answer.status_code for answer in answers] == [200] * 7
    assert [number(answer) for answer in answers] == [1, 2, 3, 4, 5, 6, 7]
    assert await sees(ana, removed.headers["nearhit-revision"]) == []
    assert "nearhit-revision" not in empty.headers


async def test_a_setting_that_changes_answers_says_its_revision(ana: Caller, admin: Caller) -> None:
    await ana.put("leave", "Everybody has 25 days of leave.", readers=["tenant"])

    confidence = await admin.call("PUT", "/v1/confidence", json={"score_min": 0.9})

    assert number(confidence) == 2


@pytest.mark.thorough
async def test_what_reads_the_primary_says_so(ana: Caller) -> None:
    await ana.put("leave", "Everybody has 25 days of leave.")
    for path in ("/v1/documents/leave", "/v1/documents"):
        answer = await ana.call("GET", path)

        assert answer.headers["nearhit-consistency"] == "strong"
