"""What a subject has made and is no document: a token sees and changes only what was made with it.

Every route that a reader or a writer may call is listed here. A new one fails the first test until
somebody has said whose things it shows.
"""

from collections.abc import Mapping
from typing import Any

import httpx2
import pytest

from tests.gateway.support.gateways import Caller, Gateway, problem
from tests.gateway.support.routes import ROUTES

pytestmark = pytest.mark.anyio

STORES = "/v1/vector_stores"
FILES_OF_STORE = f"{STORES}/{{vector_store_id}}/files"
FILE_OF_STORE = f"{FILES_OF_STORE}/{{file_id:path}}"
BATCH = f"{STORES}/{{vector_store_id}}/file_batches/{{batch_id}}"
LATER = {"Prefer": "respond-async"}

# By route, which of the things its list names.
LISTS: Mapping[str, str] = {
    "GET /v1/jobs": "job_id",
    "GET /v1/tokens": "key_id",
    "GET /v1/files": "file_id",
    "GET /v1/subscriptions": "subscription_id",
    f"GET {FILES_OF_STORE}": "attached_id",
    f"GET {BATCH}/files": "attached_id",
}
# By route, the body that it needs. The path or the body names a thing.
NAMED: Mapping[str, Any] = {
    "GET /v1/jobs/{job_id}": None,
    "DELETE /v1/tokens/{key_id}": None,
    "GET /v1/files/{file_id}": None,
    "GET /v1/files/{file_id}/content": None,
    "DELETE /v1/files/{file_id}": None,
    "GET /v1/subscriptions/{subscription_id}": None,
    "GET /v1/subscriptions/{subscription_id}/events": None,
    "POST /v1/subscriptions/{subscription_id}/webhook/rotate": None,
    "DELETE /v1/subscriptions/{subscription_id}": None,
    f"GET {FILE_OF_STORE}": None,
    f"GET {FILE_OF_STORE}/content": None,
    f"POST {FILE_OF_STORE}": {"attributes": {}},
    f"DELETE {FILE_OF_STORE}": None,
    f"GET {BATCH}": None,
    f"POST {FILES_OF_STORE}": {"file_id": "{file_id}"},
    f"POST {STORES}/{{vector_store_id}}/file_batches": {"file_ids": ["{file_id}"]},
}
NOT_OF_A_SUBJECT: Mapping[str, tuple[str, ...]] = {
    "documents, which owner and readers admit": (
        "POST /v1/search",
        "POST /v1/search/batch",
        "POST /v1/search/plan",
        "POST /v1/search/why-not",
        "POST /v1/answer",
        "POST /v1/context/check",
        "POST /v1/context/events",
        "POST /v1/evaluation/answers",
        "POST /v1/evaluation/questions",
        "POST /mcp",
        "GET /v1/documents",
        "POST /v1/documents/batch",
        "PUT /v1/conversations/{document_id:path}",
        "POST /v1/conversations/{document_id:path}",
        "GET /v1/documents/{document_id:path}",
        "PUT /v1/documents/{document_id:path}",
        "DELETE /v1/documents/{document_id:path}",
        "PATCH /v1/documents/{document_id:path}/access",
        "POST /v1/documents/{document_id:path}/ratify",
        f"POST {STORES}/{{vector_store_id:path}}/search",
    ),
    "vector stores, which have owners and readers too": (
        f"GET {STORES}",
        f"GET {STORES}/{{vector_store_id}}",
        f"POST {STORES}/{{vector_store_id}}",
        f"DELETE {STORES}/{{vector_store_id}}",
    ),
    "the gateway's": ("GET /v1/models", "GET /v1/models/{model}"),
    "the tenant's": (
        "GET /v1/strategies",
        "GET /v1/strategies/{name}",
        "POST /v1/sources/{source:path}/wait",
    ),
    "the caller alone, or what it sends": (
        "GET /v1/caller",
        "POST /v1/compress",
        "POST /v1/evaluation/comparison",
        "POST /v1/feedback",
        "POST /v1/tokens",
        "POST /v1/files",
        "POST /v1/subscriptions",
        f"POST {STORES}",
    ),
}


def test_it_is_said_of_every_route_whose_things_it_shows() -> None:
    routes = [
        f"{route.method} {route.path}" for route in ROUTES if route.needs in ("reader", "writer")
    ]
    listed = [*LISTS, *NAMED, *(name for names in NOT_OF_A_SUBJECT.values() for name in names)]

    assert sorted(listed) == sorted(routes)


async def token_of(caller: Caller, **fields: Any) -> tuple[str, Caller]:
    """The identifier of a new token, and its holder."""
    answer = await caller.call("POST", "/v1/tokens", json=fields)
    assert answer.status_code == 201, answer.text
    return answer.json()["id"], Caller(caller.client, answer.json()["token"])


async def upload(caller: Caller, text: bytes) -> str:
    files = {"file": ("leave.txt", text), "purpose": (None, "assistants")}
    answer = await caller.call("POST", "/v1/files", files=files)
    assert answer.status_code == 200, answer.text
    file_id: str = answer.json()["id"]
    return file_id


