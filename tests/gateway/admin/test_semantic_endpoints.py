"""What an admin sees of similar questions, and the limit that it sets."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from cache.semantic.similarity_buckets import EDGES, RULES
from gateway.api import openapi
from gateway.api.routes.table import ROUTES
from gateway.settings.settings import Settings
from index.embedders.index_version import RANKING, SCHEMA
from index.embedders.static_embedder import StaticEmbedder
from index.postgres.database import announce_to_nobody, connect
from index.tenants.semantic_bucket_store import SemanticBucketStore, StoredBucketCounts
from index.text import lexical
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

PATH = "/v1/cache/semantic"
GENERATION = f"{SCHEMA}.{RANKING}/{StaticEmbedder.space}/{lexical.ANALYSER}/{RULES}"
TOP = len(EDGES) - 1


@pytest.fixture
async def buckets(settings: Settings) -> AsyncIterator[SemanticBucketStore]:
    """What workers count, on the gateway's database."""
    assert settings.database_url is not None
    async with connect(
        settings.database_url.get_secret_value(),
        connections_max=1,
        statement_timeout_s=10,
        observe=lambda _name, _seconds: None,
        announce=announce_to_nobody,
    ) as database:
        yield SemanticBucketStore(database)


async def count(
    buckets: SemanticBucketStore, *, verified: int, wrong: int, tenant: str = "acme"
) -> None:
    counts = StoredBucketCounts(seen=verified + 1, served=3, verified=verified, wrong=wrong)
    await buckets.add(tenant, GENERATION, {TOP: counts}, verified_max=10_000)


async def shown(caller: Caller) -> dict[str, Any]:
    answer = await caller.call("GET", PATH)
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


async def test_all_buckets_are_shut_before_anything_is_verified(admin: Caller) -> None:
    found = await shown(admin)

    assert found["error_max"] == 0.01
    assert [(bucket["from"], bucket["to"]) for bucket in found["buckets"]] == list(
        zip(EDGES, (*EDGES[1:], 1.0), strict=True)
    )
    for bucket in found["buckets"]:
        assert bucket["pairs"] == bucket["served"] == bucket["verified"] == bucket["wrong"] == 0
        assert bucket["error_bound"] == 1.0
        assert bucket["enabled"] is False


@pytest.mark.isolated
async def test_a_bucket_opens_when_its_error_is_surely_within_the_limit(
    admin: Caller, buckets: SemanticBucketStore
) -> None:
    await count(buckets, verified=298, wrong=0)
    before = (await shown(admin))["buckets"][TOP]
    await count(buckets, verified=1, wrong=0)
    after = (await shown(admin))["buckets"][TOP]

    assert (before["enabled"], after["enabled"]) == (False, True)
    assert (after["pairs"], after["served"], after["verified"], after["wrong"]) == (301, 6, 299, 0)
    assert after["error_bound"] == pytest.approx(0.009969, abs=1e-6)


@pytest.mark.isolated
async def test_a_limit_holds_at_once_on_every_worker(
    gateway: Gateway, other_worker: Gateway, admin: Caller, buckets: SemanticBucketStore
) -> None:
    await count(buckets, verified=100, wrong=0)

    answer = await admin.call("PUT", PATH, json={"error_max": 0.03})

    assert answer.status_code == 200
    elsewhere = await shown(other_worker.as_(admin))
    assert answer.json() == elsewhere
    assert elsewhere["error_max"] == 0.03
    assert elsewhere["buckets"][TOP]["enabled"] is True


async def test_without_a_limit_of_its_own_a_tenant_has_that_of_all(admin: Caller) -> None:
    await admin.call("PUT", PATH, json={"error_max": 0.2})

    answer = await admin.call("PUT", PATH, json={"error_max": None})

    assert answer.json()["error_max"] == 0.01


@pytest.mark.isolated
async def test_a_tenant_sees_and_sets_its_own_alone(
    gateway: Gateway, admin: Caller, buckets: SemanticBucketStore
) -> None:
    beta = await gateway.new_tenant()
    theirs = await gateway.caller("bob", tenant=beta, roles=["admin"])
    await count(buckets, verified=500, wrong=0)
    await admin.call("PUT", PATH, json={"error_max": 0.2})

    found = await shown(theirs)

    assert found["error_max"] == 0.01
    assert found["buckets"][TOP]["pairs"] == 0


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
        ({"error_max": 0.02, "buckets": []}, "buckets"),
        ([], "body"),
    ],
)
async def test_a_limit_that_means_nothing_is_refused(
    admin: Caller, body: object, field: str
) -> None:
    refused = problem(await admin.call("PUT", PATH, json=body), 422)

    assert [error["field"] for error in refused["errors"]] == [field]
    assert (await shown(admin))["error_max"] == 0.01


def test_the_description_names_the_fields_as_they_travel() -> None:
    description = openapi.document(ROUTES)

    assert set(description["paths"][PATH]) == {"get", "put"}
    bucket = description["components"]["schemas"]["BucketAnswer"]["properties"]
    assert set(bucket) == {
        *("from", "to", "pairs", "served", "verified", "wrong", "error_bound", "enabled"),
    }
