"""Documents over HTTP: who may write, share and remove them, how they are named, and listed."""

import asyncio
import secrets
import unicodedata
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any
from urllib.parse import quote

import numpy as np
import orjson
import pytest
from numpy.typing import NDArray

from gateway import documents_wire
from gateway.embedded import Servers
from gateway.settings import Settings
from index.search import Embedder
from tests.conftest import fresh_settings, run_sql
from tests.gateway.gateways import Caller, Gateway, problem, running
from tests.gateway.moody_embedder import MoodyEmbedder

pytestmark = pytest.mark.anyio

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."


@dataclass(frozen=True)
class People:
    """Everybody of one tenant."""

    ana: Caller
    ben: Caller
    eve: Caller
    admin: Caller
    reader: Caller


@pytest.fixture(scope="module")
async def gateway(
    servers: Servers, databases: "asyncio.Queue[str]", embedder: Embedder
) -> AsyncIterator[Gateway]:
    """One for all tests here, each of which has a tenant of its own."""
    async with fresh_settings(servers, databases) as settings, running(settings, embedder) as made:
        yield made


@pytest.fixture
async def people(gateway: Gateway) -> People:
    tenant = f"t-{secrets.token_hex(6)}"
    await gateway.tenant(tenant)
    return People(
        ana=await gateway.caller("ana", tenant=tenant),
        ben=await gateway.caller("ben", tenant=tenant, groups=["sales"]),
        eve=await gateway.caller("eve", tenant=tenant),
        admin=await gateway.caller("ada", tenant=tenant, roles=["admin"]),
        reader=await gateway.caller("rui", tenant=tenant, roles=["reader"]),
    )


@pytest.fixture
def ana(people: People) -> Caller:
    return people.ana


@pytest.fixture
def ben(people: People) -> Caller:
    return people.ben


@pytest.fixture
def admin(people: People) -> Caller:
    return people.admin


async def read(caller: Caller, document_id: str) -> dict[str, Any]:
    answer = await caller.call("GET", f"/v1/documents/{quote(document_id, safe='')}")
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


async def listed(caller: Caller, **parameters: str) -> list[str]:
    answer = await caller.call("GET", "/v1/documents", params=parameters)
    assert answer.status_code == 200, answer.text
    return [document["document_id"] for document in answer.json()["documents"]]


async def batch(caller: Caller, *lines: dict[str, Any]) -> list[dict[str, Any]]:
    content = b"\n".join(map(orjson.dumps, lines))
    answer = await caller.call("POST", "/v1/documents/batch", content=content)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [orjson.loads(line) for line in answer.content.splitlines()]


# What is written is what is read.


async def test_a_document_is_read_as_it_was_written(ana: Caller) -> None:
    written = {
        "title": "Annual leave",
        "text": LEAVE,
        "source": "wiki",
        "uri": "https://wiki.example/leave?a=b#c",
        "language": "pt-BR",
        "tags": ["people", "ação"],
        "metadata": {"team": "sales", "level": 3, "draft": False, "of": None, "also": ["a", 1.5]},
        "owner": "ana",
        "readers": ["group:sales", "tenant"],
        "cut": "tokens:64/16",
        "summaries": "extract",
    }

    await ana.call("PUT", "/v1/documents/leave", json=written)

    assert await read(ana, "leave") == {"document_id": "leave", **written}


async def test_what_is_left_out_of_a_new_document_is_empty_and_its_writers_alone(
    ana: Caller, people: People
) -> None:
    await ana.put("leave", LEAVE)

    assert await read(ana, "leave") == {
        "document_id": "leave",
        "title": "",
        "text": LEAVE,
        "source": "api",
        "uri": "",
        "language": "en",
        "tags": [],
        "metadata": {},
        "owner": "ana",
        "readers": [],
        "cut": "structure",
        "summaries": "none",
    }
    for other in (people.ben, people.eve, people.admin, people.reader):
        problem(await other.call("GET", "/v1/documents/leave"), 404)
        assert await listed(other) == []
        assert await other.found("annual leave") == []


async def test_writing_again_keeps_owner_and_readers_unless_they_are_named(
    ana: Caller, admin: Caller
) -> None:
    await ana.put("leave", LEAVE, readers=["user:ben"], tags=["people"], title="Leave")

    await ana.put("leave", "The next version.")
    left_out = await read(ana, "leave")
    await admin.put("leave", "The admin's version.")
    by_an_admin = await read(ana, "leave")
    await ana.put("leave", "The last version.", readers=[])
    named = await read(ana, "leave")

    assert (left_out["owner"], left_out["readers"]) == ("ana", ["user:ben"])
    assert (left_out["tags"], left_out["title"]) == ([], "")
    assert (by_an_admin["owner"], by_an_admin["readers"]) == ("ana", ["user:ben"])
    assert (named["owner"], named["readers"]) == ("ana", [])


