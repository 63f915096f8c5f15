"""Turns that replace earlier ones: searches find what holds, with what held before beside it."""

from typing import Any

import pytest

from tests.gateway.extensions.conversations.sessions import add, hits, said, write
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio

HOME = ("Bo: Where do you live?", "Ana: I live in Porto.", "Bo: I like it there.")


PORTO = "**Ana**: I live in Porto."


async def porto(caller: Caller) -> dict[str, Any]:
    """Where the turn stands, as a caller finds it."""
    (found,) = (hit for hit in await hits(caller, "I live in Porto") if hit["text"] == PORTO)
    return {"document_id": found["document_id"], "start": found["start"]}


async def test_the_later_turn_is_found_instead_of_the_one_it_replaces(ana: Caller) -> None:
    await write(ana, "may", *HOME, at="2023-05-08", language="en")
    await write(ana, "june", "Ana: I have news.", at="2023-06-09", language="en")
    old = await porto(ana)

    await add(ana, "june", "Ana: I moved to Lisbon.", replaces=old)

    found = await said(ana, "Where does Ana live?")
    assert (
        "**Ana**: I moved to Lisbon.\n[replaces 2023-05-08 **Ana**: I live in Porto.]" in found[:2]
    )
    assert PORTO not in found
    (around,) = await said(ana, "I like it there", top_k=1, expand="neighbours")
    assert around == f"**Bo**: Where do you live?\n\n~~{PORTO}~~\n\n**Bo**: I like it there."


async def test_a_turn_of_the_same_session_is_replaced_too(ana: Caller) -> None:
    await write(ana, "chat", *HOME, language="en")
    old = await porto(ana)

    written = (await add(ana, "chat", "Ana: No, in Lisbon.", replaces=old)).json()

    assert written["chunks"] == {"added": 2, "unchanged": 1, "removed": 2, "embedded": 2}
    assert (await add(ana, "chat", "Ana: In Lisbon!", replaces=old)).status_code == 200


async def test_a_session_written_again_keeps_what_was_replaced(ana: Caller) -> None:
    await write(ana, "chat", *HOME, language="en")
    await add(ana, "chat", "Ana: No.", replaces=await porto(ana))

    await write(ana, "chat", *HOME, "Ana: Bye.", language="en")

    assert PORTO not in await said(ana, "I live in Porto")


async def test_nothing_is_replaced_that_the_caller_may_not_change(
    ana: Caller, gateway: Gateway
) -> None:
    bo = await gateway.caller("bo")
    await write(ana, "may", *HOME)
    await write(bo, "own", "Bo: Hello.")
    old = {"document_id": "may", "start": 0}

    hidden = problem(await add(bo, "own", "Bo: Never.", replaces=old), 404)
    await ana.share("may", "tenant")
    problem(await add(bo, "own", "Bo: Never.", replaces=old), 403)
    problem(await add(ana, "own", "Ana: Never.", replaces=old), 404)

    none = problem(await add(bo, "own", "Bo: Never.", replaces={**old, "document_id": "none"}), 404)
    assert hidden["detail"] == none["detail"]
    stored = (await ana.call("GET", "/v1/documents/may")).json()
    assert "~~" not in stored["text"]


async def test_a_place_where_no_turn_begins_is_refused(ana: Caller) -> None:
    await write(ana, "may", *HOME)

    refused = problem(
        await add(ana, "may", "Ana: No.", replaces={"document_id": "may", "start": 3}), 422
    )

    assert [error["field"] for error in refused["errors"]] == ["turns.0.replaces.start"]
