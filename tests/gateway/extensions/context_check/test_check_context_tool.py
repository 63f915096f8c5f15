"""The tool `check_context`, with the results of `search` as a model has them."""

from typing import Any

import pytest

from tests.gateway.extensions.mcp.test_mcp import LEAVE, MODES, TRAVEL, connected, text
from tests.gateway.support.gateways import Caller, Gateway

pytestmark = pytest.mark.anyio


async def found(caller: Caller, query: str) -> dict[str, Any]:
    """What a model keeps of the best result."""
    async with connected(caller) as client:
        result = await client.call_tool("search", {"query": query, "top_k": 1})
    (best,) = result.structured_content["results"]
    return {name: best[name] for name in ("id", "passage")}


async def checked(caller: Caller, *results: dict[str, Any]) -> list[dict[str, Any]]:
    async with connected(caller) as client:
        result = await client.call_tool("check_context", {"results": list(results)})
    assert not result.is_error, text(result)
    answer: list[dict[str, Any]] = result.structured_content["results"]
    return answer


async def test_a_model_hears_what_became_of_each_result_in_their_order(
    ana: Caller, gateway: Gateway
) -> None:
    bo = await gateway.caller("bo")
    for name in ("edited", "revoked", "kept", "old"):
        await ana.put(name, f"{LEAVE} {name}", readers=["tenant"])
    held = [await found(bo, f"annual leave {name}") for name in ("edited", "revoked", "kept")]
    held.append({"id": "old"})

    await ana.put("edited", f"{LEAVE} Ask your lead.", readers=["tenant"])
    await ana.share("revoked")
    await ana.put("new", f"{LEAVE} Since March.", readers=["tenant"], metadata={"replaces": "old"})

    states = ("edited", "gone", "current", "current")
    expected = [{**each, "state": state} for each, state in zip(held, states, strict=True)]
    expected[3]["replaced_by"] = "new"
    assert await checked(bo, *held) == expected


async def test_a_public_result_of_another_tenant_is_checked_by_its_address(
    gateway: Gateway,
) -> None:
    other = await gateway.with_new_tenant()
    await gateway.receive_public()
    await gateway.receive_public(other.tenant_name)
    publisher = await other.caller("pia", roles=["reader", "writer", "publisher"])
    await publisher.put("trains", TRAVEL, readers=["public"])
    ana = await gateway.caller("ana")
    held = await found(ana, "book trains")
    assert held["id"].startswith("urn:nearhit:public:")

    assert [each["state"] for each in await checked(ana, held)] == ["current"]
    await publisher.share("trains", "tenant")
    assert [each["state"] for each in await checked(ana, held)] == ["gone"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_call_without_results_says_what_to_send(ana: Caller, mode: str) -> None:
    async with connected(ana, mode) as client:
        result = await client.call_tool("check_context", {"results": []})

    assert result.is_error
    assert "results" in text(result)
