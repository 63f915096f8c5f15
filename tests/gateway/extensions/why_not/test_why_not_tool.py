"""The tool `why_not`, with the arguments of `search` as a model has them."""

from typing import Any

import pytest

from tests.gateway.extensions.mcp.test_mcp import LEAVE, TRAVEL, connected, text
from tests.gateway.support.gateways import Caller, Gateway

pytestmark = pytest.mark.anyio


async def call(caller: Caller, tool: str, **arguments: Any) -> dict[str, Any]:
    async with connected(caller) as client:
        result = await client.call_tool(tool, arguments)
    assert not result.is_error, text(result)
    answer: dict[str, Any] = result.structured_content
    return answer


async def test_a_model_hears_which_of_its_arguments_to_change(ana: Caller) -> None:
    await ana.put("leave", LEAVE, tags=["people"])
    await ana.put("travel", f"{TRAVEL} Take leave.", tags=["people"], metadata={"team": "desk"})
    search = {"query": "annual leave", "top_k": 1, "tags": "money", "metadata": {"team": "sales"}}

    explained = await call(ana, "why_not", id="travel", search=search)

    assert explained["reasons"] == ["filter", "outranked"]
    assert explained["change"] == {"tags": None, "metadata": None, "top_k": 2}
    found = await call(ana, "search", query="annual leave", top_k=2)
    assert [each["id"] for each in found["results"]] == ["leave", "travel"]


async def test_a_result_that_is_there_comes_with_its_rank(ana: Caller) -> None:
    await ana.put("leave", LEAVE)

    explained = await call(ana, "why_not", id="leave", search={"query": "annual leave"})

    assert (explained["reasons"], explained["rank"]) == ([], 1)


async def test_a_document_of_others_does_not_exist_for_a_model(
    ana: Caller, gateway: Gateway
) -> None:
    bo = await gateway.caller("bo")
    await ana.put("leave", LEAVE)

    hidden = await call(bo, "why_not", id="leave", search={"query": "annual leave"})
    never = await call(bo, "why_not", id="never", search={"query": "annual leave"})

    assert hidden == never
    assert hidden["reasons"] == ["not_found"]


async def test_a_public_result_of_another_tenant_is_named_by_its_address(gateway: Gateway) -> None:
    other = await gateway.with_new_tenant()
    await gateway.receive_public()
    await gateway.receive_public(other.tenant_name)
    publisher = await other.caller("pia", roles=["reader", "writer", "publisher"])
    await publisher.put("trains", TRAVEL, readers=["public"])
    ana = await gateway.caller("ana")
    found = await call(ana, "search", query="book trains")

    trains = found["results"][0]["id"]
    explained = await call(ana, "why_not", id=trains, search={"query": "book trains"})

    assert (explained["reasons"], explained["rank"]) == ([], 1)


async def test_an_argument_that_search_does_not_take_is_refused(ana: Caller) -> None:
    async with connected(ana) as client:
        search = {"query": "leave", "min_score": 1}
        result = await client.call_tool("why_not", {"id": "x", "search": search})

    assert result.is_error
    assert "min_score" in text(result)
