"""Lists of documents over HTTP: each page full."""

from urllib.parse import quote

import pytest

from gateway.documents import document_endpoints
from tests.gateway.documents.handbook import LEAVE, People, listed
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio


async def test_a_list_goes_page_by_page_in_the_order_of_identifiers(ana: Caller) -> None:
    identifiers = sorted([f"d/{n}" for n in range(5)] + ["Zebra", "ärger", "a b", "日本"])
    for document_id in reversed(identifiers):
        await ana.put(quote(document_id), f"Text of {document_id}")

    pages: list[list[str]] = []
    cursor: str | None = ""
    while cursor is not None:
        parameters = {"limit": 4, "cursor": cursor}
        answer = (await ana.call("GET", "/v1/documents", params=parameters)).json()
        pages.append([document["document_id"] for document in answer["documents"]])
        cursor = answer["cursor"]

    assert pages == [identifiers[:4], identifiers[4:8], identifiers[8:]]


async def test_a_full_last_page_has_no_cursor(ana: Caller) -> None:
    for document_id in ("a", "b"):
        await ana.put(document_id, LEAVE)

    answer = (await ana.call("GET", "/v1/documents", params={"limit": 2})).json()

    assert len(answer["documents"]) == 2
    assert answer["cursor"] is None


async def test_a_page_is_filled_with_what_the_caller_may_read(people: People) -> None:
    for number in range(6):
        readers = ["user:ben"] if number % 2 else []
        await people.ana.put(f"d{number}", LEAVE, readers=readers)

    answer = (await people.ben.call("GET", "/v1/documents", params={"limit": 2})).json()

    assert [document["document_id"] for document in answer["documents"]] == ["d1", "d3"]
    assert await listed(people.ben, cursor=answer["cursor"]) == ["d5"]


async def test_a_document_that_goes_while_a_list_is_read_disturbs_no_page(ana: Caller) -> None:
    for document_id in "abcd":
        await ana.put(document_id, LEAVE)
    first = (await ana.call("GET", "/v1/documents", params={"limit": 2})).json()

    await ana.call("DELETE", "/v1/documents/b")

    assert await listed(ana, cursor=first["cursor"]) == ["c", "d"]


async def test_a_list_can_be_of_one_source(ana: Caller) -> None:
    await ana.put("a", LEAVE, source="wiki")
    await ana.put("b", LEAVE, source="mail")
    await ana.put("c", LEAVE, source="wiki")

    assert await listed(ana, source="wiki") == ["a", "c"]
    assert await listed(ana, source="wiki", cursor="a") == ["c"]
    assert await listed(ana, source="WIKI") == []
    assert await listed(ana) == ["a", "b", "c"]


async def test_a_list_can_be_of_a_folder_a_tag_or_a_language(ana: Caller) -> None:
    await ana.put("hr/a", LEAVE, tags=["leave", "2025"])
    await ana.put("hr/b_%", LEAVE, language="pt")
    await ana.put("it/c", LEAVE, tags=["leave"], language="pt")

    assert await listed(ana, prefix="hr/") == ["hr/a", "hr/b_%"]
    assert await listed(ana, prefix="hr/", cursor="hr/a") == ["hr/b_%"]
    assert await listed(ana, prefix="%") == await listed(ana, prefix="hr/b__") == []
    assert await listed(ana, tag="leave") == ["hr/a", "it/c"]
    assert await listed(ana, language="pt") == ["hr/b_%", "it/c"]
    assert await listed(ana, language="pt", tag="leave", source="api", prefix="it") == ["it/c"]


async def test_a_list_is_counted_as_its_caller_sees_it(
    ana: Caller, ben: Caller, gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, source in (("hr/a", "wiki"), ("hr/b", "mail"), ("it/c", "wiki")):
        await ana.put(name, LEAVE, source=source, readers=["user:ben"] if name == "hr/a" else [])

    async def total(caller: Caller, **parameters: str) -> int:
        answer = await caller.call(
            "GET", "/v1/documents", params={"total": "true", "limit": 1, **parameters}
        )
        counted: int = answer.json()["total"]
        return counted

    assert await total(ana) == await total(ana, cursor="hr/b") == 3
    assert await total(ana, prefix="hr/") == await total(ana, source="wiki") == 2
    assert await total(ben) == 1
    assert "total" not in (await ana.call("GET", "/v1/documents")).json()
    refused = await ana.call("GET", "/v1/documents?total=yes")
    assert problem(refused, 422)["errors"][0]["field"] == "total"
    monkeypatch.setattr(document_endpoints, "_COUNTED_MAX", 2)
    assert await total(ana) == 2


async def test_a_token_that_sees_one_language_lists_no_other(gateway: Gateway, ana: Caller) -> None:
    await ana.put("en", LEAVE)
    await ana.put("pt", LEAVE, language="pt")
    body = {"filter": {"languages": ["pt"]}}
    token = (await ana.call("POST", "/v1/tokens", json=body)).json()["token"]
    narrow = Caller(gateway.client, token)

    assert await listed(narrow) == await listed(narrow, language="pt") == ["pt"]
    assert await listed(narrow, language="en") == []


@pytest.mark.parametrize("parameter", ["cursor", "source", "prefix", "language", "tag"])
async def test_a_list_is_not_asked_for_what_no_document_can_hold(
    ana: Caller, parameter: str
) -> None:
    answer = await ana.call("GET", "/v1/documents", params={parameter: "nul\0"})

    assert problem(answer, 422)["errors"][0]["field"] == parameter