async def test_null_readers_stay_as_they_are(ana: Caller) -> None:
    await ana.put("leave", LEAVE, readers=["user:ben"])

    await ana.put("leave", "The next version.", readers=None)

    assert (await read(ana, "leave"))["readers"] == ["user:ben"]


async def test_a_document_stays_cut_as_it_was_unless_another_cut_is_named(ana: Caller) -> None:
    text = "\n\n".join(f"Message {number}." for number in range(30))
    await ana.put("talk", text, cut="messages:10")

    by_the_same = await ana.put("talk", f"{text}\n\nOne more.")
    refused = await ana.call("PUT", "/v1/documents/talk", json={"text": text, "cut": "tokens:1"})
    whole = await ana.put("talk", text, cut="whole")

    assert by_the_same["chunks"]["kept"] == 3
    assert "cut" in problem(refused, 422)["detail"]
    assert whole["chunks"] == {"added": 1, "kept": 0, "removed": 4, "embedded": 1}


async def test_a_change_of_access_leaves_the_rest_and_what_it_does_not_name(
    ana: Caller, admin: Caller
) -> None:
    await ana.put("leave", LEAVE, title="Leave", tags=["people"], readers=["tenant"])
    before = await read(ana, "leave")

    await admin.call("PATCH", "/v1/documents/leave/access", json={"owner": "ben"})
    given = await read(ana, "leave")
    await admin.call("PATCH", "/v1/documents/leave/access", json={"readers": ["user:ana"]})
    shared = await read(ana, "leave")
    await admin.call("PATCH", "/v1/documents/leave/access", json={"owner": None})
    disowned = await read(ana, "leave")

    assert given == before | {"owner": "ben"}
    assert shared == before | {"owner": "ben", "readers": ["user:ana"]}
    assert disowned == before | {"owner": None, "readers": ["user:ana"]}


# Who may change it.


async def change(caller: Caller, method: str, document_id: str) -> int:
    path = f"/v1/documents/{document_id}"
    if method == "PATCH":
        answer = await caller.call(method, f"{path}/access", json={"readers": ["tenant"]})
    else:
        body = {"text": "Another text."} if method == "PUT" else None
        answer = await caller.call(method, path, json=body)
    if answer.status_code != 200:
        problem(answer, answer.status_code)
    return answer.status_code


@pytest.mark.parametrize(("method", "unreadable"), [("PUT", 409), ("PATCH", 404), ("DELETE", 404)])
async def test_only_its_owner_and_an_admin_change_a_document(
    people: People, method: str, unreadable: int
) -> None:
    for document_id in ("own", "admins"):
        await people.ana.put(document_id, LEAVE, readers=["user:ben"])

    assert await change(people.ben, method, "own") == 403
    assert await change(people.eve, method, "own") == unreadable
    assert await change(people.reader, method, "own") == 403
    assert (await read(people.ana, "own"))["text"] == LEAVE
    assert (await read(people.ana, "own"))["readers"] == ["user:ben"]
    assert await change(people.ana, method, "own") == 200
    assert await change(people.admin, method, "admins") == 200


async def test_a_document_that_nobody_owns_is_changed_by_an_admin_alone(people: People) -> None:
    await people.admin.put("leave", LEAVE, owner=None, readers=["tenant"])

    assert await change(people.ana, "PUT", "leave") == 403
    assert await change(people.ana, "PATCH", "leave") == 403
    assert await change(people.ana, "DELETE", "leave") == 403
    assert await change(people.admin, "DELETE", "leave") == 200


@pytest.mark.parametrize("owner", ["ben", None])
async def test_only_an_admin_makes_somebody_else_or_nobody_the_owner(
    people: People, owner: str | None
) -> None:
    await people.ana.put("leave", LEAVE)
    body = {"text": LEAVE, "owner": owner}

    new = await people.ana.call("PUT", "/v1/documents/new", json=body)
    edit = await people.ana.call("PUT", "/v1/documents/leave", json=body)
    access = await people.ana.call("PATCH", "/v1/documents/leave/access", json={"owner": owner})

    problem(new, 403)
    problem(edit, 403)
    problem(access, 403)
    problem(await people.ana.call("GET", "/v1/documents/new"), 404)
    assert (await read(people.ana, "leave"))["owner"] == "ana"
    assert (await people.admin.put("leave", LEAVE, owner=owner))["document_id"] == "leave"
    assert await listed(people.ben) == (["leave"] if owner == "ben" else [])
    assert await listed(people.ana) == []


