"""What the URL of a cluster may be, and what is refused by the name of its extension."""

import pytest
from pydantic import SecretStr

from cache.redis import redis_url
from common.circuit_breaker import REDIS, CircuitBreaker
from common.command_errors import CommandError
from gateway.caching.redis_cache import open_redis
from gateway.extensions.redis_cluster.redis_nodes import parse_cluster_url
from gateway.settings.settings import Settings
from tests.gateway.extensions.redis_cluster.own_cluster import KINDS


def node_urls(url: str) -> list[str]:
    cluster = parse_cluster_url(url)
    return [cluster.node_url(seed) for seed in cluster.seeds]


def test_a_url_names_some_nodes_of_a_cluster_with_the_default_port() -> None:
    assert node_urls("redis+cluster://one:7000,two") == ["redis://one:7000", "redis://two:6379"]


def test_every_node_takes_the_credentials_the_options_and_tls() -> None:
    url = "rediss+cluster://me:a%2Fb@one:1,[::1]:2/?ssl_ca_certs=ca.pem"

    assert node_urls(url) == [
        "rediss://me:a%2Fb@one:1?ssl_ca_certs=ca.pem",
        "rediss://me:a%2Fb@[::1]:2?ssl_ca_certs=ca.pem",
    ]


@pytest.mark.parametrize("end", ["/0", "/3", "?db=1", "/?db=0"])
def test_a_cluster_has_no_numbered_databases(end: str) -> None:
    with pytest.raises(ValueError, match="no numbered databases"):
        parse_cluster_url(f"redis+cluster://one:7000{end}")


@pytest.mark.parametrize(
    "url",
    [
        "redis+cluster://",
        "redis+cluster://:hush@",
        "redis+cluster://me:hush@one,me:hush@two",
        "redis+cluster://me:hush@one:7000,,two",
        "redis+cluster://me:hush@one:port",
        "redis+cluster://me:hush@one:70000",
        "redis+cluster://me:hush@[one",
        "redis+cluster://me:hu/sh@one:7000",
        "redis+cluster://me:hush@one?socket_timeout=hush",
    ],
)
@pytest.mark.anyio
async def test_another_form_is_refused_without_repeating_the_url(url: str) -> None:
    opening = redis_url.open_nodes(url, KINDS, lambda: CircuitBreaker(float, REDIS), budget_s=1.0)

    with pytest.raises(ValueError) as refusal:  # noqa: PT011  its text is what is tested
        await opening.__aenter__()

    assert "hu" not in str(refusal.value)
    assert refusal.value.__suppress_context__ or refusal.value.__context__ is None


@pytest.mark.anyio
async def test_once_it_is_off_the_url_of_a_cluster_is_refused_by_its_name() -> None:
    url = SecretStr("redis+cluster://me:hush@one")
    off = Settings(redis_url=url, database_url=None, extensions_off="redis_cluster")

    with pytest.raises(CommandError) as refusal:
        await open_redis(off).__aenter__()

    assert str(refusal.value) == (
        "NEARHIT_REDIS_URL: its scheme is read by the extension redis_cluster, which is off"
    )


@pytest.mark.anyio
async def test_what_no_extension_reads_is_refused_with_all_that_is_read() -> None:
    other = Settings(redis_url=SecretStr("hush://one"), database_url=None)

    with pytest.raises(CommandError) as refusal:
        await open_redis(other).__aenter__()

    assert str(refusal.value) == (
        "NEARHIT_REDIS_URL: it must start with one of redis://, rediss://, unix://, "
        "redis+cluster://, rediss+cluster://"
    )
