"""Two writers of one document: the one that began with an older version is refused."""

import asyncio
from typing import Any

import httpx2
import pytest

from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio

PATH = "/v1/documents/leave"


async def etag(caller: Caller) -> str:
    found: str = (await caller.call("GET", PATH)).headers["etag"]
    return found


async def put(caller: Caller, text: str, **headers: str) -> httpx2.Response:
    return await caller.call("PUT", PATH, json={"text": text}, headers=headers)


async def text_of(caller: Caller) -> str:
    found: str = (await caller.call("GET", PATH)).json()["text"]
    return found


async def test_the_second_of_two_editors_is_refused_and_overwrites_nothing(ana: Caller) -> None:
    await ana.put("leave", "20 days")
    both = await etag(ana)

    first = await put(ana, "25 days", **{"If-Match": both})
    second = await put(ana, "30 days", **{"If-Match": both})

    assert first.status_code == 200
    refused = problem(second, 412)
    assert refused["type"].endswith(":precondition-failed")
    assert refused["errors"][0]["field"] == "If-Match"
    assert await text_of(ana) == "25 days"
    assert (await put(ana, "30 days", **{"If-Match": await etag(ana)})).status_code == 200


async def test_of_editors_at_the_same_time_one_wins(ana: Caller) -> None:
    await ana.put("leave", "20 days")
    before = await etag(ana)

    answers = await asyncio.gather(
        *(put(ana, f"{number} days", **{"If-Match": before}) for number in range(21, 29))
    )

    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [200] + [412] * 7


@pytest.mark.parametrize(
    "change",
    [
        {"text": "30 days"},
        {"title": "Leave"},
        {"tags": ["hr"]},
        {"metadata": {"team": "hr"}},
        {"uri": "https://example.com"},
        {"language": "pt"},
        {"source": "wiki"},
        {"readers": ["tenant"]},
        {"chunker": "whole"},
        {"summaries": "extract"},
    ],
)
async def test_each_field_changes_the_tag(ana: Caller, change: dict[str, Any]) -> None:
    await ana.put("leave", "20 days")
    before = await etag(ana)
    assert await etag(ana) == before

    await ana.put("leave", **{"text": "20 days", **change})

    assert await etag(ana) != before


async def test_a_new_document_replaces_none_that_exists(ana: Caller) -> None:
    first = await put(ana, "20 days", **{"If-None-Match": "*"})
    second = await put(ana, "25 days", **{"If-None-Match": "*"})

    assert first.status_code == 200
    problem(second, 412)
    assert await text_of(ana) == "20 days"


async def test_what_does_not_exist_matches_nothing(ana: Caller) -> None:
    problem(await put(ana, "20 days", **{"If-Match": "*"}), 412)
    problem(await put(ana, "20 days", **{"If-Match": '"0"'}), 412)


async def test_one_of_several_tags_is_enough(ana: Caller) -> None:
    await ana.put("leave", "20 days")

    answer = await put(ana, "25 days", **{"If-Match": f'"0", {await etag(ana)}'})

    assert answer.status_code == 200


async def test_a_large_document_is_refused_before_it_is_queued(ana: Caller) -> None:
    await ana.put("leave", "20 days")

    refused = await ana.call(
        "PUT",
        PATH,
        json={"text": "25 days"},
        headers={"If-Match": '"0"', "Prefer": "respond-async"},
    )

    problem(refused, 412)


async def put_later(caller: Caller, text: str, **headers: str) -> httpx2.Response:
    return await put(caller, text, **{"Prefer": "respond-async", **headers})


async def test_of_two_queued_writes_that_began_alike_one_is_accepted(ana: Caller) -> None:
    await ana.put("leave", "20 days")
    both = await etag(ana)

    answers = await asyncio.gather(
        *(put_later(ana, f"{number} days", **{"If-Match": both}) for number in range(21, 27))
    )

    assert sorted(answer.status_code for answer in answers) == [202] + [412] * 5
    assert "queued" in problem(await put_later(ana, "9", **{"If-Match": both}), 412)["detail"]


async def test_a_write_now_undoes_no_queued_one_that_its_editor_has_not_seen(ana: Caller) -> None:
    await ana.put("leave", "20 days")
    both = await etag(ana)
    assert (await put_later(ana, "25 days", **{"If-Match": both})).status_code == 202

    problem(await put(ana, "30 days", **{"If-Match": both}), 412)

    assert (await put(ana, "30 days")).status_code == 200  # without a condition the later one wins
    assert (await put(ana, "35 days", **{"If-Match": await etag(ana)})).status_code == 200


async def test_of_two_queued_documents_of_one_identifier_the_first_stays(ana: Caller) -> None:
    assert (await put_later(ana, "20 days", **{"If-None-Match": "*"})).status_code == 202

    problem(await put_later(ana, "25 days", **{"If-None-Match": "*"}), 412)
    problem(await put(ana, "30 days", **{"If-None-Match": "*"}), 412)


async def test_no_tag_tells_of_a_document_that_the_caller_may_not_read(
    gateway: Gateway, ana: Caller
) -> None:
    await ana.put("leave", "20 days")
    eve = await gateway.caller("eve")

    for headers in ({"If-Match": await etag(ana)}, {"If-Match": '"0"'}, {"If-None-Match": "*"}):
        refused = problem(await put(eve, "30 days", **headers), 409)
        assert refused["type"].endswith(":conflict")


async def test_a_deletion_that_began_with_an_older_version_deletes_nothing(ana: Caller) -> None:
    await ana.put("leave", "20 days")
    before = await etag(ana)
    await ana.put("leave", "25 days")

    outdated = await ana.call("DELETE", PATH, headers={"If-Match": before})
    text = await text_of(ana)
    current = await ana.call("DELETE", PATH, headers={"If-Match": await etag(ana)})

    assert problem(outdated, 412)["errors"][0]["field"] == "If-Match"
    assert text == "25 days"
    assert current.status_code == 200


async def test_a_share_that_began_with_an_older_version_shares_nothing(ana: Caller) -> None:
    await ana.put("leave", "20 days")
    before = await etag(ana)
    await ana.put("leave", "The board leaves", readers=["user:board"])

    shared = await ana.call(
        "PATCH", f"{PATH}/access", json={"readers": ["tenant"]}, headers={"If-Match": before}
    )

    problem(shared, 412)
    assert (await ana.call("GET", PATH)).json()["readers"] == ["user:board"]


async def test_who_has_the_document_already_is_told_so_until_it_changes(ana: Caller) -> None:
    await ana.put("leave", "20 days")
    known = await etag(ana)

    same = await ana.call("GET", PATH, headers={"If-None-Match": f'"other", W/{known}'})
    await ana.put("leave", "25 days")
    changed = await ana.call("GET", PATH, headers={"If-None-Match": known})

    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", known)
    assert (changed.status_code, changed.json()["text"]) == (200, "25 days")
