"""How old the knowledge and the rights may be that a region answers from."""

import asyncio

import pytest

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.http.test_known_heads import ask, ask_repeat, request, watched
from tests.gateway.promises.asking import WINDOW_MS, asked, limit, written
from tests.gateway.support.gateways import Caller, Gateway, problem, running
from tests.gateway.support.leases import readings
from tests.gateway.support.raw_http import raw

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]


async def test_a_tenant_may_forbid_what_is_not_strong(
    gateway: Gateway, far: Gateway, ana: Caller, admin: Caller
) -> None:
    await limit(admin, 0)
    for caller, worker in ((ana, gateway), (far.as_(ana), far)):
        revision = await written(ana, 25)
        await asked(caller)
        await written(ana, 26)
        before = await readings(worker)

        bounded = await asked(caller, max_staleness_ms=WINDOW_MS)
        await written(ana, 27)
        in_session = await asked(caller, revision)

        assert ("26 days" in bounded.text, "27 days" in in_session.text) == (True, True)
        for answer in (bounded, in_session):
            assert answer.headers["nearhit-consistency"] == "strong"
        assert await readings(worker) - before == 2 + (worker is gateway)  # which wrote


@pytest.mark.thorough
async def test_a_lower_limit_holds_as_soon_as_the_region_hears_of_it(
    far: Gateway, ana: Caller, admin: Caller
) -> None:
    at_far = far.as_(ana)
    revision = await written(ana, 25)
    await asked(at_far)
    await limit(admin, 0)
    await written(ana, 26)

    unheard = await asked(at_far, max_staleness_ms=WINDOW_MS)  # the limit of what it knows
    await far.as_(admin).call("GET", "/v1/consistency")
    bounded = await asked(at_far, max_staleness_ms=WINDOW_MS)
    in_session = await asked(at_far, revision)

    assert "25 days" in unheard.text
    assert ("26 days" in bounded.text, "26 days" in in_session.text) == (True, True)
    await limit(admin, None)
    await asked(at_far)
    await written(ana, 27)
    assert "26 days" in (await asked(at_far, max_staleness_ms=WINDOW_MS)).text


@pytest.mark.thorough
async def test_the_limit_of_the_deployment_holds_too(
    settings: Settings, embedder: Embedder, far: Gateway, gateway: Gateway, ana: Caller
) -> None:
    strict = {"region": "third", "staleness_s_max": 0.001}
    async with running(settings.model_copy(update=strict), embedder) as third:
        revision = await written(ana, 25)
        await asked(third.as_(ana))
        await asyncio.sleep(0.002)
        before = await readings(third)

        bounded = await asked(third.as_(ana), max_staleness_ms=WINDOW_MS)
        in_session = await asked(third.as_(ana), revision)

        assert await readings(third) - before == 2
    for answer in (bounded, in_session):
        assert answer.headers["nearhit-consistency"] == "strong"


async def test_a_revoked_key_ends_when_the_region_hears_of_it_or_its_knowledge_is_too_old(
    far: Gateway, gateway: Gateway, ana: Caller, admin: Caller
) -> None:
    await written(ana, 25)
    made = await gateway.operator.call(
        "POST", "/v1/keys", json={"tenant": gateway.tenant_name, "subject": "eve"}
    )
    eve = Caller(far.client, made.json()["key"])
    before = await asked(eve)
    await gateway.operator.call("DELETE", f"/v1/keys/{made.json()['id']}")

    unheard = await asked(eve, max_staleness_ms=WINDOW_MS)
    unheard_in_session = await asked(eve, before.headers["nearhit-revision"])
    too_old = await asked(eve, max_staleness_ms=1)
    heard = await asked(eve, max_staleness_ms=WINDOW_MS)

    assert (unheard.status_code, unheard_in_session.status_code) == (200, 200)
    problem(too_old, 401)
    problem(heard, 401)


async def test_a_revocation_that_another_caller_made_known_counts_for_all(
    far: Gateway, gateway: Gateway, ana: Caller
) -> None:
    """Older readings are young enough still, but the credential is checked at the newest one."""
    await written(ana, 25)
    made = await gateway.operator.call(
        "POST", "/v1/keys", json={"tenant": gateway.tenant_name, "subject": "eve"}
    )
    eve = Caller(far.client, made.json()["key"])
    revision = (await asked(eve)).headers["nearhit-revision"]
    await gateway.operator.call("DELETE", f"/v1/keys/{made.json()['id']}")

    await asked(far.as_(ana))

    problem(await asked(eve, max_staleness_ms=WINDOW_MS), 401)
    problem(await asked(eve, revision), 401)


async def test_what_is_written_or_administered_needs_the_rights_of_now(
    far: Gateway, gateway: Gateway
) -> None:
    made = await gateway.operator.call(
        "POST",
        "/v1/keys",
        json={"tenant": gateway.tenant_name, "subject": "eve", "roles": ["admin"]},
    )
    eve = Caller(far.client, made.json()["key"])
    revision = (await asked(eve)).headers["nearhit-revision"]
    await gateway.operator.call("DELETE", f"/v1/keys/{made.json()['id']}")
    headers = {"Nearhit-Min-Revision": revision}

    assert (await asked(eve, revision)).status_code == 200  # which reads
    for method, path, body in (
        ("PUT", "/v1/documents/x", {"text": "x"}),
        ("POST", "/v1/tokens", {}),
        ("GET", "/v1/keys", None),
    ):
        problem(await eve.call(method, path, json=body, headers=headers), 401)


async def test_a_repeat_of_a_revoked_key_is_refused_when_the_region_has_heard(
    far: Gateway, gateway: Gateway, ana: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    await written(ana, 25)
    made = await gateway.operator.call(
        "POST", "/v1/keys", json={"tenant": gateway.tenant_name, "subject": "eve"}
    )
    eve = Caller(far.client, made.json()["key"])
    outcomes = watched(monkeypatch)
    sent = request(eve, "days of leave", max_staleness_ms=WINDOW_MS)
    async with raw(far) as connection:
        await asked(eve)
        await ask(connection, sent)
        await gateway.operator.call("DELETE", f"/v1/keys/{made.json()['id']}")
        assert (await ask_repeat(connection, sent, outcomes)).status == 200

        await asked(far.as_(ana))

        assert (await ask(connection, sent)).status == 401
