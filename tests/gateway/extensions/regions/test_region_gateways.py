"""Two gateways of two regions: what one has acknowledged, the other answers by, without asking."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import SecretStr

from common.command_errors import CommandError
from gateway.cli.start.setting_checks import require_valid
from gateway.extensions._regions.read_lease_store import ReadLeaseStore
from gateway.extensions.regions.lease_keeper import LeaseKeeper
from gateway.extensions.regions.read_lease import MARGIN, HeldLease
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.support.leases import holds_lease, readings

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"region": "home", "cache_audit_per_mille": 0})


@pytest.fixture
async def far(settings: Settings, embedder: Embedder, gateway: Gateway) -> AsyncIterator[Gateway]:
    async with running(settings.model_copy(update={"region": "far"}), embedder) as started:
        started.tenant_name = gateway.tenant_name
        yield started


async def test_a_far_gateway_answers_without_asking_and_misses_nothing(
    gateway: Gateway, far: Gateway, ana: Caller
) -> None:
    at_far = far.as_(ana)
    await ana.put("leave", "Everybody has 25 days of leave.", readers=["tenant"])
    await holds_lease(far, at_far)
    before = await readings(far)

    for days in range(26, 36):
        await ana.put("leave", f"Everybody has {days} days of leave.", readers=["tenant"])
        (hit,) = (await at_far.search("days of leave")).json()["hits"]
        assert str(days) in hit["text"]

    assert await readings(far) == before


async def test_a_gateway_without_the_extension_waits_until_the_leases_have_run_out(
    settings: Settings, embedder: Embedder, gateway: Gateway, far: Gateway, ana: Caller
) -> None:
    """It tells nobody, so the far gateway may answer from what it knew until then."""
    plain = settings.model_copy(update={"region": None, "extensions_off": "regions"})
    at_far = far.as_(ana)
    await ana.put("leave", "Everybody has 25 days of leave.", readers=["tenant"])
    await holds_lease(far, at_far)
    async with running(plain, embedder) as without:
        for days in range(26, 28):
            started_s = time.monotonic()
            text = f"Everybody has {days} days of leave."
            await without.as_(ana).put("leave", text, readers=["tenant"])

            assert time.monotonic() - started_s > settings.read_lease_s * (1 - MARGIN)
            (hit,) = (await at_far.search("days of leave")).json()["hits"]
            assert str(days) in hit["text"]


@pytest.mark.parametrize(
    ("settings", "setting"),
    [
        (Settings(extensions_off="regions", region="far"), "NEARHIT_REGION"),
        (Settings(extensions_off="regions", replica_url=SecretStr("x")), "NEARHIT_REPLICA_URL"),
    ],
)
def test_a_gateway_of_a_region_is_refused_without_the_extension(
    settings: Settings, setting: str
) -> None:
    with pytest.raises(CommandError, match=f"{setting} needs one extension"):
        require_valid(settings)


@pytest.mark.thorough
async def test_what_is_written_far_away_is_found_at_home(
    gateway: Gateway, far: Gateway, ana: Caller
) -> None:
    await holds_lease(gateway, ana)
    for number in range(5):
        await far.as_(ana).put(f"note-{number}", f"The note of number {number}.")
        assert f"note-{number}" in await ana.found(f"note of number {number}")


async def test_a_revoked_key_and_one_of_a_deactivated_user_are_refused_everywhere_at_once(
    gateway: Gateway, far: Gateway, admin: Caller, ana: Caller, ben: Caller
) -> None:
    await holds_lease(far, far.as_(ana))
    await far.as_(ben).found("leave")
    key_id = (await key_of(admin, "ana"))["id"]

    inactive = {"userName": "ben", "active": False}
    ended = await admin.call("POST", "/scim/v2/Users", json=inactive)
    assert ended.status_code == 201, ended.text
    refused = await far.as_(ben).call("POST", "/v1/search", json={"query": "leave"})

    assert refused.status_code == 401

    revoked = await admin.call("DELETE", f"/v1/keys/{key_id}")
    assert revoked.status_code in (200, 204), revoked.text
    refused = await far.as_(ana).call("POST", "/v1/search", json={"query": "leave"})

    assert refused.status_code == 401


async def test_who_leaves_a_group_finds_nothing_of_it_anywhere(
    gateway: Gateway, far: Gateway, admin: Caller, ana: Caller
) -> None:
    await admin.call("PUT", "/v1/groups/sales/members/ben")
    ben = await gateway.caller("ben")
    await ana.put("prices", "The prices of next year.", readers=["group:sales"])
    at_far = far.as_(ben)
    assert await at_far.found("prices of next year") == ["prices"]
    await holds_lease(far, at_far)

    left = await admin.call("DELETE", "/v1/groups/sales/members/ben")
    assert left.status_code in (200, 204), left.text

    assert await at_far.found("prices of next year") == []


@pytest.mark.sampled("False")
@pytest.mark.parametrize("is_later", [False, True])
async def test_a_write_that_changes_nothing_waits_for_the_one_that_did(
    gateway: Gateway,
    far: Gateway,
    ana: Caller,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_later: bool,
) -> None:
    """The second one finds what the first has stored and nobody has heard of."""
    await holds_lease(far, far.as_(ana))
    monkeypatch.setattr(ReadLeaseStore, "acknowledge", unheard)
    if is_later:  # then it can tell from the version that nothing was written since
        await ana.put("leave", "Everybody has 25 days.", readers=["tenant"])
    text = "Everybody has 30 days of leave."
    first = asyncio.create_task(ana.put("leave", text, readers=["tenant"]))
    async with asyncio.timeout(60):
        while text not in (await ana.call("GET", "/v1/documents/leave")).text:
            await asyncio.sleep(0.01)

    started_s = time.monotonic()
    await ana.put("leave", text, readers=["tenant"])

    assert time.monotonic() - started_s > 0.5
    await first


@pytest.mark.thorough
async def test_a_deletion_that_finds_nothing_waits_for_the_one_that_did_it(
    gateway: Gateway, far: Gateway, ana: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its 404 says that the document is gone, so no region may show it afterwards."""
    await ana.put("leave", "Everybody has 30 days of leave.", readers=["tenant"])
    at_far = far.as_(ana)
    await holds_lease(far, at_far)
    assert await at_far.found("days of leave") == ["leave"]
    make_deaf(monkeypatch)
    first = asyncio.create_task(ana.call("DELETE", "/v1/documents/leave"))
    async with asyncio.timeout(60):
        while (await ana.call("GET", "/v1/documents/leave")).status_code != 404:
            await asyncio.sleep(0.01)

    again = await ana.call("DELETE", "/v1/documents/leave")

    assert again.status_code == 404
    assert await at_far.found("days of leave") == []
    await first