async def make_things(caller: Caller) -> dict[str, str]:
    """One thing of each kind; the attached file is so long that its document waits for a worker."""
    queued = await caller.call("PUT", "/v1/documents/d", json={"text": "Leave."}, headers=LATER)
    deliver = {"webhook": {"url": "https://hooks.example/"}}
    body = {"search": {"query": "leave"}, "deliver": deliver}
    subscribed = await caller.call("POST", "/v1/subscriptions", json=body)
    store = await caller.call("POST", STORES, json={"name": "s"})
    file_id = await upload(caller, b"A leave. ")
    attached_id = await upload(caller, b"Annual leave, at length. " * 12_000)
    path = f"{STORES}/{store.json()['id']}/file_batches"
    batch = await caller.call("POST", path, json={"file_ids": [attached_id]})
    assert batch.status_code == 200, batch.text
    return {
        "job_id": queued.json()["job_id"],
        "key_id": (await token_of(caller))[0],
        "file_id": file_id,
        "subscription_id": subscribed.json()["id"],
        "attached_id": attached_id,
        "vector_store_id": store.json()["id"],
        "batch_id": batch.json()["id"],
    }


async def call(caller: Caller, route: str, things: Mapping[str, str]) -> httpx2.Response:
    method, _, path = route.partition(" ")
    if path.startswith(FILE_OF_STORE):
        path = path.replace("{file_id:path}", "{attached_id}")
    body = NAMED.get(route)
    if body is not None:
        body = {
            name: [things["file_id"]] if name == "file_ids" else things["file_id"]
            for name in body
            if name != "attributes"
        } or body
    return await caller.call(method, path.format(**things), json=body)


def named_in(answer: httpx2.Response) -> set[str]:
    """The identifiers that a list names."""
    lists = [each for each in answer.json().values() if isinstance(each, list)]
    return {each.get("id") or each.get("job_id") for each in lists[0]}


@pytest.mark.parametrize(
    "fields", [{}, {"read_only": True}, {"scopes": ["tenant"]}], ids=["equal", "read", "narrow"]
)
async def test_a_token_neither_sees_nor_changes_what_was_made_without_it(
    gateway: Gateway, fields: dict[str, Any]
) -> None:
    ana = await gateway.caller("ana")
    things = await make_things(ana)
    _, agent = await token_of(ana, **fields)
    store_path = f"{STORES}/{things['vector_store_id']}"

    for route, thing in LISTS.items():
        answer = await call(agent, route, things)
        is_refused = answer.status_code in (403, 404)
        assert is_refused or things[thing] not in named_in(answer), route
    for route in NAMED:
        assert (await call(agent, route, things)).status_code in (403, 404), route

    for route, thing in LISTS.items():
        assert things[thing] in named_in(await call(ana, route, things)), route
    assert (await ana.call("GET", store_path)).status_code == 200
    content = await ana.call("GET", f"/v1/files/{things['file_id']}/content")
    assert content.content == b"A leave. "


async def test_a_token_sees_and_changes_what_was_made_with_it_and_its_descendants(
    gateway: Gateway,
) -> None:
    ana = await gateway.caller("ana")
    _, parent = await token_of(ana)
    _, child = await token_of(parent)
    _, sibling = await token_of(ana)
    things = await make_things(child)

    for route, thing in LISTS.items():
        for caller in (ana, parent, child):
            assert things[thing] in named_in(await call(caller, route, things)), route
        assert things[thing] not in named_in(await call(sibling, route, things)), route

    for kind, thing in (
        ("subscriptions", "subscription_id"),
        ("tokens", "key_id"),
        ("files", "file_id"),
    ):
        path = f"/v1/{kind}/{things[thing]}"
        assert (await sibling.call("DELETE", path)).status_code == 404, path
        assert (await parent.call("DELETE", path)).is_success, path


async def test_a_read_only_token_ends_the_subscription_that_it_made(gateway: Gateway) -> None:
    _, reader = await token_of(await gateway.caller("ana"), read_only=True)
    made = await reader.call("POST", "/v1/subscriptions", json={"search": {"query": "leave"}})
    path = f"/v1/subscriptions/{made.json()['id']}"

    assert (await reader.call("GET", path)).status_code == 200
    assert (await reader.call("DELETE", path)).status_code == 204
    problem(await reader.call("GET", path), 404)


async def test_the_url_of_a_webhook_is_shown_whole_when_it_is_made_and_never_again(
    gateway: Gateway,
) -> None:
    ana = await gateway.caller("ana")
    deliver = {"webhook": {"url": "https://hooks.example:8443/services/T0/SECRET?token=SECRET"}}

    made = await ana.call(
        "POST", "/v1/subscriptions", json={"search": {"query": "leave"}, "deliver": deliver}
    )
    path = f"/v1/subscriptions/{made.json()['id']}"
    shown = await ana.call("GET", path)
    listed = await ana.call("GET", "/v1/subscriptions")

    assert made.json()["webhook"]["url"] == deliver["webhook"]["url"]
    assert shown.json()["webhook"]["url"] == "https://hooks.example:8443/…"
    assert "SECRET" not in shown.text + listed.text
