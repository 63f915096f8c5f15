"""FAQs over HTTP: written, listed, deactivated, and found by nobody who may not find them."""

from typing import Any

import orjson
import pytest

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, Gateway, connected, problem, serving
from tests.gateway.support.raw_http import head, raw

pytestmark = pytest.mark.anyio

LEAVE = {"question": "How many days of leave do I get?", "answer": "25 days a year."}
LEAVE_ID = "managed-faqs/leave"


@pytest.fixture
async def admin(gateway: Gateway) -> Caller:
    return await gateway.caller("ada", roles=["admin"])


@pytest.fixture
async def ana(gateway: Gateway) -> Caller:
    return await gateway.caller("ana")


async def put(admin: Caller, faq_id: str = "leave", **fields: Any) -> dict[str, Any]:
    answer = await admin.call("PUT", f"/v1/faqs/{faq_id}", json={**LEAVE, **fields})
    assert answer.status_code == 200, answer.text
    written: dict[str, Any] = answer.json()
    return written


async def get(admin: Caller, faq_id: str = "leave") -> dict[str, Any]:
    answer = await admin.call("GET", f"/v1/faqs/{faq_id}")
    assert answer.status_code == 200, answer.text
    faq: dict[str, Any] = answer.json()
    return faq


async def ids(admin: Caller, query: str = "") -> list[str]:
    answer = await admin.call("GET", f"/v1/faqs{query}")
    assert answer.status_code == 200, answer.text
    return [faq["id"] for faq in answer.json()["faqs"]]


class TestOne:
    async def test_it_comes_back_as_it_was_written(self, admin: Caller) -> None:
        fields: dict[str, Any] = {
            "question": "  Wie viele   Tage? ",
            "answer": "# 25\r\n\r\nA line, another.\n\nholiday, Urlaub",
            "category": "leave",
            "keywords": ["holiday", "Urlaub", "leave", "holiday", "cafe\u0301"],
            "priority": -7,
            "active": False,
            "language": "de",
            "readers": ["group:hr", "user:ana"],
        }
        written = await put(admin, **fields)

        assert written["document_id"] == LEAVE_ID
        assert await get(admin) == {
            **fields,
            "id": "leave",
            "document_id": LEAVE_ID,
            "question": "Wie viele   Tage?",
            "answer": "# 25\n\nA line, another.\n\nholiday, Urlaub",
            "keywords": ["holiday", "Urlaub", "caf\u00e9"],
        }

    async def test_searches_find_it_by_question_answer_and_keyword(
        self, admin: Caller, ana: Caller
    ) -> None:
        await put(admin, keywords=["holiday"], category="people")

        assert await ana.found("how many days of leave") == [LEAVE_ID]
        assert await ana.found("holiday") == [LEAVE_ID]
        assert await ana.found("leave", filter={"tags_any": ["people"]}) == [LEAVE_ID]
        assert await ana.found("leave", filter={"tags_any": ["else"]}) == []

    async def test_only_its_readers_find_it(
        self, gateway: Gateway, admin: Caller, ana: Caller
    ) -> None:
        await put(admin, readers=["group:hr"])
        ines = await gateway.caller("ines", groups=["hr"])

        assert await ana.found("days of leave") == []
        assert await admin.found("days of leave") == []
        assert await ines.found("days of leave") == [LEAVE_ID]

    async def test_the_later_of_two_editors_is_told(self, admin: Caller) -> None:
        await put(admin)
        etag = (await admin.call("GET", "/v1/faqs/leave")).headers["etag"]
        await put(admin, answer="26 days.")

        late = await admin.call(
            "PUT", "/v1/faqs/leave", json={**LEAVE, "priority": 3}, headers={"If-Match": etag}
        )

        assert "The FAQ has changed since" in problem(late, 412)["detail"]
        assert (await get(admin))["answer"] == "26 days."
        assert (await get(admin))["priority"] == 0

    async def test_a_new_one_replaces_none_if_it_says_so(self, admin: Caller) -> None:
        await put(admin)

        again = await admin.call(
            "PUT", "/v1/faqs/leave", json=LEAVE, headers={"If-None-Match": "*"}
        )

        assert "exists already" in problem(again, 412)["detail"]

    async def test_a_deleted_one_is_gone(self, admin: Caller, ana: Caller) -> None:
        await put(admin)
        assert await ana.found("days of leave") == [LEAVE_ID]

        deleted = await admin.call("DELETE", "/v1/faqs/leave")

        assert deleted.json()["deleted"]["chunks"] == 1
        assert await ana.found("days of leave") == []
        problem(await admin.call("GET", "/v1/faqs/leave"), 404)
        problem(await admin.call("DELETE", "/v1/faqs/leave"), 404)

    @pytest.mark.parametrize(
        ("faq_id", "body", "field"),
        [
            ("-leave", LEAVE, "id"),
            ("a.b", LEAVE, "id"),
            ("x" * 65, LEAVE, "id"),
            ("a", {**LEAVE, "question": " "}, "question"),
            ("a", {**LEAVE, "question": "x" * 301}, "question"),
            ("a", {**LEAVE, "answer": "x" * 20_001}, "answer"),
            ("a", {**LEAVE, "category": "x" * 129}, "category"),
            ("a", {**LEAVE, "keywords": ["k"] * 64}, "keywords"),
            ("a", {**LEAVE, "keywords": ["a, b"]}, "keywords.0"),
            ("a", {**LEAVE, "priority": 1_001}, "priority"),
            ("a", {**LEAVE, "readers": []}, "readers"),
            ("a", {**LEAVE, "owner": "ana"}, "owner"),
        ],
    )
    async def test_what_is_no_faq_is_refused_by_the_name_of_its_field(
        self, admin: Caller, faq_id: str, body: dict[str, Any], field: str
    ) -> None:
        refused = problem(await admin.call("PUT", f"/v1/faqs/{faq_id}", json=body), 422)

        assert [error["field"] for error in refused["errors"]] == [field]


