"""`POST /v1/context/check`: passages that an agent was given before, and what became of them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio

LEAVE = "# Leave\n\nEverybody has 25 days of annual leave.\n\n# Sick leave\n\nCall before nine."
NEVER = 2**62


async def states(caller: Caller, *passages: dict[str, Any]) -> list[str]:
    return [each["state"] for each in await checked(caller, *passages)]


async def checked(caller: Caller, *passages: dict[str, Any]) -> list[dict[str, Any]]:
    answer = await caller.call("POST", "/v1/context/check", json={"passages": passages})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["passages"]
    return found


async def held(caller: Caller, query: str) -> dict[str, Any]:
    """What an agent keeps of the best hit."""
    hits = (await caller.search(query)).json()["hits"]
    return {
        name: hits[0][name] for name in ("chunk_id", "document_id", "tenant") if name in hits[0]
    }


async def test_a_passage_is_current_until_its_words_change(ana: Caller) -> None:
    await ana.put("leave", LEAVE, chunker="structure")
    passage = await held(ana, "days of annual leave")

    (before,) = await checked(ana, passage)
    await ana.put("leave", LEAVE.replace("Call before nine", "Write before ten"))
    (moved,) = await checked(ana, passage)
    await ana.put("leave", LEAVE.replace("25 days", "27 days"))
    (edited,) = await checked(ana, passage)

    assert before["state"] == "current"
    assert edited["state"] == "edited"
    assert edited["updated_at"] > moved["updated_at"] > before["updated_at"]


async def test_what_was_deleted_deactivated_or_revoked_is_gone_and_looks_the_same(
    ana: Caller, gateway: Gateway
) -> None:
    bo = await gateway.caller("bo")
    passages = []
    for name in ("deleted", "inactive", "revoked"):
        await ana.put(name, f"{LEAVE} {name}", readers=["tenant"])
        passages.append(await held(bo, f"sick leave {name}"))
    assert [each["document_id"] for each in passages] == ["deleted", "inactive", "revoked"]
    assert await states(bo, *passages) == ["current"] * 3

    await ana.call("DELETE", "/v1/documents/deleted")
    await ana.call("PATCH", "/v1/documents/inactive/access", json={"active": False})
    await ana.share("revoked")

    gone = {"state": "gone", "updated_at": None, "replaced_by": None, "changed": None}
    assert await checked(bo, *passages, {"chunk_id": NEVER, "document_id": "x"}) == [gone] * 4
    assert await states(ana, *passages) == ["gone", "gone", "current"]


async def test_a_hidden_chunk_is_no_different_from_none_beside_a_document_that_is_visible(
    ana: Caller, gateway: Gateway
) -> None:
    bo = await gateway.caller("bo")
    await ana.put("secret", LEAVE)
    await bo.put("own", "# Lamps\n\nThe keeper lights them.")
    hidden = (await held(ana, "annual leave"))["chunk_id"]

    of_hidden, of_none = await checked(
        bo,
        {"chunk_id": hidden, "document_id": "own"},
        {"chunk_id": NEVER, "document_id": "own"},
    )

    assert of_hidden == of_none
    assert of_hidden["state"] == "edited"


async def test_a_document_is_current_until_a_write_changes_it(ana: Caller) -> None:
    await ana.put("leave", LEAVE)
    (first,) = await checked(ana, {"document_id": "leave"})
    await ana.put("leave", f"{LEAVE} More.")

    asked = {"document_id": "leave", "updated_at": first["updated_at"]}
    (edited,) = await checked(ana, asked)

    assert first["state"] == "current"
    assert edited["state"] == "edited"
    assert await states(ana, {**asked, "updated_at": edited["updated_at"]}) == ["current"]


async def test_a_time_that_a_client_has_cut_to_milliseconds_is_compared_so(ana: Caller) -> None:
    """As JavaScript's `Date` does; a millisecond earlier is another time."""
    exact = datetime.min.replace(tzinfo=UTC)
    while exact.microsecond % 1_000 < 2:  # one in 500 writes
        await ana.call("DELETE", "/v1/documents/leave")
        await ana.put("leave", LEAVE)
        (now,) = await checked(ana, {"document_id": "leave"})
        exact = datetime.fromisoformat(now["updated_at"])
    kept = exact.replace(microsecond=exact.microsecond // 1_000 * 1_000)
    earlier, nearly = kept - timedelta(milliseconds=1), exact - timedelta(microseconds=1)

    asked = [
        {"document_id": "leave", "updated_at": each.isoformat()} for each in (kept, earlier, nearly)
    ]

    assert await states(ana, *asked) == ["current", "edited", "edited"]


async def test_an_edited_passage_comes_with_what_its_document_has_got_since(
    ana: Caller,
) -> None:
    await ana.put("leave", LEAVE, chunker="structure")
    answer = await ana.search("days of annual leave")
    hit, revision = answer.json()["hits"][0], answer.headers["nearhit-revision"]
    passage = {"document_id": "leave", "chunk_id": hit["chunk_id"], "revision": revision}
    await ana.put("leave", LEAVE.replace("25 days", "27 days"))

    number, of = revision.split(";")
    of_other_history = f"{number};{of[:-4]}{'0000' if of[-4:] != '0000' else '1111'}"
    states = await checked(
        ana,
        passage,
        {**passage, "revision": number},
        {**passage, "revision": of_other_history},
        {"document_id": "leave", "revision": revision},
        {"document_id": "leave", "revision": of_other_history},
        {"document_id": "leave", "chunk_id": hit["chunk_id"]},
    )

    assert [each["state"] for each in states] == ["edited"] * 6
    changed = [each["changed"] and each["changed"][0]["text"] for each in states]
    new = hit["text"].replace("25 days", "27 days")
    assert changed == [new, new, None, new, None, None]


@pytest.mark.thorough
async def test_a_document_that_replaces_it_is_named_to_those_who_may_read_that(
    ana: Caller, gateway: Gateway
) -> None:
    bo = await gateway.caller("bo")
    await ana.put("old", LEAVE, readers=["tenant"])
    await ana.put("new", f"{LEAVE} Since March.", metadata={"replaces": "old"})

    (to_ana,) = await checked(ana, {"document_id": "old"})
    (to_bo,) = await checked(bo, {"document_id": "old"})

    assert to_ana["replaced_by"] == "new"
    assert to_bo["replaced_by"] is None
    assert to_ana["state"] == to_bo["state"] == "current"


async def test_a_narrowed_token_checks_no_more_than_it_may_search(ana: Caller) -> None:
    await ana.put("leave", LEAVE, tags=["people"])
    await ana.put("lamps", "# Lamps\n\nThe keeper lights them.", tags=["harbour"])
    body = {"filter": {"tags_all": ["harbour"]}, "expires_in_s": 600}
    made = await ana.call("POST", "/v1/tokens", json=body)
    assert made.status_code == 201, made.text
    agent = Caller(ana.client, made.json()["token"])

    assert await states(agent, {"document_id": "leave"}, {"document_id": "lamps"}) == [
        "gone",
        "current",
    ]


@pytest.mark.isolated  # from public documents of other tests
async def test_public_passages_of_another_tenant_are_checked_as_they_are_searched(
    gateway: Gateway,
) -> None:
    other = await gateway.with_new_tenant()
    await gateway.receive_public()
    await gateway.receive_public(other.tenant_name)
    publisher = await other.caller("pia", roles=["reader", "writer", "publisher"])
    await publisher.put("shared", LEAVE, readers=["public"])
    ana = await gateway.caller("ana")
    passage = await held(ana, "annual leave")

    assert passage["tenant"] == other.tenant_name
    assert await states(ana, passage) == ["current"]
    await publisher.share("shared", "tenant")
    assert await states(ana, passage) == ["gone"]
    await publisher.share("shared", "public")
    assert await states(ana, passage) == ["current"]
    await gateway.receive_public(receives=False)
    assert await states(ana, passage) == ["gone"]
    await gateway.receive_public()
    assert await states(ana, passage) == ["current"]
    await gateway.operator.call("DELETE", f"/v1/tenants/{other.tenant_name}")
    assert await states(ana, passage) == ["gone"]


async def test_the_answer_says_its_revision_and_keeps_the_order_of_a_thousand(ana: Caller) -> None:
    await ana.put("leave", LEAVE)
    passages = [{"document_id": "leave" if n % 3 else f"none{n}"} for n in range(1_000)]

    answer = await ana.call("POST", "/v1/context/check", json={"passages": passages})

    found = [each["state"] for each in answer.json()["passages"]]
    assert found == ["current" if n % 3 else "gone" for n in range(1_000)]
    searched = await ana.search("annual leave")
    revisions = [each.headers["nearhit-revision"].partition(";")[0] for each in (answer, searched)]
    assert revisions == ["1", "1"]


@pytest.mark.parametrize(
    ("passages", "field"),
    [
        ([], "passages"),
        ([{}], "passages.0"),
        ([{"tenant": "acme"}], "passages.0"),
        ([{"chunk_id": 2**63}], "passages.0.chunk_id"),
        ([{"chunk_id": "17"}], "passages.0.chunk_id"),
        ([{"document_id": "../x"}] * 1_001, "passages"),
        ([{"document_id": "x\x00"}], "passages.0.document_id"),
        ([{"document_id": "x", "updated_at": "2026-03-01T09:00:00"}], "passages.0.updated_at"),
        ([{"document_id": "x", "revision": "of=1"}], "passages.0.revision"),
        ([{"document_id": "x", "start": -1}], "passages.0.start"),
        ([{"document_id": "x", "updated_at": "99999-01-01T00:00:00Z"}], "passages.0.updated_at"),
    ],
)
async def test_what_is_no_passage_is_refused_by_the_name_of_its_field(
    ana: Caller, passages: list[dict[str, Any]], field: str
) -> None:
    answer = await ana.call("POST", "/v1/context/check", json={"passages": passages})

    assert problem(answer, 422)["errors"][0]["field"] == field


async def test_the_first_passage_that_is_none_ends_the_check(ana: Caller) -> None:
    answer = await ana.call("POST", "/v1/context/check", json={"passages": [{}] * 19_000})

    fields = [error["field"] for error in problem(answer, 422)["errors"]]
    assert fields == ["passages.0"]  # and no work for each of the others
