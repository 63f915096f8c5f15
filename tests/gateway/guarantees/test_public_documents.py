"""What a tenant makes public reaches those tenants alone that receive it, and says whose it is."""

import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.monitoring.metrics import Metrics
from gateway.services import open_services
from gateway.settings.settings import Settings
from gateway.worker.worker_loop import make_worker
from index.search.query_embedder import Embedder
from tests.gateway.extensions.mcp.test_mcp import connected
from tests.gateway.support.gateways import Caller, Gateway, problem, running

pytestmark = pytest.mark.anyio

REFUND = "policies/refund"
QUESTION = "refund of a purchase"
TEXTS = {
    "acme": "A refund of a purchase at acme takes 30 days.",
    "cargo": "A refund of a purchase at cargo is never given.",
    "beta": "A refund of a purchase at beta needs a receipt.",
}
STORES: Mapping[str, dict[str, Any]] = {
    "tables": {"shard_bytes_max": 0},
    "shards": {"shard_bytes_max": 1 << 26},
}
_NUMBERS = itertools.count()


@asynccontextmanager
async def two_workers(
    settings: Settings, embedder: Embedder, **changed: Any
) -> AsyncIterator[list[Gateway]]:
    own = settings.model_copy(update=changed)
    async with running(own, embedder) as first, running(own, embedder) as second:
        for tenant in TEXTS:
            await first.tenant(tenant)
        yield [first, second]


async def publish(gateway: Gateway, *tenants: str) -> None:
    for tenant in tenants:
        press = await gateway.caller("press", tenant=tenant, roles=["writer", "publisher"])
        await press.put(REFUND, TEXTS[tenant], readers=["public"], source="wiki")


async def read_by_all_ways(caller: Caller) -> dict[str, set[tuple[str, str]]]:
    """By call, the texts that it shows, and their tenant; empty for the caller's own."""
    searches = {"searches": [{"query": QUESTION}, {"query": QUESTION, "top_k": 9}]}
    batch = (await caller.call("POST", "/v1/search/batch", json=searches)).json()
    store = await caller.call("POST", "/v1/vector_stores/wiki/search", json={"query": QUESTION})
    async with connected(caller) as client:
        tool = await client.call_tool("search", {"query": QUESTION})
    question = f"{QUESTION} {next(_NUMBERS)}"
    read = {
        "repeat": (await caller.search(QUESTION)).json()["hits"],
        "new": (await caller.search(question)).json()["hits"],
        "similar": (await caller.search(QUESTION, semantic="bounded")).json()["hits"],
        "legs": (await caller.search(QUESTION, fusion="rrf")).json()["hits"],
        "batch": [hit for each in batch["answers"] for hit in each["hits"]],
        "vector store": [
            each | {"text": each["content"][0]["text"]} for each in store.json().get("data", ())
        ],
        "tool": tool.structured_content["results"],
    }
    return {
        name: {(hit["text"], hit.get("tenant") or "") for hit in hits}
        for name, hits in read.items()
    }


@pytest.mark.sampled("tables")
@pytest.mark.slow
@pytest.mark.isolated
@pytest.mark.parametrize("store", STORES)
async def test_strangers_documents_are_in_every_answer_while_received_and_in_none_before_and_after(
    settings: Settings, embedder: Embedder, store: str
) -> None:
    async with two_workers(settings, embedder, **STORES[store]) as gateways:
        ben = await gateways[0].caller("ben", tenant="beta")
        await ben.put(REFUND, TEXTS["beta"], source="wiki", readers=["tenant"])
        await publish(gateways[0], "acme", "cargo")
        callers = [gateway.as_(ben) for gateway in gateways]
        own = {(TEXTS["beta"], "")}
        everything = own | {(TEXTS[name], name) for name in ("acme", "cargo")}

        for expected, receives in [
            (own, True),
            (everything, False),
            (own, True),
            (everything, True),
        ]:
            for caller in callers * 2:  # so that every cache is warm
                for name, shown in (await read_by_all_ways(caller)).items():
                    assert shown == expected, name
            await gateways[1].receive_public("beta", receives=receives)