class TestActivity:
    async def test_an_inactive_one_is_found_by_nobody_on_any_worker_from_then_on(
        self, other_worker: Gateway, admin: Caller, ana: Caller
    ) -> None:
        there = other_worker.as_(ana)
        await put(admin)
        assert await ana.found("days of leave") == await there.found("days of leave") == [LEAVE_ID]

        await put(admin, active=False)

        for caller in (ana, there, admin):
            assert await caller.found("days of leave") == []
        for caller in (ana, there):  # an admin may change it, and so sees it
            assert LEAVE_ID not in (await caller.call("GET", "/v1/documents")).text
            problem(await caller.call("GET", f"/v1/documents/{LEAVE_ID}"), 404)

    async def test_active_again_it_has_its_readers_and_needs_no_embedding(
        self, gateway: Gateway, admin: Caller, ana: Caller
    ) -> None:
        await put(admin, readers=["user:ana"])
        await put(admin, readers=["user:ana"], active=False)
        assert await get(admin) == {**await get(admin), "readers": ["user:ana"], "active": False}
        embedded = await gateway.counted("nearhit_chunks_total", outcome="embedded")

        await put(admin, readers=["user:ana"])

        assert await ana.found("days of leave") == [LEAVE_ID]
        assert await gateway.counted("nearhit_chunks_total", outcome="embedded") == embedded

    async def test_the_list_still_shows_it(self, admin: Caller) -> None:
        await put(admin, "on")
        await put(admin, "off", active=False)

        assert await ids(admin) == ["off", "on"]
        assert await ids(admin, "?state=active") == ["on"]
        assert await ids(admin, "?state=inactive") == ["off"]


