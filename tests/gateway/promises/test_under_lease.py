"""What a caller may choose in a gateway that holds a read lease."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from gateway.extensions._regions.read_lease_store import ReadLeaseStore
from gateway.extensions.regions.read_lease import MARGIN, HeldLease
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.extensions.regions.test_region_gateways import unheard
from tests.gateway.promises.asking import LEAVE, WINDOW_MS, asked, limit, written
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.support.leases import holds_lease, readings

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]


@pytest.fixture
async def far(settings: Settings, embedder: Embedder, gateway: Gateway) -> AsyncIterator[Gateway]:
    async with running(settings.model_copy(update={"region": "far"}), embedder) as started:
        started.tenant_name = gateway.tenant_name
        yield started


@pytest.mark.thorough
async def test_whatever_is_asked_a_lease_keeps_more_without_the_primary(
    far: Gateway, ana: Caller
) -> None:
    at_far = far.as_(ana)
    revision = await written(ana, 25)
    await holds_lease(far, at_far)
    before = await readings(far)
    for days in range(26, 30):
        revision = await written(ana, days)

        answers = [await asked(at_far, revision), await asked(at_far)]

        for answer in answers:
            assert f"{days} days" in answer.text
            assert answer.headers["nearhit-consistency"] == "strong"
    assert await readings(far) == before


@pytest.mark.thorough
async def test_a_revision_that_was_not_heard_of_is_read_from_the_primary(
    gateway: Gateway, far: Gateway, ana: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another caller has read at home what is not acknowledged yet."""
    at_far = far.as_(ana)
    await written(ana, 25)
    await holds_lease(far, at_far)
    monkeypatch.setattr(ReadLeaseStore, "acknowledge", unheard)
    monkeypatch.setattr(HeldLease, "heard", lambda lease, *_: lease)
    monkeypatch.setattr(HeldLease, "renewed", renewed_without_news)
    writing = asyncio.create_task(written(ana, 26))
    async with asyncio.timeout(60):
        while "26 days" not in (at_home := await asked(ana)).text:
            await asyncio.sleep(0.01)

    answer = await asked(at_far, at_home.headers["nearhit-revision"])

    assert "26 days" in answer.text
    assert answer.headers["nearhit-consistency"] == "strong"
    await writing


def renewed_without_news(
    lease: HeldLease[Any], _renewal: object, _epoch: int, begun_at_s: float, duration_s: float
) -> HeldLease[Any]:
    return replace(lease, until_s=begun_at_s + duration_s * (1 - MARGIN))


async def test_a_limit_holds_at_once(far: Gateway, ana: Caller, admin: Caller) -> None:
    at_far = far.as_(ana)
    await written(ana, 25)
    await holds_lease(far, at_far)
    await asked(at_far)
    await written(ana, 26)  # which it has heard of; the answer in its memory is older
    older = await asked(at_far, max_staleness_ms=WINDOW_MS)

    await limit(admin, 0)
    strong = await asked(at_far, max_staleness_ms=WINDOW_MS)

    assert "25 days" in older.text
    assert older.headers["nearhit-consistency"].startswith("bounded;ms=")
    assert LEAVE.format(26) in strong.text
    assert strong.headers["nearhit-consistency"] == "strong"