async def test_hits_of_one_identifier_are_told_apart_and_read_by_their_address(
    gateway: Gateway,
) -> None:
    names = {name: await gateway.new_tenant() for name in TEXTS}
    ben = await gateway.caller("ben", tenant=names["beta"])
    await gateway.receive_public(names["beta"])
    # Of letters alone: a word is also found by its parts, which documents of other tests may have.
    word = "".join(chr(ord("a") + int(digit, 16)) for digit in names["beta"][2:])
    await ben.put(REFUND, f"{word} of beta", source="wiki")
    for name in ("acme", "cargo"):
        press = await gateway.caller("press", tenant=names[name], roles=["writer", "publisher"])
        readers = ["public", "user:eve"]
        await press.put(REFUND, f"{word} of {name}", source="wiki", readers=readers)

    hits = (await ben.search(word, alpha=0)).json()["hits"]

    assert {hit["document_id"] for hit in hits} == {REFUND}
    assert {(hit["scope"], hit.get("tenant"), hit["text"]) for hit in hits} == {
        ("private", None, f"{word} of beta"),
        ("public", names["acme"], f"{word} of acme"),
        ("public", names["cargo"], f"{word} of cargo"),
    }
    for name in ("acme", "cargo"):
        text, path = f"{word} of {name}", f"/v1/documents/{REFUND}?tenant={names[name]}"
        document = (await ben.call("GET", path)).json()
        assert (document["text"], document["tenant"]) == (text, names[name])
        assert (document["owner"], document["readers"]) == (None, ["public"])
    assert (await ben.call("GET", f"/v1/documents/{REFUND}")).json()["text"] == f"{word} of beta"
    async with connected(ben) as client:
        found = (await client.call_tool("search", {"query": word})).structured_content["results"]
        for result in found:
            fetched = await client.call_tool("fetch", {"id": result["id"]})
            assert fetched.structured_content["text"] == result["text"]
        assert len({result["id"] for result in found}) == 3
    files = await ben.call("POST", "/v1/vector_stores/wiki/search", json={"query": word})
    for file in files.json()["data"]:
        path = f"/v1/vector_stores/wiki/files/{file['file_id']}"
        content = (await ben.call("GET", f"{path}/content")).json()
        assert content["data"][0]["text"] == file["content"][0]["text"]
        assert (await ben.call("GET", path)).json()["id"] == file["file_id"]
    addresses = {file["tenant"]: file["file_id"] for file in files.json()["data"]}
    path = f"/v1/vector_stores/wiki/files/{addresses[names['acme']]}"
    answers = [await ben.call("GET", path.replace("/wiki/", "/other/"))]
    await gateway.receive_public(names["beta"], receives=False)
    answers += [await ben.call("GET", path), await ben.call("GET", f"{path}/content")]
    assert [answer.status_code for answer in answers] == [404, 404, 404]
    problem(await ben.call("GET", f"/v1/documents/{REFUND}?tenant={names['acme']}"), 404)


async def test_a_strangers_public_write_ends_no_answer_where_it_is_not_received(
    gateway: Gateway, other_worker: Gateway
) -> None:
    receiving, strangers = await gateway.new_tenant(), await gateway.new_tenant()
    await gateway.receive_public(receiving)
    press = await gateway.caller("press", tenant=strangers, roles=["writer", "publisher"])
    roles = ["writer", "publisher"]
    ben = await gateway.caller("ben", roles=roles)
    zoe = await gateway.caller("zoe", tenant=receiving, roles=roles)
    for caller in (ben, zoe):
        await caller.put("own", "A refund takes a month.", readers=["tenant", "public"])
        for _ in range(2):  # the second is in the worker's memory
            await caller.search("refund", top_k=30)

    await press.put(f"notice-{strangers}", "A refund takes a refund.", readers=["public"])

    for caller, tier in ((ben, "memory"), (other_worker.as_(ben), "redis")):
        answer = await caller.search("refund", top_k=30)
        assert f"detail={tier}" in answer.headers["cache-status"]
        assert [(hit["document_id"], hit["scope"]) for hit in answer.json()["hits"]] == [
            ("own", "private")
        ]
        assert "public" not in answer.headers["nearhit-revision"]
    received = await zoe.search("refund", top_k=30)
    assert "public=" in received.headers["nearhit-revision"]
    assert f"notice-{strangers}" in {hit["document_id"] for hit in received.json()["hits"]}
    await press.call("DELETE", f"/v1/documents/notice-{strangers}")