class TestList:
    async def test_it_goes_by_category_then_priority(self, admin: Caller) -> None:
        await put(admin, "b1", category="b", priority=1)
        await put(admin, "b2", category="b", priority=2)
        await put(admin, "a", category="a")
        await put(admin, "none")

        assert await ids(admin) == ["none", "a", "b2", "b1"]
        assert await ids(admin, "?category=b") == ["b2", "b1"]
        assert await ids(admin, "?category=") == ["none"]
        categories = (await admin.call("GET", "/v1/faq-categories")).json()["categories"]
        assert categories == [
            {"category": None, "faqs": 1, "active": 1},
            {"category": "a", "faqs": 1, "active": 1},
            {"category": "b", "faqs": 2, "active": 2},
        ]

    @pytest.mark.thorough
    async def test_it_comes_page_by_page_and_each_once(self, admin: Caller) -> None:
        for number in range(7):
            await put(admin, f"f{number}", category=f"c.{number % 2} é:/?&", priority=-(number % 3))
        everything = await ids(admin)

        seen: list[str] = []
        cursor = ""
        while True:
            query = {"limit": "2", "cursor": cursor}
            page = (await admin.call("GET", "/v1/faqs", params=query)).json()
            seen += [faq["id"] for faq in page["faqs"]]
            if (cursor := page["cursor"]) is None:
                break

        assert len(everything) == 7
        assert seen == everything

    @pytest.mark.parametrize(
        ("query", "field"),
        [
            ("limit=0", "limit"),
            ("limit=101", "limit"),
            ("state=on", "state"),
            ("cursor=x", "cursor"),
        ],
    )
    async def test_a_wrong_parameter_is_named(self, admin: Caller, query: str, field: str) -> None:
        refused = problem(await admin.call("GET", f"/v1/faqs?{query}"), 422)

        assert refused["errors"][0]["field"] == field

    async def test_a_document_that_was_edited_into_something_odd_is_still_listed(
        self, admin: Caller
    ) -> None:
        await put(admin)
        await admin.put(
            LEAVE_ID,
            "Another text.",
            source="managed-faqs",
            owner=None,
            metadata={"priority": 1e300, "category": ["x"]},
        )

        faq = await get(admin)

        assert await ids(admin) == ["leave"]
        assert (faq["answer"], faq["priority"], faq["category"]) == ("Another text.", 1_000, None)


class TestRights:
    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("GET", "/v1/faqs"),
            ("GET", "/v1/faq-categories"),
            ("GET", "/v1/faq-export"),
            ("POST", "/v1/faq-import"),
            ("GET", "/v1/faqs/leave"),
            ("PUT", "/v1/faqs/leave"),
            ("DELETE", "/v1/faqs/leave"),
        ],
    )
    async def test_neither_a_writer_nor_a_token_may(
        self, admin: Caller, ana: Caller, gateway: Gateway, method: str, path: str
    ) -> None:
        await put(admin)
        issued = (await admin.call("POST", "/v1/tokens", json={"groups": []})).json()
        token = Caller(gateway.client, issued["token"])
        body: dict[str, Any] = {"json": LEAVE} if method == "PUT" else {}
        if method == "POST":
            body = {
                "content": orjson.dumps(LEAVE),
                "headers": {"Content-Type": "application/x-ndjson"},
            }

        problem(await ana.call(method, path, **body), 403)
        assert "token" in problem(await token.call(method, path, **body), 403)["detail"]

        assert (await get(admin))["answer"] == LEAVE["answer"]

    async def test_another_tenants_are_not_there(self, gateway: Gateway, admin: Caller) -> None:
        await put(admin)
        other = await gateway.caller("ada", tenant=await gateway.new_tenant(), roles=["admin"])

        assert await ids(other) == []
        assert (await other.call("GET", "/v1/faq-export")).text == ""
        problem(await other.call("GET", "/v1/faqs/leave"), 404)
        problem(await other.call("DELETE", "/v1/faqs/leave"), 404)

    async def test_a_writers_document_is_no_faq_and_is_not_replaced(
        self, admin: Caller, ana: Caller
    ) -> None:
        await ana.put(LEAVE_ID, "Mine.", source="managed-faqs")

        assert await ids(admin) == []
        problem(await admin.call("GET", "/v1/faqs/leave"), 404)
        problem(await admin.call("DELETE", "/v1/faqs/leave"), 404)
        problem(await admin.call("PUT", "/v1/faqs/leave", json=LEAVE), 409)
        assert (await ana.call("GET", f"/v1/documents/{LEAVE_ID}")).json()["text"] == "Mine."

    async def test_writes_are_in_the_audit_log(self, admin: Caller) -> None:
        await put(admin)
        await put(admin, active=False)

        rows = (await admin.call("GET", f"/v1/audit/log?document={LEAVE_ID}")).json()["rows"]

        assert [row["action"] for row in rows] == ["documents.write", "documents.write"]


