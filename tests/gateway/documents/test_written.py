"""Documents over HTTP: how they are written, named and removed."""

import asyncio
from typing import Any
from urllib.parse import quote

import pytest

from tests.gateway.documents.handbook import LEAVE, People, batch, listed, read
from tests.gateway.support.gateways import Caller, problem

pytestmark = pytest.mark.anyio

BY_ANA = {"trust": "vouched", "by": "person", "subject": "ana"}

# What is written is what is read.


def times_of(stored: dict[str, Any]) -> dict[str, Any]:
    return {name: stored[name] for name in ("created_at", "updated_at")}


@pytest.mark.thorough
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
        "chunker": "tokens:64/16",
        "summaries": "extract",
        "active": True,
    }

    await ana.call("PUT", "/v1/documents/leave", json=written)

    stored = await read(ana, "leave")
    own = {"document_id": "leave", "provenance": BY_ANA, "revision": 1}
    assert stored == {**own, **written} | times_of(stored)


async def test_what_is_left_out_of_a_new_document_is_empty_and_its_writers_alone(
    ana: Caller, people: People
) -> None:
    await ana.put("leave", LEAVE)

    stored = await read(ana, "leave")
    assert stored == times_of(stored) | {
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
        "chunker": "structure",
        "summaries": "none",
        "active": True,
        "provenance": BY_ANA,
        "revision": 1,
    }
    for other in (people.ben, people.eve, people.admin, people.reader):
        problem(await other.call("GET", "/v1/documents/leave"), 404)
        assert await listed(other) == []
        assert await other.found("annual leave") == []


@pytest.mark.thorough
async def test_a_document_tells_when_it_was_stored_and_when_a_write_last_changed_it(
    ana: Caller,
) -> None:
    await ana.put("leave", LEAVE)
    first = await read(ana, "leave")

    await ana.put("leave", LEAVE)  # the same: nothing is written
    repeated = await read(ana, "leave")
    await ana.call("PATCH", "/v1/documents/leave/access", json={"readers": ["user:ben"]})
    shared = await read(ana, "leave")
    await ana.put("leave", LEAVE, title="Leave")
    edited = await read(ana, "leave")
    answer = (await ana.call("GET", "/v1/documents")).json()
    await ana.call("DELETE", "/v1/documents/leave")
    await ana.put("leave", LEAVE)
    again = await read(ana, "leave")

    assert first["created_at"] == first["updated_at"]
    assert times_of(repeated) == times_of(shared) == times_of(first)
    assert edited["created_at"] == first["created_at"]
    assert edited["updated_at"] > first["updated_at"]
    assert [times_of(document) for document in answer["documents"]] == [times_of(edited)]
    assert again["created_at"] > edited["updated_at"]


async def test_a_hit_tells_the_time_of_its_document_also_after_an_edit_elsewhere_in_it(
    ana: Caller,
) -> None:
    leave, other = f"# Leave\n\n{'Annual leave. ' * 100}", f"# Travel\n\n{'By train. ' * 100}"
    await ana.put("guide", f"{leave}\n\n{other}")

    async def hit() -> dict[str, Any]:
        answer = await ana.search("annual leave", top_k=1, updated_at=True)
        found: dict[str, Any] = answer.json()["hits"][0]
        return found

    before, cached = await hit(), await hit()
    await ana.put("guide", f"{leave}\n\n{other} Or by bus.")
    after = await hit()

    assert before == cached
    assert after["chunk_id"] == before["chunk_id"]
    assert after["updated_at"] == (await read(ana, "guide"))["updated_at"] > before["updated_at"]


async def test_null_readers_stay_as_they_are(ana: Caller) -> None:
    await ana.put("leave", LEAVE, readers=["user:ben"])

    await ana.put("leave", "The next version.", readers=None)

    assert (await read(ana, "leave"))["readers"] == ["user:ben"]


async def test_a_document_stays_cut_as_it_was_unless_another_cut_is_named(ana: Caller) -> None:
    text = "\n\n".join(f"Message {number}." for number in range(30))
    await ana.put("talk", text, chunker="messages:10")

    by_the_same = await ana.put("talk", f"{text}\n\nOne more.")
    refused = await ana.call(
        "PUT", "/v1/documents/talk", json={"text": text, "chunker": "tokens:1"}
    )
    whole = await ana.put("talk", text, chunker="whole")

    assert by_the_same["chunks"]["unchanged"] == 3
    assert "chunker" in problem(refused, 422)["detail"]
    assert whole["chunks"] == {"added": 1, "unchanged": 0, "removed": 4, "embedded": 1}


