from collections.abc import AsyncIterator

import pytest

from tests.cache.conftest import truth
from tests.gateway.extensions.redis_cluster.own_cluster import OwnCluster, own_cluster

__all__ = ["truth"]  # fixtures


@pytest.fixture
def no_blocking_calls() -> None:
    """The driver of Redis reads its own version as a test's own clients connect."""


@pytest.fixture(scope="session")
async def cluster() -> AsyncIterator[OwnCluster]:
    """With a password; its nodes live as long as the tests."""
    async with own_cluster(password="hush/hush") as running:
        yield running
