"""Questions without a sure answer wait for an admin, who answers or dismisses them."""

import asyncio
from typing import Any

import asyncpg
import pytest

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, Gateway, problem, running

pytestmark = pytest.mark.anyio

LEAVE = "Everybody gets 25 days of leave."


async def set_to(admin: Caller, **confidence: Any) -> None:
    answer = await admin.call("PUT", "/v1/confidence", json=confidence)
    assert answer.status_code == 200, answer.text


async def items(admin: Caller, state: str = "open") -> list[dict[str, Any]]:
    answer = await admin.call("GET", f"/v1/curation?state={state}")
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


async def kept(admin: Caller, count: int) -> list[dict[str, Any]]:
    """The open items, once so many are."""
    async with asyncio.timeout(60):
        while len(found := await items(admin)) != count:
            await asyncio.sleep(0.05)
    return found


@pytest.mark.slow
async def test_unsure_questions_are_kept_once_each_and_not_who_asked(
    ana: Caller, gateway: Gateway, admin: Caller
) -> None:
    await ana.put("leave", LEAVE)
    await set_to(admin, score_min=0.99)
    for query in ("Days of leave?", "days of  LEAVE?", "Days of leave?", "Lamps?"):
        await ana.search(query)

    leave, lamps = await kept(admin, 2)

    assert (leave["count"], lamps["count"]) == (3, 1)
    assert [hit["document_id"] for hit in leave["hits"]] == ["leave"]
    assert set(leave["hits"][0]) == {"chunk_id", "document_id", "score", "tenant"}
    assert "ana" not in {str(value) for value in leave.values()}


@pytest.mark.slow
async def test_without_a_threshold_nothing_is_kept(ana: Caller, admin: Caller) -> None:
    await ana.put("leave", LEAVE)
    await ana.search("zorvexal", alpha=0.0)
    await set_to(admin, score_min=0.99)
    await ana.search("Lamps?")

    assert [item["question"] for item in await kept(admin, 1)] == ["Lamps?"]


@pytest.mark.slow
async def test_an_answer_makes_a_document_that_is_found(ana: Caller, admin: Caller) -> None:
    await set_to(admin, score_min=0.3)
    assert (await ana.search("Who lights the lamps?")).json()["low_confidence"] is True
    (item,) = await kept(admin, 1)

    body = {"answer": "The keeper of the harbour does."}
    path = f"/v1/curation/{item['item_id']}/resolve"
    settled = await admin.call("POST", path, json=body)

    assert settled.json()["state"] == "resolved"
    assert await ana.found("Who lights the lamps?") == [settled.json()["document_id"]]
    assert "low_confidence" not in (await ana.search("Who lights the lamps?")).json()
    assert await items(admin) == []
    assert problem(await admin.call("POST", path, json=body), 409)


@pytest.mark.slow
async def test_an_answer_is_filed_as_the_admin_says(
    ana: Caller, ben: Caller, admin: Caller
) -> None:
    await set_to(admin, score_min=0.3)
    long = "lamps" * 100
    for query in (long, "Who lights them?"):
        await ana.search(query)
    of_long, other = sorted(await kept(admin, 2), key=lambda item: item["question"] != long)
    fields = {
        "source": "harbour",
        "language": "pt",
        "tags": ["lamps"],
        "owner": "ana",
        "readers": ["group:sales"],
        "document_id": "faq/lamps",
    }

    for item, more in ((of_long, fields), (other, {"question": "Who is the keeper?"})):
        path = f"/v1/curation/{item['item_id']}/resolve"
        settled = await admin.call("POST", path, json={"answer": "The keeper.", **more})
        assert settled.status_code == 200, settled.text

    document = (await ana.call("GET", "/v1/documents/faq/lamps")).json()
    assert {name: document[name] for name in fields} == fields
    assert document["title"] == long[:300]
    assert (await ben.call("GET", "/v1/documents/faq/lamps")).status_code == 200
    usual = (await ben.call("GET", f"/v1/documents/curation/{other['item_id']}")).json()
    assert (usual["title"], usual["source"]) == ("Who is the keeper?", "curation")
    assert (usual["language"], usual["readers"]) == ("en", ["tenant"])


async def test_an_answer_becomes_a_faq_of_the_category_that_the_admin_names(
    ana: Caller, admin: Caller
) -> None:
    await set_to(admin, score_min=0.99)
    await ana.search("who lights  the\nlamps")
    (item,) = await kept(admin, 1)
    path = f"/v1/curation/{item['item_id']}/resolve"
    body = {"answer": "The keeper.", "faq_category": "harbour"}

    for field, value in (("document_id", "x"), ("owner", "ana"), ("source", "x"), ("tags", ["x"])):
        refused = problem(await admin.call("POST", path, json={**body, field: value}), 422)
        assert refused["errors"][0]["field"] == field
    problem(await admin.call("POST", path, json={**body, "readers": []}), 422)
    await ana.put(f"managed-faqs/{item['item_id']}", "Of Ana.")
    problem(await admin.call("POST", path, json=body), 409)
    await ana.call("DELETE", f"/v1/documents/managed-faqs/{item['item_id']}")
    settled = await admin.call("POST", path, json=body)

    faq = (await admin.call("GET", f"/v1/faqs/{item['item_id']}")).json()
    assert settled.json()["document_id"] == faq["document_id"]
    assert (faq["question"], faq["answer"]) == ("who lights the lamps", "The keeper.")
    assert (faq["category"], faq["active"], faq["readers"]) == ("harbour", True, ["tenant"])


