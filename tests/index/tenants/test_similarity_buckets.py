"""Counts of buckets at rest: added at once by many, kept apart, and faded."""

import asyncio

import asyncpg
import pytest

from cache.semantic.similarity_buckets import VERIFIED_MAX
from index.postgres.database import Database
from index.tenants.semantic_bucket_store import (
    BucketSettings,
    SemanticBucketStore,
    StoredBucketCounts,
)
from index.tenants.tenant_store import TenantStore

pytestmark = pytest.mark.anyio

GENERATION, NEXT_GENERATION = "1/static/bm25-2", "1/static/bm25-3"


@pytest.fixture
def buckets(database: Database, tenants: TenantStore) -> SemanticBucketStore:
    return SemanticBucketStore(database)


async def add(buckets: SemanticBucketStore, tenant: str = "acme", **counts: int) -> None:
    await buckets.add(
        tenant, GENERATION, {2: StoredBucketCounts(**counts)}, verified_max=VERIFIED_MAX
    )


async def test_a_tenant_starts_with_no_counts_and_no_limit_of_its_own(
    buckets: SemanticBucketStore,
) -> None:
    assert await buckets.read("acme", GENERATION) == BucketSettings(None, {})
    assert await buckets.read("nobody", GENERATION) is None


async def test_counts_add_up_bucket_by_bucket(buckets: SemanticBucketStore) -> None:
    await buckets.add(
        "acme",
        GENERATION,
        {0: StoredBucketCounts(1), 2: StoredBucketCounts(5, 4, 3, 2)},
        verified_max=9,
    )
    await buckets.add("acme", GENERATION, {2: StoredBucketCounts(10, 20, 1, 0)}, verified_max=9)

    found = await buckets.read("acme", GENERATION)

    assert found is not None
    assert found.buckets == {0: StoredBucketCounts(1), 2: StoredBucketCounts(15, 24, 4, 2)}


async def test_nothing_is_lost_when_many_workers_add_at_once(buckets: SemanticBucketStore) -> None:
    both = {bucket: StoredBucketCounts(seen=1, verified=1) for bucket in (0, 1)}
    back = dict(reversed(both.items()))

    await asyncio.gather(
        *(buckets.add("acme", GENERATION, each, verified_max=1_000) for each in [both, back] * 20)
    )

    found = await buckets.read("acme", GENERATION)
    assert found is not None
    assert found.buckets == {bucket: StoredBucketCounts(seen=40, verified=40) for bucket in (0, 1)}


async def test_another_tenant_and_another_generation_know_nothing_of_it(
    buckets: SemanticBucketStore,
) -> None:
    await add(buckets, seen=1)

    assert await buckets.read("beta", GENERATION) == BucketSettings(None, {})
    assert await buckets.read("acme", NEXT_GENERATION) == BucketSettings(None, {})


@pytest.mark.parametrize("wrong", [0, 1, 2, 3])
async def test_counts_are_halved_when_the_limit_is_reached(
    buckets: SemanticBucketStore, wrong: int
) -> None:
    await add(buckets, seen=10, served=5, verified=VERIFIED_MAX - 1, wrong=wrong)
    before = await buckets.read("acme", GENERATION)

    await add(buckets, seen=1, verified=1)

    after = await buckets.read("acme", GENERATION)
    assert before is not None
    assert after is not None
    assert before.buckets[2] == StoredBucketCounts(10, 5, VERIFIED_MAX - 1, wrong)
    assert after.buckets[2] == StoredBucketCounts(11, 5, VERIFIED_MAX // 2, (wrong + 1) // 2)


async def test_a_tenant_that_is_gone_gets_no_counts(buckets: SemanticBucketStore) -> None:
    await add(buckets, "nobody", seen=1)

    assert await buckets.read("nobody", GENERATION) is None


async def test_a_limit_is_set_and_taken_away(buckets: SemanticBucketStore) -> None:
    assert await buckets.set_error_max("acme", 0.05)
    assert await buckets.read("acme", GENERATION) == BucketSettings(0.05, {})

    assert await buckets.set_error_max("acme", None)
    assert await buckets.read("acme", GENERATION) == BucketSettings(None, {})
    assert not await buckets.set_error_max("nobody", 0.05)


@pytest.mark.parametrize("limit", [0.0, 0.21, -1.0])
async def test_the_database_takes_no_limit_that_means_nothing(
    buckets: SemanticBucketStore, limit: float
) -> None:
    with pytest.raises(asyncpg.CheckViolationError):
        await buckets.set_error_max("acme", limit)
