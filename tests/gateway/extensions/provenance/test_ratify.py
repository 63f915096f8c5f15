"""Who wrote a document, who stands behind it, and what a search that asks for trust finds."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest

from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."
QUERY = "annual leave"


async def agent_of(caller: Caller, **fields: Any) -> Caller:
    """An agent with a token of the caller's."""
    answer = await caller.call("POST", "/v1/tokens", json={"name": "agent", **fields})
    assert answer.status_code == 201, answer.text
    return Caller(caller.client, answer.json()["token"])


async def ratify(caller: Caller, name: str = "leave", **kwargs: Any) -> httpx2.Response:
    return await caller.call("POST", f"/v1/documents/{name}/ratify", **kwargs)


async def withdraw(caller: Caller, name: str = "leave") -> httpx2.Response:
    return await ratify(caller, name, json={"ratified": False})


async def provenance(caller: Caller, name: str = "leave") -> dict[str, Any]:
    answer = await caller.call("GET", f"/v1/documents/{name}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["provenance"]
    return found


async def is_vouched(caller: Caller) -> bool:
    """As all that read a document tell."""
    found = await caller.found(QUERY, filter={"trust": "vouched"})
    (hit,) = (await caller.search(QUERY)).json()["hits"]
    told = (await provenance(caller))["trust"]
    listed = (await caller.call("GET", "/v1/documents")).json()["documents"]
    assert [each["provenance"]["trust"] for each in listed] == [told]
    assert hit.get("trust") == ("claim" if told == "claim" else None)
    assert found == (["leave"] if told == "vouched" else [])
    return bool(found)


async def test_what_a_person_writes_is_vouched_for_and_what_an_agent_writes_is_a_claim(
    ana: Caller,
) -> None:
    agent = await agent_of(ana)
    await ana.put("leave", LEAVE)
    assert await provenance(ana) == {
        "trust": "vouched",
        "by": "person",
        "subject": "ana",
    }

    await agent.put("leave", LEAVE + " Ask.")
    written = await provenance(ana)

    assert (written["trust"], written["by"], written["subject"]) == ("claim", "agent", "ana")
    assert [each[:4] for each in written["agents"]] == ["tok_"]
    assert not await is_vouched(ana)


async def test_an_agent_of_an_agent_leaves_the_whole_lineage(ana: Caller) -> None:
    agent = await agent_of(ana)
    (token,) = (await ana.call("GET", "/v1/tokens")).json()["tokens"]
    await (await agent_of(agent)).put("leave", LEAVE)

    lineage = (await provenance(ana))["agents"]

    assert len(lineage) == 2
    assert lineage[1] == token["id"]


@pytest.mark.parametrize("who", ["ana", "bo", "agent of bo"])
async def test_a_person_or_another_subjects_agent_ratifies_a_claim(
    who: str, ana: Caller, gateway: Gateway
) -> None:
    await (await agent_of(ana)).put("leave", LEAVE, readers=["tenant"])
    caller = ana if who == "ana" else await gateway.caller("bo")
    if who == "agent of bo":
        caller = await agent_of(caller)
    eve = await gateway.caller("eve")
    assert not await is_vouched(eve)  # and all of it is cached

    answer = await ratify(caller)

    assert answer.status_code == 200, answer.text
    assert await is_vouched(eve)
    ratified = await provenance(eve)
    assert (ratified["by"], ratified["ratified_by"]) == ("agent", who.rsplit(maxsplit=1)[-1])
    assert ratified["ratified_at"].startswith("20")


@pytest.mark.parametrize("fields", [{}, {"roles": ["writer"]}])
async def test_no_agent_ratifies_what_an_agent_of_its_own_subject_wrote(
    fields: dict[str, Any], ana: Caller
) -> None:
    agent = await agent_of(ana)
    await agent.put("leave", LEAVE)

    for other in (agent, await agent_of(ana, **fields), await agent_of(agent)):
        problem(await ratify(other), 403)

    assert not await is_vouched(ana)


EDITS: dict[str, tuple[Callable[[Caller], Awaitable[Any]], bool]] = {
    "text": (lambda agent: agent.put("leave", LEAVE + " Ask."), False),
    "title": (lambda agent: agent.put("leave", LEAVE, title="Other"), False),
    "tags": (lambda agent: agent.put("leave", LEAVE, tags=["x"]), False),
    "nothing": (lambda agent: agent.put("leave", LEAVE), True),
    "readers": (lambda agent: agent.share("leave", "tenant"), True),
    "chunker": (lambda agent: agent.put("leave", LEAVE, chunker="whole"), True),
}


@pytest.mark.parametrize("edit", EDITS)
async def test_an_edited_claim_is_a_claim_again(edit: str, ana: Caller) -> None:
    agent = await agent_of(ana)
    await agent.put("leave", LEAVE)
    await ratify(ana)
    assert await is_vouched(ana)

    change, stays = EDITS[edit]
    await change(agent)

    assert await is_vouched(ana) is stays


async def test_a_person_who_writes_a_claim_anew_stands_behind_it_and_repeating_it_does_not(
    ana: Caller,
) -> None:
    await (await agent_of(ana)).put("leave", LEAVE)

    await ana.put("leave", LEAVE)
    assert not await is_vouched(ana)

    await ana.put("leave", LEAVE + " Ask.")
    assert await is_vouched(ana)


async def test_a_ratification_is_withdrawn_by_who_made_it_or_an_admin(
    ana: Caller, admin: Caller, gateway: Gateway
) -> None:
    await (await agent_of(ana)).put("leave", LEAVE, readers=["tenant"])
    bo, eve = await gateway.caller("bo"), await gateway.caller("eve")
    await ratify(bo)
    assert await is_vouched(eve)

    problem(await withdraw(eve), 403)
    problem(await withdraw(await agent_of(bo)), 403)
    assert (await withdraw(bo)).status_code == 200
    assert not await is_vouched(eve)
    await ratify(bo)
    assert (await withdraw(admin)).status_code == 200

    assert not await is_vouched(eve)
    assert {"ratified_by", "ratified_at"}.isdisjoint(await provenance(eve))


async def test_it_may_be_ratified_and_withdrawn_twice(ana: Caller, gateway: Gateway) -> None:
    await (await agent_of(ana)).put("leave", LEAVE, readers=["tenant"])
    bo = await gateway.caller("bo")

    await ratify(ana)
    first = await provenance(ana)
    assert (await ratify(bo)).status_code == 200
    assert await provenance(ana) == first
    await withdraw(ana)
    assert (await withdraw(ana)).status_code == 200


async def test_what_a_caller_may_not_see_or_write_it_ratifies_as_if_it_did_not_exist(
    ana: Caller, admin: Caller, gateway: Gateway
) -> None:
    await (await agent_of(ana)).put("leave", LEAVE)
    await ana.put("inactive", LEAVE, readers=["tenant"], active=False)
    bo = await gateway.caller("bo")

    for call in (ratify, withdraw):
        hidden, inactive, none = [await call(bo, name) for name in ("leave", "inactive", "none")]
        for answer in (hidden, inactive):
            assert problem(answer, 404) == problem(none, 404) | {
                name: answer.json()[name]
                for name in ("request_id", "instance")
                if name in answer.json()
            }
    assert problem(await ratify(admin), 404)["detail"] == none.json()["detail"]
    reader = await gateway.caller("cy", roles=["reader"])
    await ana.share("leave", "tenant")
    problem(await ratify(reader), 403)


async def test_nobody_ratifies_a_text_that_has_changed_since_it_was_read(ana: Caller) -> None:
    agent = await agent_of(ana)
    await agent.put("leave", LEAVE)
    etag = (await ana.call("GET", "/v1/documents/leave")).headers["etag"]
    await agent.put("leave", LEAVE + " Never.")

    problem(await ratify(ana, headers={"If-Match": etag}), 412)

    assert not await is_vouched(ana)


async def test_a_document_read_before_a_ratification_is_read_anew(ana: Caller) -> None:
    await (await agent_of(ana)).put("leave", LEAVE)
    etag = (await ana.call("GET", "/v1/documents/leave")).headers["etag"]
    await ratify(ana)

    read = await ana.call("GET", "/v1/documents/leave", headers={"If-None-Match": etag})

    assert read.status_code == 200
    assert read.json()["provenance"]["trust"] == "vouched"
    assert (await ana.call("PUT", "/v1/documents/leave", json=_writable(read.json()))).is_success
    assert await is_vouched(ana)


def _writable(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "document_id"}


@pytest.mark.parametrize("least", ["web", "source", "vouched"])
async def test_a_token_with_a_least_trust_finds_no_claim_until_somebody_stands_behind_it(
    least: str, ana: Caller
) -> None:
    agent = await agent_of(ana)
    await agent.put("leave", LEAVE)
    reader = await agent_of(ana, filter={"trust": least})
    assert await reader.found(QUERY) == []
    assert await ana.found(QUERY) == ["leave"]
    problem(await reader.call("GET", "/v1/documents/leave"), 404)

    await ratify(ana)
    assert await reader.found(QUERY) == ["leave"]
    assert (await reader.call("GET", "/v1/documents/leave")).status_code == 200

    await agent.put("leave", LEAVE + " Ask.")
    assert await reader.found(QUERY) == []
    assert (await reader.call("GET", "/v1/documents")).json()["documents"] == []


async def test_no_token_and_no_search_widens_the_least_trust(ana: Caller) -> None:
    await (await agent_of(ana)).put("leave", LEAVE)
    reader = await agent_of(ana, filter={"trust": "vouched"})
    narrower = await agent_of(reader, filter={"trust": "web"})

    for caller in (reader, narrower):
        for least in ("claim", "web", "vouched"):
            assert await caller.found(QUERY, filter={"trust": least}) == []
    assert await ana.found(QUERY, filter={"trust": "claim"}) == ["leave"]


async def test_the_audit_log_says_who_ratified_and_withdrew(ana: Caller, admin: Caller) -> None:
    await (await agent_of(ana)).put("leave", LEAVE)
    await ratify(ana)
    await withdraw(ana)

    answer = await admin.call("GET", "/v1/audit/log", params={"document": "leave"})

    rows = [row for row in answer.json()["rows"] if row["action"] == "documents.ratify"]
    told = [(row["subject"], row["details"]["documents"]) for row in rows]
    assert told == [("ana", {"leave": "ratification withdrawn"}), ("ana", {"leave": "ratified"})]


@pytest.mark.isolated  # from public documents of other tests
async def test_another_tenant_learns_the_trust_of_a_public_document_and_nobodys_name(
    gateway: Gateway,
) -> None:
    ana = await gateway.caller("ana", roles=["writer", "publisher"])
    await (await agent_of(ana)).put("leave", LEAVE, readers=["public"])
    beta = await gateway.new_tenant()
    await gateway.receive_public(beta)
    bo = await gateway.caller("bo", tenant=beta, roles=["writer", "admin"])
    path = f"/v1/documents/leave?tenant={gateway.tenant_name}"

    (hit,) = (await bo.search(QUERY, scopes=["public"])).json()["hits"]
    claim = (await bo.call("GET", path)).json()["provenance"]
    problem(await ratify(bo), 404)
    await ratify(ana)
    (ratified_hit,) = (await bo.search(QUERY, filter={"trust": "vouched"})).json()["hits"]
    ratified = (await bo.call("GET", path)).json()["provenance"]

    assert (hit["trust"], claim["trust"], claim["by"]) == ("claim", "claim", "agent")
    assert ("trust" not in ratified_hit, ratified["trust"]) == (True, "vouched")
    assert ratified == {"trust": "vouched", "by": "agent", "ratified_by": ""}
    assert claim == {"trust": "claim", "by": "agent"}
