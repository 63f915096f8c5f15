"""Counts of answers to similar questions at rest: added at once by many, kept apart, and faded."""

import asyncio

import asyncpg
import pytest

from gateway.extensions.similar_questions.error_limit import PairCounts
from gateway.extensions.similar_questions.pair_stats import TenantStats
from gateway.extensions.similar_questions.pair_store import PairStore
from index.postgres.database import Database
from index.tenants.tenant_store import TenantStore
from tests.index.conftest import database, reused, reused_databases, settings, tenants

__all__ = ["database", "reused", "reused_databases", "settings", "tenants"]  # fixtures

pytestmark = pytest.mark.anyio

INDEX_NAME, NEXT_INDEX_NAME = "1/static/bm25-2", "1/static/bm25-3"
LIMIT = 0.01  # so that counts halve at 2,400


@pytest.fixture
def store(database: Database, tenants: TenantStore) -> PairStore:
    return PairStore(database, INDEX_NAME, LIMIT)


async def add(store: PairStore, tenant: str = "acme", **counts: int) -> None:
    await store.add(tenant, PairCounts(**counts))


def stats(*counts: int, error_max: float = LIMIT) -> TenantStats:
    return TenantStats(error_max, PairCounts(*counts))


async def test_a_tenant_starts_with_no_counts_and_no_limit_of_its_own(
    store: PairStore,
) -> None:
    assert await store.read("acme") == stats()
    assert await store.read("nobody") == stats()


async def test_nothing_is_lost_when_many_workers_add_at_once(store: PairStore) -> None:
    await asyncio.gather(*(add(store, seen=4, served=3, verified=2, wrong=1) for _ in range(40)))

    assert await store.read("acme") == stats(160, 120, 80, 40)


async def test_another_tenant_and_another_generation_know_nothing_of_it(
    store: PairStore, database: Database
) -> None:
    await add(store, seen=1)

    assert await store.read("beta") == stats()
    assert await PairStore(database, NEXT_INDEX_NAME, LIMIT).read("acme") == stats()


@pytest.mark.parametrize("wrong", [0, 1, 2, 3])
async def test_verified_and_wrong_are_halved_when_the_evidence_is_great(
    store: PairStore, wrong: int
) -> None:
    await add(store, seen=10, served=5, verified=2_399, wrong=wrong)
    before = await store.read("acme")

    await add(store, seen=1, verified=1)

    assert before == stats(10, 5, 2_399, wrong)
    after = await store.read("acme")
    assert after == stats(11, 5, 1_200, (wrong + 1) // 2)


async def test_with_a_limit_of_its_own_a_tenants_counts_are_halved_by_that(
    store: PairStore,
) -> None:
    await store.set_error_max("acme", 0.1)
    await add(store, verified=239)

    await add(store, verified=1, wrong=1)

    assert await store.read("acme") == stats(0, 0, 120, 1, error_max=0.1)


async def test_a_tenant_that_is_gone_gets_no_counts(store: PairStore, tenants: TenantStore) -> None:
    await add(store, "nobody", seen=1)

    assert await store.read("nobody") == stats()
    await tenants.create("nobody", "Nobody")
    assert await store.read("nobody") == stats()


async def test_a_limit_is_set_and_taken_away(store: PairStore) -> None:
    assert await store.set_error_max("acme", 0.05)
    assert await store.read("acme") == stats(error_max=0.05)

    assert await store.set_error_max("acme", None)
    assert await store.read("acme") == stats()
    assert not await store.set_error_max("nobody", 0.05)


@pytest.mark.parametrize("limit", [0.0, 0.21, -1.0])
async def test_the_database_takes_no_limit_that_means_nothing(
    store: PairStore, limit: float
) -> None:
    with pytest.raises(asyncpg.CheckViolationError):
        await store.set_error_max("acme", limit)