@pytest.mark.thorough
async def test_a_text_that_is_too_long_to_stay_whole_is_stored_with_a_warning(ana: Caller) -> None:
    text = "\n\n".join(f"Message {number} of a long talk." for number in range(500))
    body = {"text": text, "chunker": "whole"}

    written = await ana.put("talk", text, chunker="whole")
    again = await ana.put("talk", text, chunker="whole")
    (line,) = await batch(ana, {"document_id": "talk-2", **body})
    queued = await ana.call(
        "PUT", "/v1/documents/talk-3", json=body, headers={"Prefer": "respond-async"}
    )
    short = await ana.put("short", text[:8_000], chunker="whole")

    (warning,) = written["warnings"]
    assert warning["code"] == "not-whole"
    assert f"{len(text):,} characters" in warning["detail"]
    assert "up to 8,000 in one chunk" in warning["detail"]
    assert written["chunks"]["added"] > 1
    assert again["warnings"] == line["warnings"] == written["warnings"]
    assert queued.status_code == 202  # the result of the job has them
    assert (short["chunks"]["added"], short["warnings"]) == (1, [])


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
    assert again["chunks"] == {"added": 0, "unchanged": 1, "removed": 0, "embedded": 0}
    assert "; hit" in (await ana.search("annual leave")).headers["cache-status"]


async def test_an_edit_embeds_the_changed_section_alone(ana: Caller) -> None:
    sections = [f"# Section {number}\n\nWhat section {number} says." for number in range(4)]
    new = await ana.put("handbook", "\n\n".join(sections))
    sections[2] = "# Section 2\n\nWhat it says now."

    edited = await ana.put("handbook", "\n\n".join(sections))

    assert new["chunks"] == {"added": 4, "unchanged": 0, "removed": 0, "embedded": 4}
    assert edited["chunks"] == {"added": 1, "unchanged": 3, "removed": 1, "embedded": 1}


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


@pytest.mark.slow
async def test_writers_at_once_each_get_a_revision_of_their_own(ana: Caller) -> None:
    answers = await asyncio.gather(*(ana.put(f"d{n % 3}", f"Version {n}.") for n in range(12)))

    assert sorted(answer["revision"] for answer in answers) == list(range(1, 13))


# Identifiers.

IDENTIFIERS = [
    "wiki/people/leave.md",
    "a b",
    "ação/日本語/🙂",
    "100%",
    "%41",
    "a?b=c&d#e",
    "a+b;c,d@e:f!$'()*",
    "leave/access",
    "access",
    "batch",
    "trailing/",
    'quote"and\\backslash',
    "https://wiki.example/leave?a=b",
    "x" * 512,
]


@pytest.mark.thorough
async def test_an_identifier_may_hold_any_character_of_a_line(people: People) -> None:
    for document_id in IDENTIFIERS:
        path = f"/v1/documents/{quote(document_id, safe='')}"

        written = await people.ana.call("PUT", path, json={"text": LEAVE})
        access = await people.ana.call("PATCH", f"{path}/access", json={"readers": ["user:ben"]})
        got = await read(people.ben, document_id)
        deleted = await people.ana.call("DELETE", path)

        first = written.json()["revision"]
        assert written.json()["document_id"] == document_id
        assert access.json() == {"document_id": document_id, "revision": first + 1}
        assert got["document_id"] == document_id
        assert (got["text"], got["readers"]) == (LEAVE, ["user:ben"])
        assert deleted.json()["document_id"] == document_id
        assert deleted.json()["revision"] == first + 2


@pytest.mark.thorough
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


async def test_what_was_read_can_be_written_back(ana: Caller) -> None:
    await ana.put("leave", LEAVE)
    document = (await ana.call("GET", "/v1/documents/leave")).json()
    del document["document_id"]

    written = await ana.call("PUT", "/v1/documents/leave", json=document)

    assert written.status_code == 200
    assert written.json()["chunks"] == {"added": 0, "unchanged": 1, "removed": 0, "embedded": 0}


@pytest.mark.thorough
async def test_an_undeclared_language_is_detected_and_a_wrong_one_is_warned_of(ana: Caller) -> None:
    text = "O pagamento das férias é feito no dia 25 de cada mês, para todas as pessoas."

    detected = await ana.put("detected", text)
    declared = await ana.put("declared", text, language="pt-BR")
    wrong = await ana.put("wrong", text, language="en")
    unknown = await ana.put("unknown", text, language="fi")
    short = await ana.put("short", "Pagamento: 25")

    async def language(document_id: str) -> str:
        document = (await ana.call("GET", f"/v1/documents/{document_id}")).json()
        return str(document["language"])

    assert (await language("detected"), await language("short")) == ("pt", "en")
    assert (await language("declared"), await language("wrong")) == ("pt-BR", "en")
    assert [warning["code"] for warning in wrong["warnings"]] == ["other-language"]
    assert not any(each["warnings"] for each in (detected, declared, unknown, short))
