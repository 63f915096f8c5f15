"""Web tokens that say who acts for their subject: RFC 8693, section 4.1."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from index.search.query_embedder import Embedder
from tests.gateway.extensions.provenance.test_ratify import (
    LEAVE,
    agent_of,
    is_vouched,
    provenance,
    ratify,
)
from tests.gateway.servers.token_issuer import AUDIENCE, ISSUER, Issuer, issuing
from tests.gateway.support.gateways import Caller, Gateway, problem
from tests.gateway.support.workers import worker_services

pytestmark = [pytest.mark.anyio, pytest.mark.isolated, pytest.mark.slow]

ACT = {"sub": "assistant", "act": {"sub": "planner", "iss": "https://agents.example"}}


@pytest.fixture
async def issuer() -> AsyncIterator[Issuer]:
    async with issuing() as made:
        yield made


@pytest.fixture
def settings(settings: Settings, issuer: Issuer) -> Settings:
    update = {"jwt_jwks_url": issuer.url, "jwt_issuer": ISSUER, "jwt_audience": AUDIENCE}
    return settings.model_copy(update=update)


def bearer(gateway: Gateway, issuer: Issuer, **claims: Any) -> Caller:
    return Caller(gateway.client, issuer.token(roles=["writer"], **claims))


async def test_who_acts_for_the_subject_is_read_and_kept(
    gateway: Gateway, ana: Caller, issuer: Issuer
) -> None:
    agent, person = bearer(gateway, issuer, act=ACT), bearer(gateway, issuer)

    await agent.put("leave", LEAVE)

    assert await provenance(ana) == {
        "trust": "claim",
        "by": "agent",
        "subject": "ana",
        "agents": ["assistant", "planner"],
    }
    problem(await ratify(agent), 403)
    problem(await ratify(bearer(gateway, issuer, act={"sub": "other"})), 403)
    problem(await ratify(await agent_of(agent)), 403)
    assert (await ratify(person)).status_code == 200
    assert await is_vouched(ana)


async def test_a_token_made_with_such_a_web_token_keeps_its_actors(
    gateway: Gateway, ana: Caller, issuer: Issuer
) -> None:
    await (await agent_of(bearer(gateway, issuer, act=ACT))).put("leave", LEAVE)

    token, *actors = (await provenance(ana))["agents"]

    assert (token[:4], actors) == ("tok_", ["assistant", "planner"])


@pytest.mark.parametrize("act", [None, ACT])
async def test_a_job_writes_as_the_web_token_that_queued_it(
    act: dict[str, Any] | None,
    gateway: Gateway,
    ana: Caller,
    issuer: Issuer,
    settings: Settings,
    embedder: Embedder,
) -> None:
    caller = bearer(gateway, issuer, **({} if act is None else {"act": act}))
    later = {"Prefer": "respond-async"}

    queued = await caller.call("PUT", "/v1/documents/leave", json={"text": LEAVE}, headers=later)
    async with worker_services(settings, embedder) as services:
        await worker_loop.make_worker(services.worker).drain()
    assert (await ana.call("GET", queued.json()["status_url"])).json()["state"] == "done"

    expected = ("person", None) if act is None else ("agent", ["assistant", "planner"])
    written = await provenance(ana)
    assert (written["by"], written.get("agents")) == expected


DEEP: dict[str, Any] = {"sub": "a"}
for _ in range(16):
    DEEP = {"sub": "a", "act": DEEP}


@pytest.mark.parametrize(
    "act", ["assistant", [], {}, {"sub": 1}, {"sub": ""}, {"sub": "a", "act": "b"}, DEEP]
)
async def test_an_actor_that_is_not_named_is_refused_and_never_passes_for_a_person(
    act: object, gateway: Gateway, ana: Caller, issuer: Issuer
) -> None:
    answer = await bearer(gateway, issuer, act=act).call(
        "PUT", "/v1/documents/leave", json={"text": LEAVE}
    )

    assert "a claim has the wrong type" in problem(answer, 401)["detail"]
    problem(await ana.call("GET", "/v1/documents/leave"), 404)