class TestTransfer:
    async def send(self, admin: Caller, *lines: object) -> list[dict[str, Any]]:
        body = b"\n".join(line if isinstance(line, bytes) else orjson.dumps(line) for line in lines)
        answer = await admin.call(
            "POST",
            "/v1/faq-import",
            content=body,
            headers={"Content-Type": "application/x-ndjson"},
        )
        assert answer.status_code == 200, answer.text
        return [orjson.loads(line) for line in answer.text.splitlines()]

    async def test_an_export_is_an_import(self, gateway: Gateway, admin: Caller) -> None:
        await put(admin, "a", category="x", keywords=["k"], priority=5)
        await put(admin, "b", active=False, readers=["group:hr"])
        exported = (await admin.call("GET", "/v1/faq-export")).text
        other = await gateway.caller("ada", tenant=await gateway.new_tenant(), roles=["admin"])

        results = await self.send(other, *exported.encode().splitlines())

        assert [result["id"] for result in results] == ["b", "a"]
        assert (await other.call("GET", "/v1/faq-export")).text == exported
        assert await get(other, "a") == await get(admin, "a")

    async def test_a_bad_line_is_named_and_stops_no_other(self, admin: Caller, ana: Caller) -> None:
        results = await self.send(
            admin,
            {**LEAVE, "id": "a"},
            b"{",
            {**LEAVE, "id": "b", "priority": "high"},
            {"question": "x", "id": "-leave", "answer": "y"},
            {**LEAVE, "id": "c", "answer": "Of leave: 30 days."},
        )

        assert [result["line"] for result in results] == [1, 2, 3, 4, 5]
        assert [result.get("status") for result in results] == [None, 400, 422, 422, None]
        assert results[2]["errors"][0]["field"] == "priority"
        assert sorted(await ids(admin)) == ["a", "c"]
        assert len(await ana.found("days of leave")) == 2

    async def test_the_same_question_without_an_id_replaces_itself(self, admin: Caller) -> None:
        await self.send(admin, LEAVE)
        await self.send(admin, {**LEAVE, "answer": "27 days."})

        (faq_id,) = await ids(admin)
        assert (await get(admin, faq_id))["answer"] == "27 days."

    async def test_an_empty_import_is_refused(self, admin: Caller) -> None:
        answer = await admin.call(
            "POST",
            "/v1/faq-import",
            content=b"\n\n",
            headers={"Content-Type": "application/x-ndjson"},
        )

        assert problem(answer, 422)["errors"][0]["field"] == "body"

    @pytest.mark.thorough
    async def test_a_long_export_has_every_faq_once(self, admin: Caller) -> None:
        count = 501
        lines = [
            {"question": f"Question {n}?", "answer": "x", "id": f"f{n}", "category": str(n % 3)}
            for n in range(count)
        ]
        await self.send(admin, *lines)

        exported = (await admin.call("GET", "/v1/faq-export")).text.splitlines()

        assert len({orjson.loads(line)["id"] for line in exported}) == len(exported) == count

    async def test_an_export_ends_in_the_middle_when_the_key_is_revoked(
        self, admin: Caller, shared_settings: Settings, embedder: Embedder
    ) -> None:
        lines = [
            {"question": f"Question {n}?", "answer": f"{'word ' * 100}{n}", "id": f"f{n:03}"}
            for n in range(501)
        ]
        await self.send(admin, *lines)
        body = {"subject": "ida", "roles": ["admin"]}
        key = (await admin.call("POST", "/v1/keys", json=body)).json()

        async with (
            serving(shared_settings, embedder, send_buffer_bytes=4_096) as url,
            connected(url) as client,
            raw(Gateway(client), buffer_bytes=4_096) as slow,
        ):
            ida = Caller(client, key["key"])
            await slow.send(head(ida, method=b"GET", path=b"/v1/faq-export"))
            first = await slow.until(b'"id":')  # and then it reads no more
            await admin.call("DELETE", f"/v1/keys/{key['id']}")
            exported = first + await slow.end()

        assert exported.count(b'"id":') == 500, "a page that was begun is sent"
        assert not exported.endswith(b"0\r\n\r\n"), "the client sees that it is incomplete"
