"""FAQs as CSV: an export is an import, a formula stays text, and a bad row stops no other."""

from typing import Any

import orjson
import pytest

from gateway.extensions.faqs.spreadsheet_text import ROW_CHARACTERS_MAX
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio


@pytest.fixture
async def admin(gateway: Gateway) -> Caller:
    return await gateway.caller("ada", roles=["admin"])


async def post(admin: Caller, body: bytes, media_type: str = "text/csv") -> Any:
    return await admin.call(
        "POST", "/v1/faq-import/csv", content=body, headers={"Content-Type": media_type}
    )


async def send(admin: Caller, body: bytes) -> list[dict[str, Any]]:
    answer = await post(admin, body)
    assert answer.status_code == 200, answer.text
    return [orjson.loads(line) for line in answer.text.splitlines()]


async def faqs(admin: Caller) -> list[dict[str, Any]]:
    answer = await admin.call("GET", "/v1/faqs")
    assert answer.status_code == 200, answer.text
    listed: list[dict[str, Any]] = answer.json()["faqs"]
    return listed


async def test_an_export_is_an_import(gateway: Gateway, admin: Caller) -> None:
    bodies: dict[str, dict[str, Any]] = {
        "a": {
            "question": "=1+1?",
            "answer": 'One; "two",\n\nthree',
            "category": "@x",
            "keywords": ["-k", "l"],
            "priority": -7,
        },
        "b": {
            "question": "'=x",
            "answer": "Grüße 'you'",
            "active": False,
            "language": "de",
            "readers": ["group:hr", "user:ana,eva"],
        },
    }
    for faq_id, body in bodies.items():
        answer = await admin.call("PUT", f"/v1/faqs/{faq_id}", json=body)
        assert answer.status_code == 200, answer.text
    exported = (await admin.call("GET", "/v1/faq-export/csv")).content
    other = await gateway.caller("ada", tenant=await gateway.new_tenant(), roles=["admin"])

    await send(other, exported)

    assert await faqs(other) == await faqs(admin)
    assert (await other.call("GET", "/v1/faq-export/csv")).content == exported
    text = exported.decode()
    assert text.startswith('\ufeff"id","question","answer"')
    assert all(cell in text for cell in ('"\'=1+1?"', '"\'@x"', '"\'-k, l"', '"-7"', "\"''=x\""))


@pytest.mark.parametrize("cell", [b"x,", b'"1\n2",'])
async def test_a_row_that_is_too_long_is_refused_by_its_line(admin: Caller, cell: bytes) -> None:
    good = b"\r\nquestion,answer\r\nHow much?,5\r\n"

    refused = await post(admin, good + cell * ROW_CHARACTERS_MAX)

    assert "line 4: it has more than 131,072" in problem(refused, 400)["detail"]
    assert not await faqs(admin)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
async def test_files_of_spreadsheets_are_read(admin: Caller, separator: str) -> None:
    rows = [
        ["Question", "Answer", "Priority", "Active", "Keywords"],
        ["How much?", '"5 € a day, or\r\nless; ask"', "3", "FALSE", '"a, b"'],
    ]
    body = "\r\n".join(separator.join(row) for row in rows).encode("utf-8-sig")

    (result,) = await send(admin, body)

    assert result["line"] == 2
    (faq,) = await faqs(admin)
    assert faq["answer"] == "5 € a day, or\nless; ask"
    assert (faq["priority"], faq["active"], faq["keywords"]) == (3, False, ["a", "b"])


async def test_what_excel_saves_in_its_own_encoding_is_read_with_a_warning(admin: Caller) -> None:
    text = 'sep=;\r\nquestion;answer\r\nPlain?;"5;\r\n6"\r\nWie viel?;Für 5 € täglich\r\n'

    plain, accented = await send(admin, text.encode("cp1252"))

    assert (plain["line"], accented["line"]) == (3, 5)
    assert "warning" not in plain
    assert "cp1252" in accented["warning"]
    answers = {faq["question"]: faq["answer"] for faq in await faqs(admin)}
    assert answers == {"Plain?": "5;\n6", "Wie viel?": "Für 5 € täglich"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("first", ["", "sep=\t\r\n", '"SEP=\t"\n'])
async def test_what_unicode_says_has_no_warning(admin: Caller, encoding: str, first: str) -> None:
    body = f"{first}question\tanswer\r\nWie viel?\tFür 5 €, täglich\r\n".encode(encoding)

    (result,) = await send(admin, body)

    assert "warning" not in result
    assert result["line"] == (3 if first else 2)
    assert [faq["answer"] for faq in await faqs(admin)] == ["Für 5 €, täglich"]


async def test_a_wrong_byte_costs_one_character_and_its_row_has_a_warning(admin: Caller) -> None:
    right, wrong = await send(
        admin,
        "question,answer\nA?,Für alle\nB?,Gr\udcfcße\n".encode("utf-8-sig", "surrogateescape"),
    )

    assert "warning" not in right
    assert "utf-8" in wrong["warning"]
    assert {faq["answer"] for faq in await faqs(admin)} == {"Für alle", "Gr\ufffdße"}


async def test_a_bad_row_is_named_by_its_line_and_stops_no_other(admin: Caller) -> None:
    results = await send(
        admin,
        b'id,question,answer,priority\na,Q a?,"two\nlines",1\n\nb,Q b?,x,high\n'
        b"c,Q c?,,1\nd,Q d?,x,1,more\ne,Q e?,x\n",
    )

    assert [result["line"] for result in results] == [2, 5, 6, 7, 8]
    assert [result.get("status") for result in results] == [None, 422, 422, 422, None]
    wrong = [result["errors"][0]["field"] for result in results[1:4]]
    assert wrong == ["priority", "answer", "column 5"]
    assert sorted(faq["id"] for faq in await faqs(admin)) == ["a", "e"]


async def test_a_row_whose_readers_were_cleared_is_not_shared_with_everybody(admin: Caller) -> None:
    results = await send(
        admin, b"id,question,answer,readers\na,Q a?,x,\nb,Q b?,x\nc,Q c?,x,tenant\n"
    )

    assert [result.get("status") for result in results] == [422, 422, None]
    assert [faq["id"] for faq in await faqs(admin)] == ["c"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"question,answer\n", 422),
        (b"question,reply\nx,y\n", 422),
        (b"question,answer,answer\nx,y,z\n", 422),
        (b'question,answer\nx,"never closed\n', 400),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 400),
        (b"sep=;\n", 422),
        (b"question,answer\n" + b"x,y\n" * 10_001, 422),
        (b"question,answer\n" + b",\n" * 2_000 + b"x,y\n", 422),
        (b"\n" * 4_000 + b"question,answer\nx,y\n", 422),
    ],
)
async def test_what_is_no_such_file_writes_nothing(admin: Caller, body: bytes, status: int) -> None:
    problem(await post(admin, body), status)

    assert await faqs(admin) == []


async def test_json_is_refused(admin: Caller) -> None:
    problem(await post(admin, b"{}", "application/json"), 415)


async def test_only_an_admin_may(gateway: Gateway) -> None:
    ana = await gateway.caller("ana")

    problem(await ana.call("GET", "/v1/faq-export/csv"), 403)
    problem(await post(ana, b"question,answer\nx,y\n"), 403)