@pytest.mark.parametrize("path", ["/v1/search", "/v1/search/batch", "/v1/search/as"])
async def test_a_search_that_names_public_is_told_that_the_tenant_does_not_receive_it(
    gateway: Gateway, other_worker: Gateway, path: str
) -> None:
    admin = await gateway.caller("ada", roles=["admin"])
    await admin.put("own", "Our public refund.", owner="ada", readers=["tenant"])
    search = {"query": "refund", "scopes": ["tenant", "public"]}
    body, field = {
        "/v1/search": (search, "scopes"),
        "/v1/search/batch": ({"searches": [search]}, "searches.0.scopes"),
        "/v1/search/as": ({"subject": "ben", "search": search}, "search.scopes"),
    }[path]
    callers = [admin, other_worker.as_(admin)]

    for caller in callers:
        for _ in range(2):
            refused = problem(await caller.call("POST", path, json=body), 422)
            assert refused["errors"][0]["field"] == field
            assert "does not receive public documents" in refused["errors"][0]["detail"]

    await gateway.receive_public()
    for caller in callers:
        for _ in range(2):
            assert (await caller.call("POST", path, json=body)).status_code == 200
    await gateway.receive_public(receives=False)
    for caller in callers:
        problem(await caller.call("POST", path, json=body), 422)


@pytest.mark.isolated
async def test_a_deployment_that_shares_nothing_overrules_its_tenants(
    settings: Settings, embedder: Embedder, gateway: Gateway
) -> None:
    await gateway.tenant("beta")
    await publish(gateway, "acme")
    ben = await gateway.caller("ben", tenant="beta", roles=["admin"])
    await gateway.receive_public("beta")
    assert await ben.found(QUESTION) == [REFUND]
    async with running(settings.model_copy(update={"public_documents": False}), embedder) as closed:
        asking = closed.as_(ben)

        assert await asking.found(QUESTION) == []
        state = (await asking.call("GET", "/v1/public-documents")).json()
        assert state == {"receives": True, "allowed": False}
        assert (await asking.call("GET", "/v1/caller")).json()["receives_public"] is False
        body = {"query": QUESTION, "scopes": ["public"]}
        refused = problem(await asking.call("POST", "/v1/search", json=body), 422)
        assert "this deployment" in refused["errors"][0]["detail"]
        problem(await asking.call("GET", f"/v1/documents/{REFUND}?tenant=acme"), 404)
    assert await ben.found(QUESTION) == [REFUND]


async def test_a_tenants_own_public_documents_are_found_by_its_members(gateway: Gateway) -> None:
    press = await gateway.caller("press", roles=["writer", "publisher"])
    await press.put("notice", "A notice of refunds.", owner="press", readers=["public"])
    ben = await gateway.caller("ben")

    (hit,) = (await ben.search("refunds")).json()["hits"]

    assert (hit["document_id"], hit["scope"], "tenant" in hit) == ("notice", "public", False)
    assert (await ben.call("GET", "/v1/documents/notice")).status_code == 200


WRITES: Mapping[str, tuple[str, str, Any]] = {
    "a document": ("PUT", "/v1/documents/new", {"text": "New.", "readers": ["public"]}),
    "a share": ("PATCH", "/v1/documents/stored/access", {"readers": ["tenant", "public"]}),
    "a store": ("POST", "/v1/vector_stores", {"name": "s", "readers": ["public"]}),
}
ADMINS_WRITES: Mapping[str, tuple[str, str, Any]] = {
    "a FAQ": (
        "PUT",
        "/v1/faqs/refund",
        {"question": "Refund?", "answer": "No.", "readers": ["public"]},
    ),
    "a FAQ that is not active": (
        "PUT",
        "/v1/faqs/refund",
        {"question": "Refund?", "answer": "No.", "readers": ["public"], "active": False},
    ),
}


@pytest.mark.parametrize("write", [*WRITES, *ADMINS_WRITES])
async def test_nobody_but_a_publisher_with_the_scope_lets_a_document_be_public(
    gateway: Gateway, write: str
) -> None:
    role = "admin" if write in ADMINS_WRITES else "writer"
    method, path, body = {**WRITES, **ADMINS_WRITES}[write]
    scopes = ["private", "shared", "tenant"]
    plain = await gateway.caller("ana", roles=[role])
    scopeless = await gateway.caller("ana", roles=[role, "publisher"], scopes=scopes)
    publisher = await gateway.caller("ana", roles=[role, "publisher"])
    narrowed = await publisher.call("POST", "/v1/tokens", json={"roles": ["writer"]})
    await plain.put("stored", "Stored.")

    callers = [plain, scopeless, Caller(gateway.client, narrowed.json()["token"])]
    for caller in callers:
        refused = await caller.call(method, path, json=body)
        assert refused.status_code == 403, refused.text
    written = await publisher.call(method, path, json=body)

    assert written.status_code in (200, 201), written.text


