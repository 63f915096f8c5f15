"""A caller looks up what a problem means."""

import pytest

from tests.gateway.support.gateways import Gateway, problem

pytestmark = pytest.mark.anyio


async def test_a_caller_looks_up_the_type_of_a_problem(gateway: Gateway) -> None:
    refused = problem(await gateway.stranger.call("GET", "/v1/documents"), 401)

    by_urn = await gateway.stranger.call("GET", f"/v1/problems/{refused['type']}")
    by_kind = await gateway.stranger.call("GET", "/v1/problems/unauthorized")
    types = (await gateway.stranger.call("GET", "/v1/problems")).json()["types"]

    assert by_urn.json() == by_kind.json()
    assert by_urn.json()["type"] == refused["type"]
    assert by_urn.json()["title"] == refused["title"]
    assert by_urn.json() in types
    problem(await gateway.stranger.call("GET", "/v1/problems/none"), 404)