async def test_an_owner_may_name_itself(ana: Caller) -> None:
    await ana.put("leave", LEAVE, owner="ana")

    answer = await ana.call("PATCH", "/v1/documents/leave/access", json={"owner": "ana"})

    assert answer.status_code == 200


async def test_who_gave_a_document_away_can_not_take_it_back(people: People) -> None:
    await people.ana.put("leave", LEAVE, readers=["user:ana"])
    await people.admin.call("PATCH", "/v1/documents/leave/access", json={"owner": "ben"})

    answer = await people.ana.call("PATCH", "/v1/documents/leave/access", json={"owner": "ana"})

    problem(answer, 403)


async def test_a_member_of_the_readers_group_reads_and_no_more(people: People) -> None:
    await people.ana.put("leave", LEAVE, readers=["group:sales"])

    assert (await read(people.ben, "leave"))["text"] == LEAVE
    assert await change(people.ben, "PUT", "leave") == 403


# Revisions.


async def test_every_acknowledged_write_says_the_revision_that_it_made(
    ana: Caller, admin: Caller
) -> None:
    access = "/v1/documents/a/access"
    made = [
        (await ana.put("a", "first"))["revision"],
        (await ana.put("b", "second", readers=["group:sales"]))["revision"],
        (await ana.put("a", "third"))["revision"],
        (await ana.put("a", "third", title="A title"))["revision"],
        (await ana.call("PATCH", access, json={"readers": ["tenant"]})).json()["revision"],
        *(line["revision"] for line in await batch(ana, {"document_id": "c", "text": "fourth"})),
        (await ana.call("DELETE", "/v1/documents/a")).json()["revision"],
    ]

    assert made == [1, 2, 3, 4, 5, 6, 7]
    searched = await ana.search("third")
    assert searched.headers["nearhit-revision"].startswith("7;")


@pytest.mark.parametrize(
    "fields", [{}, {"readers": ["user:ben"]}, {"owner": "ana"}, {"title": " Leave "}]
)
async def test_writing_what_is_already_so_makes_no_revision(
    ana: Caller, fields: dict[str, Any]
) -> None:
    before = {"title": "Leave", "readers": ["user:ben"]}
    first = await ana.put("leave", LEAVE, **before)
    await ana.search("annual leave")

    again = await ana.put("leave", LEAVE.replace("\n", "\r\n"), **before | fields)
    access = await ana.call(
        "PATCH", "/v1/documents/leave/access", json={"readers": ["user:ben"], "owner": "ana"}
    )

    assert again["revision"] == access.json()["revision"] == first["revision"]
    assert again["chunks"] == {"added": 0, "kept": 1, "removed": 0, "embedded": 0}
    assert "; hit" in (await ana.search("annual leave")).headers["cache-status"]


async def test_an_edit_embeds_the_changed_section_alone(ana: Caller) -> None:
    sections = [f"# Section {number}\n\nWhat section {number} says." for number in range(4)]
    new = await ana.put("handbook", "\n\n".join(sections))
    sections[2] = "# Section 2\n\nWhat it says now."

    edited = await ana.put("handbook", "\n\n".join(sections))

    assert new["chunks"] == {"added": 4, "kept": 0, "removed": 0, "embedded": 4}
    assert edited["chunks"] == {"added": 1, "kept": 3, "removed": 1, "embedded": 1}


async def test_deleting_twice_finds_nothing_the_second_time(ana: Caller) -> None:
    await ana.put("leave", LEAVE)

    first = await ana.call("DELETE", "/v1/documents/leave")
    second = await ana.call("DELETE", "/v1/documents/leave")

    assert (first.json()["document_id"], first.json()["revision"]) == ("leave", 2)
    problem(second, 404)
    assert (await ana.search("leave")).headers["nearhit-revision"].startswith("2;")


async def test_a_deleted_identifier_is_free_for_anybody(people: People) -> None:
    await people.ana.put("leave", LEAVE, readers=["user:eve"])
    await people.ana.call("DELETE", "/v1/documents/leave")

    await people.ben.put("leave", "Ben's own.")

    assert (await read(people.ben, "leave"))["owner"] == "ben"
    problem(await people.eve.call("GET", "/v1/documents/leave"), 404)
    assert await people.ana.found("leave") == []


