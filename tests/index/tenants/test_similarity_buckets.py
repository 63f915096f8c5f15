"""Counts of bands at rest: added at once by many, kept apart, and faded."""

import asyncio

import asyncpg
import pytest

from cache.semantic.similarity_buckets import VERIFIED_MAX
from index.postgres.database import Database
from index.tenants.semantic_bucket_store import BandCounts, BucketSettings, SemanticBucketStore
from index.tenants.tenant_store import TenantStore

pytestmark = pytest.mark.anyio

GENERATION, NEXT_GENERATION = "1/static/bm25-2", "1/static/bm25-3"


@pytest.fixture
def bands(database: Database, tenants: TenantStore) -> SemanticBucketStore:
    return SemanticBucketStore(database)


async def add(bands: SemanticBucketStore, tenant: str = "acme", **counts: int) -> None:
    await bands.add(tenant, GENERATION, {2: BandCounts(**counts)}, verified_max=VERIFIED_MAX)


async def test_a_tenant_starts_with_no_counts_and_no_limit_of_its_own(
    bands: SemanticBucketStore,
) -> None:
    assert await bands.read("acme", GENERATION) == BucketSettings(None, {})
    assert await bands.read("nobody", GENERATION) is None


async def test_counts_add_up_band_by_band(bands: SemanticBucketStore) -> None:
    await bands.add(
        "acme", GENERATION, {0: BandCounts(1), 2: BandCounts(5, 4, 3, 2)}, verified_max=9
    )
    await bands.add("acme", GENERATION, {2: BandCounts(10, 20, 1, 0)}, verified_max=9)

    found = await bands.read("acme", GENERATION)

    assert found is not None
    assert found.bands == {0: BandCounts(1), 2: BandCounts(15, 24, 4, 2)}


async def test_nothing_is_lost_when_many_workers_add_at_once(bands: SemanticBucketStore) -> None:
    both = {band: BandCounts(seen=1, verified=1) for band in (0, 1)}
    back = dict(reversed(both.items()))

    await asyncio.gather(
        *(bands.add("acme", GENERATION, each, verified_max=1_000) for each in [both, back] * 20)
    )

    found = await bands.read("acme", GENERATION)
    assert found is not None
    assert found.bands == {band: BandCounts(seen=40, verified=40) for band in (0, 1)}


async def test_another_tenant_and_another_generation_know_nothing_of_it(
    bands: SemanticBucketStore,
) -> None:
    await add(bands, seen=1)

    assert await bands.read("beta", GENERATION) == BucketSettings(None, {})
    assert await bands.read("acme", NEXT_GENERATION) == BucketSettings(None, {})


@pytest.mark.parametrize("wrong", [0, 1, 2, 3])
async def test_counts_are_halved_when_the_limit_is_reached(
    bands: SemanticBucketStore, wrong: int
) -> None:
    await add(bands, seen=10, served=5, verified=VERIFIED_MAX - 1, wrong=wrong)
    before = await bands.read("acme", GENERATION)

    await add(bands, seen=1, verified=1)

    after = await bands.read("acme", GENERATION)
    assert before is not None
    assert after is not None
    assert before.bands[2] == BandCounts(10, 5, VERIFIED_MAX - 1, wrong)
    assert after.bands[2] == BandCounts(11, 5, VERIFIED_MAX // 2, (wrong + 1) // 2)


async def test_a_tenant_that_is_gone_gets_no_counts(bands: SemanticBucketStore) -> None:
    await add(bands, "nobody", seen=1)

    assert await bands.read("nobody", GENERATION) is None


async def test_a_limit_is_set_and_taken_away(bands: SemanticBucketStore) -> None:
    assert await bands.set_error_max("acme", 0.05)
    assert await bands.read("acme", GENERATION) == BucketSettings(0.05, {})

    assert await bands.set_error_max("acme", None)
    assert await bands.read("acme", GENERATION) == BucketSettings(None, {})
    assert not await bands.set_error_max("nobody", 0.05)


@pytest.mark.parametrize("limit", [0.0, 0.21, -1.0])
async def test_the_database_takes_no_limit_that_means_nothing(
    bands: SemanticBucketStore, limit: float
) -> None:
    with pytest.raises(asyncpg.CheckViolationError):
        await bands.set_error_max("acme", limit)