@pytest.mark.thorough
async def test_a_revocation_that_finds_nothing_waits_for_the_one_that_did_it(
    gateway: Gateway, far: Gateway, admin: Caller, ana: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_far = far.as_(ana)
    await holds_lease(far, at_far)
    key_id = (await key_of(admin, "ana"))["id"]
    make_deaf(monkeypatch)
    first = asyncio.create_task(admin.call("DELETE", f"/v1/keys/{key_id}"))
    async with asyncio.timeout(60):
        while (await key_of(admin, "ana"))["revoked_at"] is None:
            await asyncio.sleep(0.01)

    again = await admin.call("DELETE", f"/v1/keys/{key_id}")

    assert again.status_code == 404
    assert (await at_far.call("GET", "/v1/documents/leave")).status_code == 401
    await first


async def key_of(admin: Caller, subject: str) -> dict[str, Any]:
    listed = (await admin.call("GET", "/v1/keys")).json()
    (key,) = [each for each in listed["keys"] if each["subject"] == subject]
    return dict(key)


def make_deaf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever holds a lease hears of no write, and renews it no more."""
    monkeypatch.setattr(HeldLease, "heard", lambda lease, *_arguments: lease)
    monkeypatch.setattr(ReadLeaseStore, "acknowledge", unheard)
    monkeypatch.setattr(LeaseKeeper, "_renew", unheard)


async def unheard(*_arguments: object) -> None:
    """Nothing is sent."""
