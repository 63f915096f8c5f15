"""Calls reach the node that has the key, while slots move and nodes are away."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from cache.errors import CacheUnavailable
from cache.rate_limit import RateLimit
from cache.redis.store import RedisStore
from tests.cache.support.own_server import server, until
from tests.cache.support.single_store import store_on
from tests.gateway.extensions.redis_cluster.own_cluster import (
    ClusterNode,
    OwnCluster,
    cluster_store,
    own_cluster,
    slot_of,
)

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture
async def store(cluster: OwnCluster) -> AsyncIterator[RedisStore]:
    async with cluster_store(cluster.url) as opened:
        yield opened


async def names_on(node: ClusterNode, tenant: str) -> set[str]:
    names = await node.tell("KEYS", f"*{{{tenant}}}:*")
    return {name.decode().rpartition(":")[2] for name in names}


@pytest.mark.thorough
async def test_each_tenants_keys_are_on_the_node_that_owns_its_slot(
    cluster: OwnCluster, store: RedisStore
) -> None:
    for number, node in enumerate(cluster.masters):
        tenant = cluster.tenant_of(number, "own")
        await store.set(tenant, "a", b"1")

        assert await store.get(tenant, "a") == b"1"
        assert await names_on(node, tenant) == {"a"}


async def test_a_moved_slot_is_followed_and_its_keys_are_found(
    cluster: OwnCluster, store: RedisStore
) -> None:
    source, target, _ = cluster.masters
    tenant = cluster.tenant_of(0, "moved")
    await store.set(tenant, "a", b"1")

    await cluster.move_slot(slot_of(tenant), source, target)

    assert await store.get(tenant, "a") == b"1"
    await store.set(tenant, "b", b"2")
    assert await names_on(target, tenant) == {"a", "b"}


async def test_a_key_of_a_slot_that_is_being_moved_is_found_on_either_node(
    cluster: OwnCluster, store: RedisStore
) -> None:
    source, target, _ = cluster.masters
    tenant, rate = cluster.tenant_of(0, "ask"), RateLimit(0.001, 10)
    await store.set(tenant, "stays", b"1")
    await store.take_tokens(tenant, "bucket", rate, 7)
    await cluster.open_slot(slot_of(tenant), source, target)
    await cluster.move_keys(source, target, store.name(tenant, "bucket").encode())

    await store.set(tenant, "new", b"2")
    taken = await store.take_tokens(tenant, "bucket", rate, 7)

    assert [await store.get(tenant, name) for name in ("stays", "new")] == [b"1", b"2"]
    assert taken.tokens == 3
    assert await names_on(source, tenant) == {"stays"}
    assert await names_on(target, tenant) == {"bucket", "new"}
    await cluster.give_up_move(slot_of(tenant), source, target)


async def test_a_tenant_is_dropped_from_both_nodes_while_its_slot_is_being_moved(
    cluster: OwnCluster, store: RedisStore
) -> None:
    source, target, _ = cluster.masters
    tenant = cluster.tenant_of(0, "drop")
    for name in ("a", "b", "c"):
        await store.set(tenant, name, b"1")
    await cluster.open_slot(slot_of(tenant), source, target)
    await cluster.move_keys(source, target, store.name(tenant, "b").encode())

    assert await store.drop_tenant(tenant) == 3

    assert not await names_on(source, tenant) | await names_on(target, tenant)
    await cluster.give_up_move(slot_of(tenant), source, target)


async def test_a_script_over_keys_on_two_nodes_leaves_the_node_to_other_tenants(
    cluster: OwnCluster, store: RedisStore
) -> None:
    source, target, _ = cluster.masters
    tenant, other = cluster.tenant_of(0, "torn"), cluster.tenant_of(0, "whole")
    await cluster.open_slot(slot_of(tenant), source, target)

    with pytest.raises(CacheUnavailable, match="being moved"):
        await store.lookup(tenant, "a1", "key", lock_token="me")

    assert (await store.lookup(other, "a1", "key")).entry is None
    await cluster.give_up_move(slot_of(tenant), source, target)


@pytest.mark.parametrize("credentials", ["", ":wrong-hush@", "nobody:wrong-hush@"])
async def test_a_wrong_password_is_told_nowhere(cluster: OwnCluster, credentials: str) -> None:
    url = cluster.url.replace(":hush%2Fhush@", credentials)

    async with cluster_store(url) as store:
        with pytest.raises(CacheUnavailable) as refusal:
            await store.get("acme", "a")
        statuses = await store.node_statuses()

    assert "hush" not in repr(refusal.value)
    assert all(status.failure for status in statuses)
    assert "hush" not in repr(statuses)


async def test_a_server_that_is_no_cluster_is_named_in_the_reason() -> None:
    async with server() as single:
        port = single.connection_pool.connection_kwargs["port"]
        async with cluster_store(f"redis+cluster://127.0.0.1:{port}") as store:
            with pytest.raises(CacheUnavailable, match="cluster support disabled"):
                await store.get("acme", "a")


async def test_a_url_of_one_server_that_is_a_clusters_node_is_named_in_the_reason(
    cluster: OwnCluster,
) -> None:
    node = cluster.masters[0]
    async with Redis(port=node.port, password=cluster.password) as client:
        with pytest.raises(CacheUnavailable, match="node of a cluster"):
            await store_on(client).get(cluster.tenant_of(2), "a")


@pytest.mark.thorough
async def test_a_lost_shard_takes_only_its_own_tenants() -> None:
    async with own_cluster() as cluster, cluster_store(cluster.url, budget_s=0.5) as store:
        tenants = [cluster.tenant_of(number) for number in range(3)]
        for tenant in tenants:
            await store.set(tenant, "a", b"1")
        await cluster.masters[2].kill()
        port = cluster.masters[2].port

        with pytest.raises(CacheUnavailable, match=f":{port} did not answer"):
            await store.get(tenants[2], "a")
        with pytest.raises(CacheUnavailable, match=f":{port} is skipped"):
            await store.get(tenants[2], "a")
        cluster.masters[1].hang()
        asked = [store.get(tenants[1], "a") for _ in range(50)]
        outcomes = await asyncio.gather(*asked, return_exceptions=True)
        assert all(isinstance(outcome, CacheUnavailable) for outcome in outcomes)
        with pytest.raises(CacheUnavailable, match="is skipped"):
            await store.get(tenants[1], "a")

        for _ in range(20):
            assert await store.get(tenants[0], "a") == b"1"
            with pytest.raises(CacheUnavailable):
                await store.get(tenants[2], "a")
        failures = {status.node for status in await store.node_statuses() if status.failure}
        assert failures == {f"Redis 127.0.0.1:{node.port}" for node in cluster.masters[1:]}
        cluster.masters[1].go_on()
        await until(lambda: is_back(store, tenants[1]))


async def is_back(store: RedisStore, tenant: str) -> bool:
    try:
        return await store.get(tenant, "a") == b"1"
    except CacheUnavailable:
        return False
