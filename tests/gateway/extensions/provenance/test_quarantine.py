"""What agents write is held until somebody stands behind it, if the tenant says so."""

from typing import Any

import orjson
import pytest

from tests.gateway.extensions.provenance.test_ratify import (
    LEAVE,
    QUERY,
    agent_of,
    provenance,
    ratify,
    withdraw,
)
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio

PAGE = "https://example.com/leave"


async def hold(admin: Caller, what: str, *readers: str) -> None:
    body = {"holds": what, "readers": readers}
    answer = await admin.call("PUT", "/v1/quarantine", json=body)
    assert answer.status_code == 200, answer.text
    assert (
        (await admin.call("GET", "/v1/quarantine")).json()
        == answer.json()
        == body | {"readers": [*readers]}
    )


async def finds(caller: Caller) -> bool:
    """Whether the caller finds the document, which all ways to read tell alike."""
    found = await caller.found(QUERY)
    listed = (await caller.call("GET", "/v1/documents")).json()["documents"]
    read = await caller.call("GET", "/v1/documents/leave")
    counted = (await caller.search(QUERY, facets=["source"])).json()["facets"]
    batch = await caller.call("POST", "/v1/search/batch", json={"searches": [{"query": QUERY}]})
    told = {
        bool(found),
        bool(listed),
        read.status_code == 200,
        '"api"' in orjson.dumps(counted).decode(),
        PAGE in read.text,
        QUERY in batch.text,
    }
    assert len(told) == 1, (found, listed, read.text, counted, batch.text)
    return bool(found)


@pytest.fixture
async def agent(ana: Caller) -> Caller:
    return await agent_of(ana)


async def test_what_an_agent_takes_from_the_web_is_held_until_a_person_ratifies_it(
    ana: Caller, agent: Caller, admin: Caller, gateway: Gateway
) -> None:
    bo, cy = await gateway.caller("bo"), await gateway.caller("cy", groups=["reviewers"])
    await hold(admin, "web", "group:reviewers")

    await agent.put("leave", LEAVE, uri=PAGE, readers=["tenant"])
    assert [await finds(each) for each in (ana, agent, cy, bo)] == [True, True, True, False]
    problem(await ratify(bo), 404)
    problem(await ratify(agent), 403)
    assert (await provenance(cy))["held_readers"] == ["tenant"]

    await ratify(cy)
    assert [await finds(each) for each in (ana, agent, cy, bo)] == [True] * 4
    await withdraw(cy)
    assert [await finds(each) for each in (ana, agent, cy, bo)] == [True, True, True, False]


@pytest.mark.parametrize(
    ("what", "uri", "holds"),
    [
        ("nothing", PAGE, ""),
        ("web", "", ""),
        ("web", "notes/leave", ""),
        ("web", PAGE.upper(), "held"),
        ("agents", "", "held"),
    ],
)
async def test_what_is_held_is_what_the_tenant_says(
    what: str, uri: str, holds: str, agent: Caller, admin: Caller, gateway: Gateway
) -> None:
    bo = await gateway.caller("bo")
    await hold(admin, what)

    await agent.put("leave", LEAVE, uri=uri, readers=["tenant"])

    assert await bo.found(QUERY) == ([] if holds else ["leave"])


async def test_what_a_person_writes_is_never_held(
    ana: Caller, admin: Caller, gateway: Gateway
) -> None:
    bo = await gateway.caller("bo")
    await hold(admin, "agents")

    await ana.put("leave", LEAVE, uri=PAGE, readers=["tenant"])

    assert await finds(bo)


async def test_no_change_of_its_readers_lets_what_is_held_out(
    ana: Caller, agent: Caller, admin: Caller, gateway: Gateway
) -> None:
    bo = await gateway.caller("bo")
    await hold(admin, "agents")
    await agent.put("leave", LEAVE, uri=PAGE, readers=["user:bo"])

    await agent.share("leave", "tenant", "user:bo")
    await ana.share("leave", "tenant")
    await agent.put("leave", LEAVE + " Ask.", uri=PAGE, readers=["tenant", "public"][:1])
    await hold(admin, "nothing")
    await agent.share("leave", "tenant", "user:bo")
    assert not await finds(bo)
    assert (await provenance(ana))["held_readers"] == ["tenant", "user:bo"]
    read = (await ana.call("GET", "/v1/documents/leave")).json()
    assert read["readers"] == []

    body = {name: value for name, value in read.items() if name != "document_id"}
    await ana.call("PUT", "/v1/documents/leave", json=body)  # as it was read
    assert not await finds(bo)
    await ratify(ana)
    assert await finds(bo)
    after = (await ana.call("GET", "/v1/documents/leave")).json()
    assert after["readers"] == ["tenant", "user:bo"]


async def test_a_person_who_writes_anew_what_is_held_lets_it_out(
    ana: Caller, agent: Caller, admin: Caller, gateway: Gateway
) -> None:
    bo = await gateway.caller("bo")
    await hold(admin, "agents")
    await agent.put("leave", LEAVE, uri=PAGE, readers=["tenant"])

    await ana.put("leave", LEAVE + " Ask.", uri=PAGE)

    assert await finds(bo)


async def test_a_shared_document_that_an_agent_edits_is_held_for_everybody(
    ana: Caller, agent: Caller, admin: Caller, gateway: Gateway
) -> None:
    bo = await gateway.caller("bo")
    await ana.put("leave", LEAVE, uri=PAGE, readers=["tenant"])
    assert await finds(bo)
    await hold(admin, "agents")

    await agent.put("leave", LEAVE, uri=PAGE)  # the same
    assert await finds(bo)
    await agent.put("leave", LEAVE + " Never.", uri=PAGE)

    assert not await finds(bo)


@pytest.mark.isolated  # others would find its public document
async def test_who_lets_out_what_is_to_be_public_is_a_publisher(
    admin: Caller, gateway: Gateway
) -> None:
    dee = await gateway.caller("dee", roles=["writer", "publisher"])
    cy = await gateway.caller("cy", groups=["reviewers"])
    await hold(admin, "agents", "group:reviewers")
    await (await agent_of(dee)).put("leave", LEAVE, readers=["public"])

    problem(await ratify(cy), 403)

    assert (await ratify(dee)).status_code == 200
    assert (await dee.call("GET", "/v1/documents/leave")).json()["readers"] == ["public"]


@pytest.mark.parametrize("fields", [{"holds": "all"}, {}, {"holds": "web", "readers": ["x"]}])
async def test_a_quarantine_that_means_nothing_is_refused(
    fields: dict[str, Any], admin: Caller, ana: Caller
) -> None:
    problem(await admin.call("PUT", "/v1/quarantine", json=fields), 422)
    problem(await ana.call("PUT", "/v1/quarantine", json={"holds": "web"}), 403)


async def test_a_ratification_outlives_its_person_until_an_admin_withdraws_it(
    agent: Caller, admin: Caller, gateway: Gateway
) -> None:
    bo, cy = await gateway.caller("bo"), await gateway.caller("cy")
    await agent.put("leave", LEAVE, uri=PAGE, readers=["tenant"])
    await ratify(cy)
    user = {"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": "cy"}
    made = await admin.call("POST", "/scim/v2/Users", json=user | {"active": False})
    assert made.status_code == 201, made.text
    problem(await cy.call("POST", "/v1/search", json={"query": QUERY}), 401)

    assert await bo.found(QUERY, filter={"trust": "vouched"}) == ["leave"]
    assert (await provenance(bo))["ratified_by"] == "cy"
    await withdraw(admin)
    assert await bo.found(QUERY, filter={"trust": "vouched"}) == []
