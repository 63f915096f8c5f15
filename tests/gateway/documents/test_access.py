"""Documents over HTTP: who may change them, and whom they are for."""

import pytest

from tests.gateway.documents.handbook import LEAVE, People, listed, read
from tests.gateway.support.gateways import Caller, problem

pytestmark = pytest.mark.anyio


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


@pytest.mark.sampled("ben")
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