async def test_writers_at_once_each_get_a_revision_of_their_own(ana: Caller) -> None:
    answers = await asyncio.gather(*(ana.put(f"d{n % 3}", f"Version {n}.") for n in range(12)))

    assert sorted(answer["revision"] for answer in answers) == list(range(1, 13))


# Identifiers.

IDENTIFIERS = [
    "wiki/people/leave.md",
    "a b",
    "ação/日本語/🙂",
    unicodedata.normalize("NFD", "ação"),
    "100%",
    "%41",
    "a?b=c&d#e",
    "a+b;c,d@e:f!$'()*",
    "leave/access",
    "access",
    "batch",
    "/leading",
    "trailing/",
    "a//b",
    "../up",
    'quote"and\\backslash',
    "https://wiki.example/leave?a=b",
    "x" * 512,
]


@pytest.mark.parametrize("document_id", IDENTIFIERS)
async def test_an_identifier_may_hold_any_character_of_a_line(
    people: People, document_id: str
) -> None:
    path = f"/v1/documents/{quote(document_id, safe='')}"

    written = await people.ana.call("PUT", path, json={"text": LEAVE})
    access = await people.ana.call("PATCH", f"{path}/access", json={"readers": ["user:ben"]})
    got = await read(people.ben, document_id)
    deleted = await people.ana.call("DELETE", path)

    assert written.json()["document_id"] == document_id
    assert access.json() == {"document_id": document_id, "revision": 2}
    assert (got["document_id"], got["text"], got["readers"]) == (document_id, LEAVE, ["user:ben"])
    assert (deleted.json()["document_id"], deleted.json()["revision"]) == (document_id, 3)


async def test_identifiers_that_differ_name_different_documents(ana: Caller) -> None:
    for document_id in IDENTIFIERS:
        path = f"/v1/documents/{quote(document_id, safe='')}"
        await ana.call("PUT", path, json={"text": f"Text of {document_id}"})

    assert await listed(ana) == sorted(IDENTIFIERS)
    for document_id in IDENTIFIERS:
        assert (await read(ana, document_id))["text"].startswith("Text of")


async def test_a_slash_is_the_same_plain_or_encoded(ana: Caller) -> None:
    await ana.put("wiki/leave", LEAVE)

    assert (await ana.call("GET", "/v1/documents/wiki%2Fleave")).json()["text"] == LEAVE


async def test_an_identifier_that_is_no_utf_8_is_refused(ana: Caller) -> None:
    problem(await ana.call("PUT", "/v1/documents/%FF", json={"text": LEAVE}), 422)


async def test_a_line_break_after_an_identifier_does_not_vanish(ana: Caller) -> None:
    await ana.put("leave", LEAVE)

    answer = await ana.call("GET", "/v1/documents/leave%0A")

    assert answer.status_code in (404, 422)


@pytest.mark.parametrize("document_id", ["", "x" * 513, "nul%00", "tab%09", "%C2%80"])
async def test_an_identifier_that_is_no_line_is_refused(ana: Caller, document_id: str) -> None:
    answer = await ana.call("PUT", f"/v1/documents/{document_id}", json={"text": LEAVE})

    assert problem(answer, 422)["errors"][0]["field"] == "document_id"


# Batches.


async def test_a_batch_tells_each_lines_result_in_order(ana: Caller) -> None:
    await ana.put("kept", LEAVE, readers=["user:ben"])

    results = await batch(
        ana,
        {"document_id": "new", "text": "Something new.", "title": "New"},
        {"document_id": "kept", "text": LEAVE},
        {"document_id": "new", "text": "Something newer.", "title": "Newer"},
    )

    assert [result["document_id"] for result in results] == ["new", "kept", "new"]
    assert [result["revision"] for result in results] == [2, 1, 3]
    for result in results:
        documents_wire.WrittenAnswer.model_validate(result)
    assert (await read(ana, "new"))["title"] == "Newer"
    assert (await read(ana, "kept"))["readers"] == ["user:ben"]


