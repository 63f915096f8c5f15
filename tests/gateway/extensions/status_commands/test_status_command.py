"""`nearhit status` and `nearhit usage`, as the operator sees all tenants by them."""

import asyncio
from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest
from redis.crc import REDIS_CLUSTER_HASH_SLOTS

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.conftest import run_sql
from tests.gateway.extensions.redis_cluster.own_cluster import own_cluster
from tests.gateway.support.commands import environment_of, refused, succeeds
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.support.workers import worker_services
from tests.gateway.writes.test_queued_writes import put_later

pytestmark = [pytest.mark.anyio, pytest.mark.blocking, pytest.mark.isolated, pytest.mark.slow]


@pytest.mark.thorough
async def test_what_waits_is_shown_by_tenant_and_source(
    settings: Settings, gateway: Gateway, ana: Caller
) -> None:
    await gateway.tenant("beta")
    other = await gateway.caller("ben", tenant="beta")
    await put_later(ana, "one", source="handbook")
    await put_later(other, "two", source="wiki")

    everybody = await succeeds(environment_of(settings), "status")
    own = await succeeds(environment_of(settings), "status", "--tenant", "acme")
    unknown = await refused(environment_of(settings), "status", "--tenant", "nobody")

    assert all(name in everybody for name in ("acme", "handbook", "beta", "wiki"))
    assert "handbook" in own
    assert "wiki" not in own
    assert "there is no tenant nobody" in unknown


@pytest.mark.thorough
async def test_a_changed_collation_is_told_with_what_to_run(
    settings: Settings, database_url: str, gateway: Gateway
) -> None:
    assert "collation" not in await succeeds(environment_of(settings), "status")
    name = urlsplit(database_url).path[1:]
    await run_sql(
        database_url,
        "UPDATE pg_database SET datcollversion = '0.1' WHERE datname = current_database()",
    )

    shown = await succeeds(environment_of(settings), "status")

    assert f"REINDEX DATABASE {name}; ALTER DATABASE {name} REFRESH COLLATION VERSION;" in shown


@pytest.mark.thorough
async def test_gateways_with_a_read_lease_are_shown_by_region(
    settings: Settings, embedder: Embedder, gateway: Gateway
) -> None:
    assert "region" not in await succeeds(environment_of(settings), "status")

    async with running(settings.model_copy(update={"region": "far-away"}), embedder):
        async with asyncio.timeout(30):
            while "far-away" not in (shown := await succeeds(environment_of(settings), "status")):
                pass

    (row,) = (line for line in shown.splitlines() if "far-away" in line)
    assert [cell.strip() for cell in row.strip("│").split("│")] == ["far-away", "1"]


@pytest.mark.thorough
async def test_the_nodes_of_a_redis_cluster_are_shown_with_their_slots(
    settings: Settings, gateway: Gateway
) -> None:
    (single,) = redis_rows(await succeeds(environment_of(settings), "status"))
    assert single[:2] == ["Redis", ""]
    assert single[2].endswith("MB")

    async with own_cluster(password="hush") as cluster:
        environment = environment_of(settings) | {"NEARHIT_REDIS_URL": cluster.url}
        await cluster.masters[2].kill()
        shown = await succeeds(environment, "status")

    rows = {name: cells for name, *cells in redis_rows(shown)}
    names = [f"Redis 127.0.0.1:{node.port}" for node in cluster.masters]
    assert sum(int(rows[name][0].replace(",", "")) for name in names) == REDIS_CLUSTER_HASH_SLOTS
    assert [rows[name][2] for name in names[:2]] == ["noeviction", "noeviction"]
    assert "did not answer" in rows[names[2]][2]
    assert "hush" not in shown


def redis_rows(shown: str) -> list[list[str]]:
    return [cells(line) for line in shown.splitlines() if line.startswith("│ Redis")]


@pytest.mark.thorough
async def test_what_was_used_is_shown_by_day(
    settings: Settings, embedder: Embedder, gateway: Gateway
) -> None:
    async with worker_services(settings, embedder) as services:
        services.usage_meter.chunks("acme", "handbook", 7, 3)
    today = str(datetime.now(UTC).date())

    month = await succeeds(environment_of(settings), "usage")
    long_ago = await succeeds(
        environment_of(settings), *("usage", "--from", "2020-01-01", "--to", "2020-12-31")
    )

    row, _ = (line for line in month.splitlines() if "acme" in line)
    assert cells(row) == [today, "acme", "ingest", "0", "0.000000", "7", "3"]
    assert "no usage\n" in long_ago


@pytest.mark.thorough
async def test_what_a_tenant_stores_is_shown_beside_its_quotas(
    settings: Settings, gateway: Gateway, ana: Caller
) -> None:
    await ana.put("one", "Thirty days of leave.")
    await gateway.operator.call("PUT", "/v1/tenants/acme/quotas", json={"documents": 5})

    shown = await succeeds(
        {**environment_of(settings), "NEARHIT_TENANT_QUOTAS": "bytes=4000"}, "usage"
    )

    (row,) = (line for line in shown.splitlines() if "acme" in line and " of " in line)
    assert cells(row) == ["acme", "1 of 5", "1", "21 of 4,000", "1"]


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("│").split("│")]
