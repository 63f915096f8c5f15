"""Counts of answers to similar questions at rest: added at once by many, kept apart, and faded."""

import asyncio

import asyncpg
import pytest

from index.postgres.database import Database
from index.tenants.semantic_counts import SemanticCounts, SemanticCountStore
from index.tenants.tenant_store import TenantStore

pytestmark = pytest.mark.anyio

GENERATION, NEXT_GENERATION = "1/static/bm25-2", "1/static/bm25-3"
LIMIT, EVIDENCE_MAX = 0.01, 20  # so that counts halve at 2,000


@pytest.fixture
def store(database: Database, tenants: TenantStore) -> SemanticCountStore:
    return SemanticCountStore(database)


async def add(store: SemanticCountStore, tenant: str = "acme", **counts: int) -> None:
    await store.add(tenant, GENERATION, **counts, error_max=LIMIT, evidence_max=EVIDENCE_MAX)


async def test_a_tenant_starts_with_no_counts_and_no_limit_of_its_own(
    store: SemanticCountStore,
) -> None:
    assert await store.read("acme", GENERATION) == SemanticCounts(None)
    assert await store.read("nobody", GENERATION) is None


async def test_nothing_is_lost_when_many_workers_add_at_once(store: SemanticCountStore) -> None:
    await asyncio.gather(*(add(store, seen=4, served=3, verified=2, wrong=1) for _ in range(40)))

    assert await store.read("acme", GENERATION) == SemanticCounts(None, 160, 120, 80, 40)


async def test_another_tenant_and_another_generation_know_nothing_of_it(
    store: SemanticCountStore,
) -> None:
    await add(store, seen=1)

    assert await store.read("beta", GENERATION) == SemanticCounts(None)
    assert await store.read("acme", NEXT_GENERATION) == SemanticCounts(None)


@pytest.mark.parametrize("wrong", [0, 1, 2, 3])
async def test_verified_and_wrong_are_halved_when_the_evidence_is_great(
    store: SemanticCountStore, wrong: int
) -> None:
    await add(store, seen=10, served=5, verified=1_999, wrong=wrong)
    before = await store.read("acme", GENERATION)

    await add(store, seen=1, verified=1)

    assert before == SemanticCounts(None, 10, 5, 1_999, wrong)
    after = await store.read("acme", GENERATION)
    assert after == SemanticCounts(None, 11, 5, 1_000, (wrong + 1) // 2)


async def test_with_a_limit_of_its_own_a_tenants_counts_are_halved_by_that(
    store: SemanticCountStore,
) -> None:
    await store.set_error_max("acme", 0.1)
    await add(store, verified=199)

    await add(store, verified=1, wrong=1)

    assert await store.read("acme", GENERATION) == SemanticCounts(0.1, 0, 0, 100, 1)


async def test_a_tenant_that_is_gone_gets_no_counts(store: SemanticCountStore) -> None:
    await add(store, "nobody", seen=1)

    assert await store.read("nobody", GENERATION) is None


async def test_a_limit_is_set_and_taken_away(store: SemanticCountStore) -> None:
    assert await store.set_error_max("acme", 0.05)
    assert await store.read("acme", GENERATION) == SemanticCounts(0.05)

    assert await store.set_error_max("acme", None)
    assert await store.read("acme", GENERATION) == SemanticCounts(None)
    assert not await store.set_error_max("nobody", 0.05)


@pytest.mark.parametrize("limit", [0.0, 0.21, -1.0])
async def test_the_database_takes_no_limit_that_means_nothing(
    store: SemanticCountStore, limit: float
) -> None:
    with pytest.raises(asyncpg.CheckViolationError):
        await store.set_error_max("acme", limit)