async def test_a_batch_line_is_permitted_or_not_like_a_write_of_its_own(people: People) -> None:
    await people.ana.put("readable", LEAVE, readers=["tenant"])
    await people.ana.put("hidden", LEAVE)

    results = await batch(
        people.ben,
        {"document_id": "readable", "text": "Mine now."},
        {"document_id": "hidden", "text": "Mine now."},
        {"document_id": "given", "text": "Yours.", "owner": "ana"},
        {"document_id": "own", "text": "Mine."},
    )

    assert [(result.get("line"), result.get("status")) for result in results] == [
        (1, 403),
        (2, 409),
        (3, 403),
        (None, None),
    ]
    assert await listed(people.ben) == ["own", "readable"]
    assert (await read(people.ana, "readable"))["text"] == LEAVE


async def test_a_batch_is_found_as_soon_as_it_is_told(ana: Caller) -> None:
    await ana.search("handbook", top_k=30)

    await batch(ana, *({"document_id": f"d{n}", "text": f"Handbook {n}"} for n in range(20)))

    assert len(await ana.found("handbook", top_k=30)) == 20


async def test_a_batch_of_many_lines_is_few_revisions_and_every_line_is_told(ana: Caller) -> None:
    lines: list[dict[str, Any]] = [
        {"document_id": f"d{n}", "text": f"Handbook {n}"} for n in range(150)
    ]
    lines[70] = {"document_id": "d70"}

    results = await batch(ana, *lines)

    assert [result.get("document_id") for result in results] == [
        line["document_id"] if "text" in line else None for line in lines
    ]
    assert (results[70]["line"], results[70]["status"]) == (71, 422)
    revisions = [result["revision"] for result in results if "revision" in result]
    assert revisions == sorted(revisions)
    assert len(set(revisions)) < 10
    assert len(await ana.found("handbook", top_k=100)) == 100


@dataclass(slots=True)
class OvertakenEmbedder(MoodyEmbedder):
    """Whoever embeds the marked text is overtaken before the vectors are there."""

    overtake: Callable[[], Awaitable[object]] | None = None

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.overtake and any("marked" in text for text in texts):
            await self.overtake()
        return await self.real.embed_passages(texts)


async def test_a_line_whose_document_others_keep_changing_stops_no_other(
    settings: Settings, embedder: Embedder
) -> None:
    overtaken = OvertakenEmbedder(embedder)
    numbers = count()
    async with running(settings, overtaken) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        overtaken.overtake = lambda: ana.put("log", f"Change {next(numbers)}.")
        assert settings.database_url is not None
        await run_sql(settings.database_url.get_secret_value(), _FORGET_EMBEDDINGS)

        results = await batch(
            ana,
            {"document_id": "before", "text": "Before."},
            {"document_id": "log", "text": "The marked one."},
            {"document_id": "after", "text": "After."},
            {"document_id": "log", "text": "Another one."},
        )

        assert [result.get("document_id") for result in results] == ["before", None, "after", "log"]
        assert (results[1]["line"], results[1]["status"]) == (2, 503)
        assert results[1]["type"] == "urn:nearhit:problem:contended"
        assert (await read(ana, "log"))["text"] == "Another one."


# So that each attempt at a document embeds its text anew.
_FORGET_EMBEDDINGS = """
    CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE TRIGGER forget BEFORE INSERT ON embeddings FOR EACH ROW EXECUTE FUNCTION forget();
"""


async def test_an_empty_batch_is_refused(ana: Caller) -> None:
    answer = await ana.call("POST", "/v1/documents/batch", content=b"\n \n")

    assert problem(answer, 422)["errors"][0]["field"] == "body"


async def test_a_batch_of_too_many_lines_stores_none_of_them(ana: Caller) -> None:
    content = b'{"document_id": "a", "text": "x"}\n' * 1_001

    answer = await ana.call("POST", "/v1/documents/batch", content=content)

    assert problem(answer, 422)["errors"][0]["field"] == "body"
    assert await listed(ana) == []


# Lists.


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


@pytest.mark.parametrize("parameter", ["cursor", "source"])
async def test_a_list_is_not_asked_for_what_no_document_can_hold(
    ana: Caller, parameter: str
) -> None:
    answer = await ana.call("GET", "/v1/documents", params={parameter: "nul\0"})

    assert problem(answer, 422)["errors"][0]["field"] == parameter


async def test_what_was_read_can_be_written_back(ana: Caller) -> None:
    await ana.put("leave", LEAVE)
    document = (await ana.call("GET", "/v1/documents/leave")).json()
    del document["document_id"]

    written = await ana.call("PUT", "/v1/documents/leave", json=document)

    assert written.status_code == 200
    assert written.json()["chunks"] == {"added": 0, "kept": 1, "removed": 0, "embedded": 0}
