"""What an admin sees of similar questions, and the limit that it sets."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.extensions.similar_questions.error_limit import PairCounts
from gateway.extensions.similar_questions.pair_store import PairStore
from gateway.settings.settings import Settings
from index.embedders.index_version import RANKING, SCHEMA
from index.embedders.static_embedder import StaticEmbedder
from index.text import lexical
from tests.gateway.support.gateways import Caller, Gateway, problem
from tests.index.conftest import connected

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

PATH = "/v1/cache/semantic"
INDEX_NAME = f"{SCHEMA}.{RANKING}/{StaticEmbedder.space}/{lexical.ANALYSER}"


@pytest.fixture
async def store(settings: Settings) -> AsyncIterator[PairStore]:
    """What workers count, on the gateway's database."""
    assert settings.database_url is not None
    async with connected(
        settings.database_url.get_secret_value(), connections_max=1, statement_timeout_s=10
    ) as database:
        yield PairStore(database, INDEX_NAME, 0.01)


async def count(store: PairStore, *, verified: int, wrong: int, tenant: str = "acme") -> None:
    counts = PairCounts(seen=verified + 1, served=3, verified=verified, wrong=wrong)
    await store.add(tenant, counts)


async def shown(caller: Caller) -> dict[str, Any]:
    answer = await caller.call("GET", PATH)
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


async def test_no_answer_is_served_before_anything_is_verified(admin: Caller) -> None:
    assert await shown(admin) == {
        "error_max": 0.01,
        "pairs": 0,
        "served": 0,
        "verified": 0,
        "wrong": 0,
        "missing_right": 397,
    }


@pytest.mark.isolated
async def test_an_admin_sees_how_many_right_answers_are_missing(
    admin: Caller, store: PairStore
) -> None:
    await count(store, verified=396, wrong=0)
    before = await shown(admin)
    await count(store, verified=1, wrong=0)
    after = await shown(admin)

    assert (before["missing_right"], after["missing_right"]) == (1, 0)
    assert (after["pairs"], after["served"], after["verified"], after["wrong"]) == (399, 6, 397, 0)


@pytest.mark.isolated
async def test_a_limit_holds_at_once_on_every_worker(
    gateway: Gateway, other_worker: Gateway, admin: Caller, store: PairStore
) -> None:
    await count(store, verified=150, wrong=0)

    answer = await admin.call("PUT", PATH, json={"error_max": 0.03})

    assert answer.status_code == 200
    elsewhere = await shown(other_worker.as_(admin))
    assert answer.json() == elsewhere
    assert elsewhere["error_max"] == 0.03
    assert elsewhere["missing_right"] == 0


async def test_without_a_limit_of_its_own_a_tenant_has_that_of_all(admin: Caller) -> None:
    await admin.call("PUT", PATH, json={"error_max": 0.2})

    answer = await admin.call("PUT", PATH, json={"error_max": None})

    assert answer.json()["error_max"] == 0.01


@pytest.mark.isolated
async def test_a_tenant_sees_and_sets_its_own_alone(
    gateway: Gateway, admin: Caller, store: PairStore
) -> None:
    beta = await gateway.new_tenant()
    theirs = await gateway.caller("bob", tenant=beta, roles=["admin"])
    await count(store, verified=500, wrong=0)
    await admin.call("PUT", PATH, json={"error_max": 0.2})

    found = await shown(theirs)

    assert found["error_max"] == 0.01
    assert found["pairs"] == 0


@pytest.mark.parametrize("method", ["GET", "PUT"])
async def test_only_an_admin_of_the_tenant_may(gateway: Gateway, ana: Caller, method: str) -> None:
    body = {"error_max": 0.02}

    problem(await ana.call(method, PATH, json=body), 403)
    problem(await gateway.operator.call(method, PATH, json=body), 403)
    problem(await gateway.stranger.call(method, PATH, json=body), 401)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"error_max": 0}, "error_max"),
        ({"error_max": -0.01}, "error_max"),
        ({"error_max": 0.21}, "error_max"),
        ({"error_max": "0.02"}, "error_max"),
        ({}, "error_max"),
        ({"error_max": 0.02, "pairs": 0}, "pairs"),
        ([], "body"),
    ],
)
async def test_a_limit_that_means_nothing_is_refused(
    admin: Caller, body: object, field: str
) -> None:
    refused = problem(await admin.call("PUT", PATH, json=body), 422)

    assert [error["field"] for error in refused["errors"]] == [field]
    assert (await shown(admin))["error_max"] == 0.01