@pytest.mark.slow
async def test_of_many_who_settle_it_at_once_one_does(ana: Caller, admin: Caller) -> None:
    await set_to(admin, score_min=0.99)
    await ana.search("Lamps?")
    (item,) = await kept(admin, 1)
    path = f"/v1/curation/{item['item_id']}/resolve"

    answers = await asyncio.gather(
        *(admin.call("POST", path, json={"dismiss": True}) for _ in range(8))
    )

    assert sorted(each.status_code for each in answers) == [200] + [409] * 7


@pytest.mark.slow
async def test_what_is_dismissed_stays_so_and_what_is_resolved_in_vain_is_open_again(
    ana: Caller, admin: Caller
) -> None:
    await set_to(admin, score_min=0.99)
    for query in ("Lamps?", "Oil?"):
        await ana.search(query)
    bodies = {"Lamps?": {"dismiss": True}, "Oil?": {"answer": "No.", "question": "Gas?"}}
    for item in await kept(admin, 2):
        path = f"/v1/curation/{item['item_id']}/resolve"
        assert (await admin.call("POST", path, json=bodies[item["question"]])).status_code == 200
    for query in ("Lamps?", "Oil?"):
        await ana.search(query)

    (again,) = await kept(admin, 1)

    assert (again["question"], again["count"]) == ("Oil?", 1)
    (dismissed,) = await items(admin, "dismissed")
    assert (dismissed["question"], dismissed["count"]) == ("Lamps?", 2)


@pytest.mark.sampled("curation-0")
@pytest.mark.slow
@pytest.mark.isolated
@pytest.mark.parametrize(("extensions_off", "expected"), [("", 1), ("curation", 0)])
async def test_where_it_is_switched_off_no_question_is_kept(
    settings: Settings, embedder: Embedder, extensions_off: str, expected: int
) -> None:
    update = {"confidence_min": 0.99, "extensions_off": extensions_off}
    async with running(settings.model_copy(update=update), embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        await ana.put("leave", LEAVE)
        assert (await ana.search("Lamps?")).json()["low_confidence"] is True

    assert settings.database_url is not None
    connection = await asyncpg.connect(settings.database_url.get_secret_value())
    try:
        assert await connection.fetchval("SELECT count(*) FROM curation") == expected
    finally:
        await connection.close()


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.isolated
async def test_no_more_are_kept_than_may_be(
    settings: Settings, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEARHIT_CURATION_ITEMS_MAX", "3")
    sure = settings.model_copy(update={"confidence_min": 0.99})
    async with running(sure, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        admin = await gateway.caller("ada", roles=["admin"])
        for number in range(7):
            await ana.search(f"Lamp {number}?")
        await kept(admin, 3)


@pytest.mark.slow
async def test_items_are_of_their_tenant_and_for_its_admins(
    gateway: Gateway, ana: Caller, admin: Caller
) -> None:
    globex = await gateway.new_tenant()
    eve = await gateway.caller("eve", tenant=globex, roles=["admin"])
    await set_to(admin, score_min=0.99)
    await ana.search("Lamps?")
    (item,) = await kept(admin, 1)

    path = f"/v1/curation/{item['item_id']}/resolve"
    assert await items(eve) == []
    problem(await eve.call("POST", path, json={"dismiss": True}), 404)
    problem(await ana.call("POST", path, json={"dismiss": True}), 403)
    problem(await ana.call("GET", "/v1/curation"), 403)
    problem(await ana.call("PUT", "/v1/confidence", json={}), 403)


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("GET", "/v1/curation?state=lost", None, "state"),
        ("GET", "/v1/curation?cursor=x", None, "cursor"),
        ("POST", "/v1/curation/none/resolve", {}, "answer"),
        ("POST", "/v1/curation/none/resolve", {"answer": "x", "dismiss": True}, "answer"),
        ("POST", "/v1/curation/none/resolve", {"answer": " "}, "answer"),
        ("PUT", "/v1/confidence", {"score_min": 1.1}, "score_min"),
        ("PUT", "/v1/confidence", {"sources": {"wiki": -1}}, "sources.wiki"),
    ],
)
async def test_what_can_not_be_is_refused(
    admin: Caller, method: str, path: str, body: Any, field: str
) -> None:
    answer = await admin.call(method, path, **({} if body is None else {"json": body}))

    assert problem(answer, 422)["errors"][0]["field"] == field


@pytest.mark.thorough
@pytest.mark.slow
async def test_items_come_page_by_page(ana: Caller, admin: Caller) -> None:
    await set_to(admin, score_min=0.99)
    for number in range(103):
        await ana.search(f"Lamp {number}?", scopes=["private"])
    await ana.search("Lamp 7?", scopes=["private"])
    async with asyncio.timeout(60):
        while len(pages := await _pages(admin)) != 2 or sum(map(len, pages)) != 103:
            await asyncio.sleep(0.1)

    assert pages[0][0]["count"] == 2
    assert len({item["item_id"] for page in pages for item in page}) == 103


async def _pages(admin: Caller) -> list[list[dict[str, Any]]]:
    pages, cursor = [], ""
    while True:
        body = (await admin.call("GET", f"/v1/curation?cursor={cursor}")).json()
        pages.append(body["items"])
        if (cursor := body["cursor"]) is None:
            return pages