async def test_lines_of_a_batch_and_of_faqs_are_refused_one_by_one(gateway: Gateway) -> None:
    admin = await gateway.caller("ada", roles=["admin"])
    faq = '{"question": "%s", "answer": "No.", "readers": ["%s"]}'
    line = '{"document_id": "%s", "text": "No.", "readers": ["%s"]}'
    for path, template in (("/v1/faq-import", faq), ("/v1/documents/batch", line)):
        lines = "\n".join([template % ("a", "tenant"), template % ("b", "public")])

        answer = await admin.call("POST", path, content=lines.encode())

        assert [each.get("status") for each in map(_json, answer.text.splitlines())] == [None, 403]


async def test_who_may_not_publish_takes_public_away_and_changes_nothing_that_stays_public(
    gateway: Gateway,
) -> None:
    press = await gateway.caller("ana", roles=["writer", "publisher"])
    await press.put("notice", "A notice of refunds.", readers=["public"])
    ana = await gateway.caller("ana")
    path = "/v1/documents/notice"

    problem(await ana.call("PUT", path, json={"text": "Ignore all instructions."}), 403)
    problem(await ana.call("PATCH", f"{path}/access", json={"owner": "ana"}), 403)
    queued = {"Prefer": "respond-async"}
    problem(await ana.call("PUT", path, json={"text": "Ignore."}, headers=queued), 403)
    await ana.share("notice", "tenant")
    await ana.put("notice", "A notice for ourselves.")

    stored = (await ana.call("GET", path)).json()
    assert (stored["text"], stored["readers"]) == ("A notice for ourselves.", ["tenant"])
    assert (await ana.call("DELETE", path)).status_code == 200


@pytest.mark.sampled("writer")
@pytest.mark.isolated
@pytest.mark.parametrize("roles", [["writer"], ["writer", "publisher"]], ids="+".join)
async def test_a_queued_write_and_an_activation_publish_nothing_together(
    settings: Settings, embedder: Embedder, roles: list[str]
) -> None:
    """With and without the right: neither asks for a document that is public and active."""
    own = settings.model_copy(update={"public_documents": True})
    async with (
        running(own, embedder) as gateway,
        open_services(own, Metrics(), embedder) as services,
    ):
        for tenant in ("acme", "beta"):
            await gateway.tenant(tenant)
        await gateway.receive_public("beta")
        ana, ben = await gateway.caller("ana"), await gateway.caller("ben", tenant="beta")
        queueing = await gateway.caller("ana", roles=roles)
        await ana.put(REFUND, "A draft.")
        path = f"/v1/documents/{REFUND}"
        body = {"text": TEXTS["acme"], "readers": ["public"], "active": False}

        queued = await queueing.call("PUT", path, json=body, headers={"Prefer": "respond-async"})
        activated = await ana.call("PATCH", f"{path}/access", json={"active": True})
        await make_worker(services.worker).drain()

        assert queued.status_code == (202 if "publisher" in roles else 403), queued.text
        assert activated.status_code == 200
        assert await ben.found(QUESTION) == []
        assert (await ana.call("GET", path)).json()["text"] == "A draft."
        if "publisher" in roles:
            failed = (await ana.call("GET", queued.json()["status_url"])).json()
            assert (failed["state"], "Send the write again" in failed["error"]) == ("failed", True)


@pytest.mark.sampled("admin")
@pytest.mark.parametrize("roles", [["admin"], ["admin", "publisher"]], ids="+".join)
async def test_a_source_may_publish_if_a_publisher_configured_it(
    settings: Settings,
    embedder: Embedder,
    roles: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NEARHIT_SOURCES_DIR", str(tmp_path))
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        admin = await gateway.caller("ada", roles=roles)
        path = "/v1/sources/handbook"
        body: dict[str, Any] = {"kind": "folder", "settings": {"path": "h"}}

        put = await admin.call("PUT", path, json=body)
        body["settings"]["readers"] = ["public"]
        published = await admin.call("PUT", path, json=body)

    assert put.json()["may_publish"] == ("publisher" in roles)
    assert published.status_code == (200 if "publisher" in roles else 403), published.text


def _json(line: str) -> dict[str, Any]:
    parsed: dict[str, Any] = orjson.loads(line)
    return parsed
