"""`nearhit curation`: questions without a sure answer, as the operator settles them."""

import asyncio

import pytest

from gateway.settings.settings import Settings
from tests.gateway.support.commands import environment_of, refused, succeeds
from tests.gateway.support.gateways import Caller

pytestmark = [pytest.mark.anyio, pytest.mark.blocking, pytest.mark.isolated, pytest.mark.slow]


@pytest.mark.thorough
async def test_questions_are_listed_resolved_and_dismissed(
    settings: Settings, ana: Caller, admin: Caller
) -> None:
    environment = environment_of(settings)
    await admin.call("PUT", "/v1/confidence", json={"score_min": 0.3})
    for query in ("Who lights the lamps?", "Who cares?"):
        await ana.search(query)
    found: dict[str, str] = {}
    async with asyncio.timeout(60):
        while len(found) < 2:
            items = (await admin.call("GET", "/v1/curation")).json()["items"]
            found = {item["question"]: item["item_id"] for item in items}
            await asyncio.sleep(0.05)
    lamps, cares = found["Who lights the lamps?"], found["Who cares?"]
    of_acme = ("--tenant", "acme")

    listed = await succeeds(environment, "curation", "list", *of_acme)
    answer = ("--answer", "The keeper of the harbour does.")
    resolved = await succeeds(environment, "curation", "resolve", lamps, *answer, *of_acme)
    dismissed = await succeeds(environment, "curation", "dismiss", cares, *of_acme)
    again = await refused(environment, "curation", "dismiss", cares, *of_acme)
    nothing = await succeeds(environment, "curation", "list", *of_acme)

    assert lamps in listed
    assert "Who cares?" in listed
    assert f"written as curation/{lamps}" in resolved
    assert f"dismissed {cares}" in dismissed
    assert "The item is dismissed already." in again
    assert "no open questions" in nothing
    assert await ana.found("Who lights the lamps?") == [f"curation/{lamps}"]
